import type { ExplorerConfig } from "@keyroot/operator/explorer";

const KEY = "keyroot-endpoints";

/** The configuration in the page. */
export const config = JSON.parse(document.getElementById("config")?.textContent ?? "") as ExplorerConfig;

/**
 * The endpoints that this visitor has added. They may contain secrets, so they are kept for this tab only, and never in a
 * link.
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

/** Keeps the visitor's endpoints. The page must be loaded again, so that its policy allows them. */
export function saveVisitorEndpoints(urls: readonly string[]): void {
  sessionStorage.setItem(KEY, JSON.stringify(urls));
}

/** Whether a text is the URL of an endpoint that the page may use. */
export function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  const isLocal = hostname === "localhost" || hostname === "127.0.0.1";
  return (protocol === "https:" || (protocol === "http:" && isLocal)) && username === "" && password === "";
}

/** All endpoints that the visitor can choose. */
export function endpoints(): string[] {
  return [...config.rpc, ...visitorEndpoints()];
}

/**
 * If visitors can add endpoints, the page's policy allows any host with https. This adds a policy that allows only the
 * named ones. Both hold, so nothing else can be requested (W3C, Content Security Policy Level 3, section 8.1).
 */
export function narrowPolicy(): void {
  if (config.visitorEndpoints !== true) return;
  const attacks = config.attacks?.flatMap(({ rpc, merkleUrl }) => [rpc, merkleUrl]) ?? [];
  const origins = [...endpoints(), config.merkleUrl, ...attacks].map((url) => new URL(url).origin);
  const meta = document.createElement("meta");
  meta.httpEquiv = "Content-Security-Policy";
  meta.content = `connect-src 'self' ${[...new Set(origins)].join(" ")}`;
  document.head.append(meta);
}

/** The host in a URL, as people recognize it. */
export function hostOf(url: string): string {
  return new URL(url).host;
}
