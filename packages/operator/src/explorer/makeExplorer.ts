import { readSite, scriptsOf } from "./readSite.ts";
import type { ExplorerConfig } from "./config.ts";
import { contentSecurityPolicy } from "./contentSecurityPolicy.ts";

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
