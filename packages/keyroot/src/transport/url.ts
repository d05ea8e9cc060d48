import { ArgumentError } from "../errors.ts";

/**
 * Returns `url` if it is an http(s) URL. The error does not contain the URL, because URLs of endpoints contain secrets.
 * @throws ArgumentError ARGUMENT_INVALID; also for a URL with user and password, which fetch rejects
 */
export function checkUrl(option: string, url: unknown): string {
  if (typeof url === "string" && URL.canParse(url)) {
    const { protocol, username, password } = new URL(url);
    if (/^https?:$/.test(protocol) && username === "" && password === "") return url;
  }
  const message = `The option ${option} must be an http(s) URL without user and password.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}
