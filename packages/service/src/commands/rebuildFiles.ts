import { plural } from "@keyroot/operator/shared";
import { EXIT, type Outcome } from "@keyroot/operator/commands";
import { openStore } from "@keyroot/operator/publisher";
import { checkMigrations, openDatabases } from "../database/database.ts";
import { rebuildFiles } from "../publishing/rebuildFiles.ts";
import { listed } from "./lists.ts";
import { readPublishingConfig } from "./publishingConfig.ts";

/** The `keyroot rebuild-files` command rewrites missing and damaged Merkle-tree files from the databases. */
export default async function rebuild(): Promise<Outcome> {
  const { databaseUrl: url, regionUrls, databaseFolder: folder, chain } = readPublishingConfig();
  const { files: places, brotli } = chain;
  await using databases = await openDatabases({ url, regionUrls, folder });
  await checkMigrations(databases);
  const result = await rebuildFiles(databases, {
    "us-west-2": await openStore(places["us-west-2"], { brotli }),
    "eu-west-1": await openStore(places["eu-west-1"], { brotli }),
  });
  const { files, missing, damaged, lost } = result;
  if (lost.length > 0) process.exitCode = EXIT.false;
  const lines = [
    ...listed("was missing and is rebuilt.", missing),
    ...listed("was damaged and is rebuilt. Remove it from your CDN's caches.", damaged),
    ...listed("is missing or damaged, and cannot be rebuilt. Restore it from a copy.", lost),
    `Checked ${plural(files, "file")}: ${missing.length + damaged.length} rebuilt, ${lost.length} lost.`,
  ];
  return { json: { ...result }, text: lines.join("\n") };
}
