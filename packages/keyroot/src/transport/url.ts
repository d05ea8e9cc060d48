import { ArgumentError } from "../errors.ts";
import { isLoopback } from "./host.ts";

/**
 * Returns `url` if it is an http(s) URL. Errors contain at most its host, because URLs of endpoints contain secrets.
 * @param remedy if given, plain http to other machines is refused, because anyone on the way could read and change what it
 * transfers; the message ends with it
 * @throws ArgumentError ARGUMENT_INVALID; also for a URL with user and password, which fetch rejects
 */
export function checkUrl(option: string, url: unknown, remedy?: string): string {
  let expected = "an http(s) URL without user and password.";
  if (typeof url === "string" && URL.canParse(url)) {
    const { protocol, username, password, hostname } = new URL(url);
    if (/^https?:$/.test(protocol) && username + password === "") {
      if (remedy === undefined || protocol === "https:" || isLoopback(hostname)) return url;
      expected = `an https URL, because ${hostname} is not this machine. ${remedy}`;
    }
  }
  throw new ArgumentError("ARGUMENT_INVALID", `The option ${option} must be ${expected}`);
}

/**
 * Checks the URL of an endpoint or a file host.
 * @param allowHttp whether plain http to other machines is allowed
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function checkSourceUrl(option: string, url: unknown, allowHttp: boolean | undefined): string {
  return checkUrl(
    option,
    url,
    allowHttp ? undefined : "To allow http, set allowHttp: true (--allow-http or KEYROOT_ALLOW_HTTP=true).",
  );
}
