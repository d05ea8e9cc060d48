import { ArgumentError } from "keyroot/errors";
import { plural } from "../text/plural.ts";
import { limitsOf } from "../service/config.ts";
import { readConfig } from "../service/readConfig.ts";
import { KeyPublisher } from "../service/publishing/keyPublisher.ts";
import { checkMigrations, openDatabases } from "../service/store/database.ts";
import { EXIT } from "./exitCodes.ts";
import type { Outcome } from "./host.ts";

/** How many users and roots are printed. `--json` prints all. */
const SHOWN = 20;

/** `keyroot reconcile`: records published keys that the service's databases do not know, as after a restore. */
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
  const { roots, recorded, replaced, added, unknownUsers, missingFiles } = result;
  // Their users could not be compared.
  if (missingFiles.length > 0) process.exitCode = EXIT.unavailable;
  const lines = [
    `Compared ${plural(roots, "root")}: ${plural(recorded, "key")} recorded as published, ${replaced} replaced, ${added} added.`,
    ...listed("published user that no database knows; the partner must create it again", unknownUsers),
    ...listed("root without a file", missingFiles),
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
