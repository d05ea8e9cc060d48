import type { PGlite, PGliteOptions } from "@electric-sql/pglite";
import { createHash } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { createFolders } from "@keyroot/operator/shared";
import { applyMigrations, KNOWN } from "./applyMigrations.ts";
import { loadPGliteDriver } from "./drizzle.ts";

const [zip, unzip] = [promisify(gzip), promisify(gunzip)];

/**
 * Creates a PGlite database with all tables, in memory or in a new folder. This takes 6 s of processor time, so the
 * first database is saved as an image, which loads in 1 s.
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
  await applyMigrations(loadPGliteDriver().drizzle(client));
  await save(client, path);
  return client;
}

/**
 * Returns the image's path, in a cache folder beside the packages. Its name contains the version of PGlite and a hash of
 * the migrations, so a change of either makes a new image. The image there needs no protection of its own,
 * because anyone who can change it can also change the code.
 */
async function imagePath(): Promise<string> {
  const program = import.meta.resolve("@electric-sql/pglite");
  const { version } = JSON.parse(await readFile(new URL("../package.json", program), "utf8")) as { version: string };
  const tables = createHash("sha256").update(KNOWN.join()).digest("hex").slice(0, 16);
  return fileURLToPath(new URL(`../../../.cache/keyroot/pglite-${version}-${tables}.tar.gz`, program));
}

/** Reads an image, and checks gzip's checksum. @returns undefined if the image is missing or incomplete */
async function readImage(path: string): Promise<Blob | undefined> {
  try {
    // With large chunks, the decompressed image is copied less often.
    return new Blob([await unzip(await readFile(path), { chunkSize: 2 ** 23 })], { type: "application/x-tar" });
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
    // Otherwise, each database that loads the image would repeat the migrations from the write-ahead log.
    await client.exec("checkpoint");
    const image = await client.dumpDataDir("none");
    await createFolders(dirname(path));
    await writeFile(draft, await zip(await image.arrayBuffer(), { level: 1 }));
    await rename(draft, path);
  } catch {
    await rm(draft, { force: true }).catch(() => undefined);
  }
}
