import type { PGlite, PGliteOptions } from "@electric-sql/pglite";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { createFolders } from "@keyroot/operator/shared";

const [zip, unzip] = [promisify(gzip), promisify(gunzip)];

/**
 * Creates a PGlite database, in memory or in a new folder. This takes 5 s of processor time, so the first database is
 * saved as an image, which loads in 1 s.
 * @param create `PGlite.create`
 * @param path the path of the image. Default: a cache folder beside the packages
 */
export async function createDatabase(
  create: (options: PGliteOptions) => Promise<PGlite>,
  options: { dataDir?: string },
  path?: string,
): Promise<PGlite> {
  path ??= await imagePath();
  const image = await readImage(path);
  if (image !== undefined) return create({ ...options, loadDataDir: image });
  const client = await create(options);
  await save(client, path);
  return client;
}

/**
 * Returns the image's path, in a cache folder beside the packages. The image there needs no protection of its own,
 * because anyone who can change it can also change the code.
 */
async function imagePath(): Promise<string> {
  const program = import.meta.resolve("@electric-sql/pglite");
  const { version } = JSON.parse(await readFile(new URL("../package.json", program), "utf8")) as { version: string };
  return fileURLToPath(new URL(`../../../.cache/keyroot/pglite-${version}.tar.gz`, program));
}

/** Reads an image, and checks gzip's checksum. @returns undefined if the image is missing or incomplete */
async function readImage(path: string): Promise<Blob | undefined> {
  try {
    return new Blob([await unzip(await readFile(path))], { type: "application/x-tar" });
  } catch {
    return undefined;
  }
}

/**
 * Saves the image of a database if the folder is writable. The image is first written under another name, so that no
 * process reads a partial image.
 */
async function save(client: PGlite, path: string): Promise<void> {
  const draft = `${path}.${process.pid}`;
  try {
    const image = await client.dumpDataDir("none");
    await createFolders(dirname(path));
    await writeFile(draft, await zip(await image.arrayBuffer(), { level: 1 }));
    await rename(draft, path);
  } catch {
    await rm(draft, { force: true }).catch(() => undefined);
  }
}
