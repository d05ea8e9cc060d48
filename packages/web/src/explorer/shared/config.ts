import type { ExplorerConfig } from "@keyroot/operator/explorer";

const KEY = "keyroot-endpoints";

/** The configuration in the page's JSON element. */
export const config = JSON.parse(document.getElementById("config")?.textContent ?? "") as ExplorerConfig;

/**
 * Returns the endpoints that this visitor added. Their URLs may contain secrets, so they are stored only for this tab,
 * and never in a link.
 */
export function visitorEndpoints(): string[] {
  if (config.visitorEndpoints !== true) return [];
  try {
    const stored = JSON.parse(sessionStorage.getItem(KEY) ?? "[]") as unknown[];
    return stored.filter((url) => typeof url === "string").filter(isEndpoint);
  } catch {
    return [];
  }
}

/** Stores the visitor's endpoints. After a reload, the page's policy allows requests to these endpoints. */
export function saveVisitorEndpoints(urls: readonly string[]): void {
  sessionStorage.setItem(KEY, JSON.stringify(urls));
}

/** Whether a text is an https URL, or an http URL of this machine, without credentials. */
export function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  const isLocal = hostname === "localhost" || hostname === "127.0.0.1";
  return (protocol === "https:" || (protocol === "http:" && isLocal)) && username === "" && password === "";
}

export function endpoints(): string[] {
  return [...config.rpc, ...visitorEndpoints()];
}

export function hostOf(url: string): string {
  return new URL(url).host;
}
