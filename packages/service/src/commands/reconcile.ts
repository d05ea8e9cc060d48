import { plural } from "@keyroot/operator/shared";
import { limitsOf } from "../config/config.ts";
import { KeyPublisher } from "../publisher/keyPublisher.ts";
import { checkMigrations, openDatabases } from "../api/database/database.ts";
import { EXIT, type Outcome } from "@keyroot/operator/commands";
import { listed } from "./lists.ts";
import { readPublishingConfig } from "./publishingConfig.ts";

/**
 * The `keyroot reconcile` command adds published keys that are missing from the databases after a backup was restored.
 */
export default async function reconcile(): Promise<Outcome> {
  const { databaseUrl: url, regionUrls, databaseFolder: folder, chain } = readPublishingConfig();
  await using databases = await openDatabases({ url, regionUrls, folder });
  await checkMigrations(databases);
  const publisher = new KeyPublisher(databases, { ...chain, limits: limitsOf(chain) }, undefined);
  const result = await publisher.reconcile();
  const { roots, recorded, replaced, added, lost, unknownUsers, differences } = result;
  // The users of these roots could not be compared.
  if (differences.length > 0) process.exitCode = EXIT.unavailable;
  const lines = [
    `Compared ${plural(roots, "root")}: ${plural(recorded, "key")} recorded as published, ${replaced} replaced, ${added} added, ${lost} submitted again.`,
    ...listed("has a published key, but is in no database. The partner must create the user again.", unknownUsers),
    ...listed(
      "could not be confirmed.",
      differences.map(({ root, code }) => `${root}  ${code}`),
    ),
  ];
  return { json: { ...result }, text: lines.join("\n") };
}
