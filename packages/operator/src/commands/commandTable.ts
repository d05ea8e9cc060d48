/** The commands of this package and of `@keyroot/service`, for the program `keyroot` and the Hardhat plugin. */
import { acceptOwnership } from "./acceptOwnership.ts";
import { account } from "./account.ts";
import { audit } from "./audit.ts";
import { buildFile } from "./buildFile.ts";
import { bundle } from "./bundle.ts";
import { checkFile } from "./checkFile.ts";
import { compareStatements } from "./compareStatements.ts";
import type { Command } from "./defineCommand.ts";
import { deploy } from "./deploy.ts";
import { estimate } from "./estimate.ts";
import { explorer } from "./explorer.ts";
import { lightClient } from "./lightClient.ts";
import { makeAuditorKey } from "./makeAuditorKey.ts";
import { makeOwnerKey } from "./makeOwnerKey.ts";
import { makeRecords } from "./makeRecords.ts";
import { publish } from "./publish.ts";
import { sampleUsers } from "./sampleUsers.ts";
import { signStatement } from "./signStatement.ts";
import { status } from "./status.ts";
import { transferOwnership } from "./transferOwnership.ts";
import { verify } from "./verify.ts";
import { watch } from "./watch.ts";

const PUBLISH = {
  "sample-users": sampleUsers,
  "make-records": makeRecords,
  "build-file": buildFile,
  publish,
  estimate,
  deploy,
  "make-owner-key": makeOwnerKey,
  "transfer-ownership": transferOwnership,
  "accept-ownership": acceptOwnership,
};

const VERIFY = {
  verify,
  bundle,
  account,
  explorer,
  "light-client": lightClient,
};

const AUDIT = {
  status,
  audit,
  watch,
  "check-file": checkFile,
  "make-auditor-key": makeAuditorKey,
  "sign-statement": signStatement,
  "compare-statements": compareStatements,
};

/**
 * The commands of this package. Each command has its own file, which loads large modules only when the command runs, so
 * `--help` stays fast.
 */
export const COMMANDS = { ...PUBLISH, ...VERIFY, ...AUDIT };

/** The commands of `@keyroot/service`. `HARDHAT_COMMANDS` are the commands that need Hardhat. */
export interface ServiceCommands {
  readonly COMMANDS: Readonly<Record<string, Command>>;
  readonly HARDHAT_COMMANDS: Readonly<Record<string, Command<never>>>;
}

/** The remedy for an unknown command if `@keyroot/service` is not installed. */
export const SERVICE_HINT =
  "The partner service's commands are in another package. Run 'npm install @keyroot/service'.";

/** Loads the commands of the optional package `@keyroot/service`. Returns undefined if the package is not installed. */
export async function loadServiceCommands(): Promise<ServiceCommands | undefined> {
  const specifier = "@keyroot/service/commands";
  try {
    import.meta.resolve(specifier);
  } catch {
    return undefined;
  }
  return (await import(specifier)) as ServiceCommands;
}

/** Returns all commands that do not need Hardhat, by name, under the headings of the help. */
export function groupsWith(
  service: ServiceCommands | undefined,
): Readonly<Record<string, Readonly<Record<string, Command>>>> {
  return {
    "Publish keys": PUBLISH,
    "Verify keys": VERIFY,
    "Audit and watch": AUDIT,
    ...(service && { "Run the partner service": service.COMMANDS }),
  };
}

/** Returns all commands that do not need Hardhat, by name. */
export function commandsWith(service: ServiceCommands | undefined): Readonly<Record<string, Command>> {
  return { ...COMMANDS, ...service?.COMMANDS };
}
