import { plural } from "@keyroot/operator/shared";
import { ArgumentError } from "../errors.ts";
import { limitsOf } from "../config/config.ts";
import { readConfig } from "../config/readConfig.ts";
import { KeyPublisher } from "../publishing/keyPublisher.ts";
import { checkMigrations, openDatabases } from "../database/database.ts";
import { EXIT } from "@keyroot/operator/commands";
import type { Outcome } from "@keyroot/operator/commands";

/** Maximum number of users and roots in the printed text. `--json` prints all. */
const SHOWN = 20;

/** `keyroot reconcile`: after restoring a backup, adds published keys that are missing from the databases. */
export default async function reconcile(): Promise<Outcome> {
  const { databaseUrl: url, regionUrls, databaseFolder: folder, chain } = readConfig(process.env);
  if (chain === undefined) {
    const message =
      "Set the variables of the service that publishes: KEYROOT_RPC_URL, KEYROOT_CONTRACT, KEYROOT_CHAIN_ID and KEYROOT_FILES.";
    throw new ArgumentError("CONFIGURATION_INVALID", message);
  }
  await using databases = await openDatabases({ url, regionUrls, folder });
  await checkMigrations(databases);
  const publisher = new KeyPublisher(databases, { ...chain, limits: limitsOf(chain) }, undefined);
  const result = await publisher.reconcile();
  const { roots, recorded, replaced, added, lost, unknownUsers, missingFiles, differences } = result;
  // The users of roots with missing files or differences could not be compared.
  if (missingFiles.length + differences.length > 0) process.exitCode = EXIT.unavailable;
  const lines = [
    `Compared ${plural(roots, "root")}: ${plural(recorded, "key")} recorded as published, ${replaced} replaced, ${added} added, ${lost} submitted again.`,
    ...listed("published user that is in no database; the partner must create it again", unknownUsers),
    ...listed("root without a file", missingFiles),
    ...listed(
      "root that could not be confirmed",
      differences.map(({ root, code }) => `${root}  ${code}`),
    ),
  ];
  return { json: { ...result }, text: lines.join("\n") };
}

function listed(what: string, all: readonly string[]): string[] {
  const rest = all.length - SHOWN;
  return [
    ...all.slice(0, SHOWN).map((one) => `${one}  ${what}`),
    ...(rest > 0 ? [`… and ${rest} more; --json lists all.`] : []),
  ];
}
