import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { TransportError } from "../errors.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

/**
 * Returns the built files of one part of the site. The keys are the paths of the files, with `/` on every system.
 * @param site the folder `site` of the package. It is next to `src` in the repository, and next to `dist` in the
 *   package
 * @throws TransportError FILE_UNREADABLE
 */
export async function readSite(
  site: URL,
  part: "explorer" | "dashboard" | "reference",
): Promise<Map<string, Uint8Array>> {
  const folder = join(fileURLToPath(site), part);
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const names = paths.map((path) => path.slice(folder.length + 1).replaceAll("\\", "/")).sort();
    const read = async (name: string) => [name, new Uint8Array(await readFile(join(folder, name)))] as const;
    return new Map(await Promise.all(names.map(read)));
  } catch (cause) {
    const message = `The files of the ${part} cannot be read. In the repository, run 'npm run build:web' first.`;
    throw new TransportError("FILE_UNREADABLE", message, { cause });
  }
}

/** Returns the hashes in the `integrity` attributes of a page's scripts. */
export function scriptsOf(page: string): string[] {
  return [...page.matchAll(/<script[^>]* integrity="([^"]+)"/g)].map(([, hash = ""]) => hash);
}

/**
 * Returns the headers `Content-Type` and `Cache-Control` of a built file. The name of an asset contains the hash of its
 * content, so caches may keep assets forever.
 */
export function headersOf(name: string): Record<"Content-Type" | "Cache-Control", string> {
  return {
    "Content-Type": TYPES[extname(name)] ?? "application/octet-stream",
    "Cache-Control": name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache",
  };
}
