import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { TransportError } from "keyroot/errors";
import type { ExplorerConfig } from "./config.ts";
import { contentSecurityPolicy } from "./policy.ts";

/** The built pages: next to `src` in the repository, next to `dist` in the package. */
const SITE = fileURLToPath(new URL("../../site/explorer", import.meta.url));

/** The files of an explorer, by their paths with `/`. */
export interface ExplorerFiles {
  files: ReadonlyMap<string, Uint8Array>;
  /** The policy that `index.html` contains. A server should send it as a header, too. */
  policy: string;
}

/**
 * Makes the files of an explorer: the built ones, and a page with the configuration and the policy.
 * @throws TransportError FILE_UNREADABLE
 */
export async function makeExplorer(config: ExplorerConfig): Promise<ExplorerFiles> {
  const files = await readSite();
  const page = new TextDecoder().decode(files.get("index.html"));
  const scripts = [...page.matchAll(/<script[^>]* integrity="([^"]+)"/g)].map(([, hash = ""]) => hash);
  const policy = contentSecurityPolicy(config, scripts);
  const filled = page
    .replace("<!--policy-->", () => `<meta http-equiv="Content-Security-Policy" content="${escapeAttribute(policy)}">`)
    .replace("<!--config-->", () => `<script type="application/json" id="config">${escapeScript(config)}</script>`);
  files.set("index.html", new TextEncoder().encode(filled));
  return { files, policy };
}

async function readSite(): Promise<Map<string, Uint8Array>> {
  try {
    const entries = await readdir(SITE, { recursive: true, withFileTypes: true });
    const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const names = paths.map((path) => path.slice(SITE.length + 1).replaceAll("\\", "/")).sort();
    const read = async (name: string) => [name, new Uint8Array(await readFile(join(SITE, name)))] as const;
    return new Map(await Promise.all(names.map(read)));
  } catch (cause) {
    const message = "The files of the explorer cannot be read. In the repository, run 'npm run build:web' first.";
    throw new TransportError("FILE_UNREADABLE", message, { cause });
  }
}

function escapeAttribute(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}

/** JSON in which no text can end the element. */
function escapeScript(value: object): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}
