import type { PGlite, PGliteOptions } from "@electric-sql/pglite";
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { lockFolder } from "@keyroot/operator/shared";
import type { Cleanup } from "../base/cleanup.ts";
import { ArgumentError } from "../base/errors.ts";
import { createDatabase } from "./pgliteImage.ts";

/**
 * Opens PGlite in a folder, or in memory.
 * @throws ArgumentError DATABASE_LOCKED if another process uses the folder; CONFIGURATION_INVALID if PGlite is not
 * installed
 */
export async function openPGliteClient(folder: string | null | undefined, closing: Cleanup): Promise<PGlite> {
  const { PGlite: Client } = await importPGlite();
  const create = (options: PGliteOptions) => Client.create(options);
  let dataDir: string | undefined;
  if (folder !== undefined && folder !== null) {
    const lock = await lockFolder(folder);
    if (lock === undefined) {
      const message = `Another process uses the database in ${folder}. Stop the process, or send your requests to it.`;
      throw new ArgumentError("DATABASE_LOCKED", message, { actual: folder });
    }
    closing.use(lock);
    dataDir = join(folder, "data");
    // PGlite may hang if the creation of the database was interrupted. Therefore, create the database under another
    // name first.
    if (!existsSync(dataDir)) {
      const draft = join(folder, "draft");
      await rm(draft, { recursive: true, force: true });
      await (await createDatabase(create, { dataDir: draft })).close();
      await rename(draft, dataDir);
    }
  }
  const client = dataDir === undefined ? await createDatabase(create, {}) : await create({ dataDir });
  closing.defer(() => client.close());
  return client;
}

/** Imports PGlite, an optional dependency that services with PostgreSQL do not need. */
async function importPGlite() {
  try {
    return await import("@electric-sql/pglite");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    const message =
      "DATABASE_URL is not set, and PGlite is not installed. Set DATABASE_URL to a PostgreSQL database. For development, you can run 'npm install @electric-sql/pglite' instead.";
    throw new ArgumentError("CONFIGURATION_INVALID", message, { cause });
  }
}
