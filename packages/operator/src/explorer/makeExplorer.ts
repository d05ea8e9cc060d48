import { readSite, scriptsOf } from "./readSite.ts";
import type { ExplorerConfig } from "./config.ts";

/** The files of an explorer, whose paths contain `/` on every system. */
export interface ExplorerFiles {
  files: ReadonlyMap<string, Uint8Array>;
  /** The content security policy in `index.html`. A server should also send the policy as a header. */
  policy: string;
}

/**
 * Creates the files of an explorer: the built files, and a page that contains the configuration and the policy.
 * @throws TransportError FILE_UNREADABLE
 */
export async function makeExplorer(config: ExplorerConfig): Promise<ExplorerFiles> {
  const files = await readSite(new URL("../../site", import.meta.url), "explorer");
  const page = new TextDecoder().decode(files.get("index.html"));
  const policy = contentSecurityPolicy(config, scriptsOf(page));
  const filled = page
    .replace("<!--policy-->", () => `<meta http-equiv="Content-Security-Policy" content="${escapeAttribute(policy)}">`)
    .replace("<!--config-->", () => `<script type="application/json" id="config">${escapeScript(config)}</script>`);
  files.set("index.html", new TextEncoder().encode(filled));
  return { files, policy };
}

function escapeAttribute(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}

/** Returns JSON that cannot end the script element. */
function escapeScript(value: object): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}

/** The hosts of endpoints that visitors may add: any https host, or the visitor's own machine. */
const ANY_ENDPOINT = ["https:", "http://localhost:*", "http://127.0.0.1:*"];

/**
 * Returns the content security policy of an explorer (W3C, Content Security Policy Level 3). It allows the page to run
 * only its own scripts, which it identifies by their hashes. Requests may go only to the configured servers. With
 * `visitorEndpoints`, they may also go to any https host and to the visitor's machine. A script starts a worker from a
 * blob, and this worker inherits the policy.
 * @param scripts hashes in the format of the attribute `integrity`
 */
function contentSecurityPolicy(config: ExplorerConfig, scripts: readonly string[]): string {
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

/**
 * Converts a URL to a source expression of the policy, without the URL's query, because a source expression has no
 * query.
 */
function sourceOf(url: string): string {
  const { origin, pathname } = new URL(url);
  const escaped = pathname.replace(/[;,']/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  return origin + escaped.replace(/\/+$/, "");
}
