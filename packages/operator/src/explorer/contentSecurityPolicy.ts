import type { ExplorerConfig } from "./config.ts";

/** The hosts of endpoints that visitors may add: any https host, or the visitor's own machine. */
const ANY_ENDPOINT = ["https:", "http://localhost:*", "http://127.0.0.1:*"];

/**
 * Returns the content security policy of an explorer (W3C, Content Security Policy Level 3). It allows only the page's
 * own scripts, by their hashes, and requests only to the configured servers. A script starts a worker from a blob, and
 * the worker inherits the policy.
 * @param scripts hashes in the format of the attribute `integrity`
 */
export function contentSecurityPolicy(config: ExplorerConfig, scripts: readonly string[]): string {
  const { rpc, merkleUrl, lightClient, auditors, attacks, visitorEndpoints = false } = config;
  const folders = [
    merkleUrl,
    ...(lightClient?.urls ?? []),
    ...(auditors?.urls ?? []),
    ...(attacks ? [attacks.url] : []),
  ];
  const hosts = folders.map((url) => `${sourceOf(url)}/`);
  const connect = new Set(["'self'", ...rpc.map(sourceOf), ...hosts, ...(visitorEndpoints ? ANY_ENDPOINT : [])]);
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

/** Converts a URL to a source expression of a policy. Its query is removed, because a policy cannot contain one. */
function sourceOf(url: string): string {
  const { origin, pathname } = new URL(url);
  const escaped = pathname.replace(/[;,']/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  return origin + escaped.replace(/\/+$/, "");
}
