import type { ExplorerConfig } from "./config.ts";

/** Hosts of endpoints that visitors add: any with encryption, or on the visitor's own machine. */
const ANY_ENDPOINT = ["https:", "http://localhost:*", "http://127.0.0.1:*"];

/**
 * The content security policy of an explorer (W3C, Content Security Policy Level 3): one script, pinned by its hash; one
 * worker that this script starts from a blob, which inherits the policy; and requests only to the named servers.
 * @param scripts hashes as in the attribute `integrity`
 */
export function contentSecurityPolicy(config: ExplorerConfig, scripts: readonly string[]): string {
  const { rpc, merkleUrl, beacon, auditors, attacks = [], visitorEndpoints = false } = config;
  const endpoints = [...rpc, ...attacks.map(({ rpc }) => rpc)].map(sourceOf);
  const folders = [merkleUrl, ...attacks.map(({ merkleUrl }) => merkleUrl)];
  const hosts = [...folders, ...(beacon?.urls ?? []), ...(auditors?.urls ?? [])].map((url) => `${sourceOf(url)}/`);
  const connect = new Set(["'self'", ...endpoints, ...hosts, ...(visitorEndpoints ? ANY_ENDPOINT : [])]);
  return [
    "default-src 'none'",
    `script-src ${scripts.map((hash) => `'${hash}'`).join(" ")}`,
    "style-src 'self'",
    "img-src 'self'",
    `connect-src ${[...connect].join(" ")}`,
    "worker-src blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types keyroot",
  ].join("; ");
}

/** A URL as a source expression. It has no query, because a policy cannot contain one. */
function sourceOf(url: string): string {
  const { origin, pathname } = new URL(url);
  const escaped = pathname.replace(/[;,']/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  return origin + escaped.replace(/\/+$/, "");
}
