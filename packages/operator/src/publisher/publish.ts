/**
 * The steps of publishing, and the folder of each:
 *
 * 1. records/       reads key records, and sorts them by user id
 * 2. plan/          skips users with a root, and divides the others into batches: one file and one transaction each
 * 3. files/         stores every file, and verifies the served bytes as clients do
 * 4. journal/       records the plan, and later each transaction before it is sent
 * 5. transactions/  adds the roots in the owner's transactions, or uses safe/, with which the owners of a Safe add them
 * 6. ../follow/     waits until the roots are final
 * 7. confirm/       reads every user's root and every file again, and compares them with step 3
 *
 * Every record goes through these steps once. Only steps 5 to 7 are repeated, for batches whose root was lost in a
 * reorganization. All steps read the chain with chain/, and transactions/ signs with signers/.
 */
import type { KeyRecord } from "keyroot/internal/identity";
import { checkNames } from "keyroot/internal/input";
import { ArgumentError } from "../errors.ts";
import { checkOptions } from "../checkOptions.ts";
import { checkFinality } from "../follow/index.ts";
import { checkUsersPerFile, DEFAULT_USERS_PER_FILE } from "./plan/cutIntoFiles.ts";
import type { PublishResult } from "./publishEvents.ts";
import { PUBLISH_OPTIONS, type PublishOptions } from "./publishOptions.ts";
import { RecordTable } from "./records/recordTable.ts";
import { endpointSender } from "./signers/endpointSender.ts";
import { refuseTestAccount } from "./signers/testAccounts.ts";
import { checkLimits } from "./transactions/costLimits.ts";
import { type PublishTimes, PublishRun } from "./publishRun.ts";

/**
 * Publishes users' keys, and returns when all of them are final and proven. It takes these steps:
 *
 * 1. If the journal has an unfinished plan, finish it with its own roots, and rebuild its lost files from the records.
 * 2. Store and check the files of all users without a root, and record the plan.
 * 3. Add the roots, and wait until they are final.
 * 4. Verify every key as clients do.
 *
 * A published key cannot be changed. If the published key of a user differs from the key in the records, the user is
 * listed in `differing`. You can stop the function and call it again at any time, because the chain shows which roots
 * were added.
 * @param records one record per user. A `RecordTable` is emptied when the plan is recorded
 * @throws ArgumentError NO_RECORDS, ARGUMENT_INVALID, DUPLICATE_USER, NOT_OWNER, PLAN_MISMATCH, FILE_CONFLICT, and the
 *   errors of `checkKeyRecord`
 * @throws VerificationError FILE_NOT_FOUND, FILE_CONFLICT, PLAN_INVALID, TRANSACTION_REVERTED, CHAIN_ID_MISMATCH, and
 *   the errors of a verification
 * @throws TransportError NO_RECEIPT, FEE_TOO_HIGH, COST_LIMIT_REACHED, NOT_FINAL, and the errors of store, signer and
 *   chain
 * @example
 * ```ts
 * import { FolderJournal, FolderStore, publish, readRecords, Registry } from "@keyroot/operator/publisher";
 * import { rpcCaller } from "keyroot/internal/transport";
 * const call = rpcCaller("http://127.0.0.1:8545", { maxBytes: 2 ** 20, timeoutMs: 30_000 });
 * using journal = await FolderJournal.open("plan");
 * const { records } = await readRecords("users.jsonl");
 * const { published } = await publish(records, {
 *   registry: await Registry.connect(call, "0x5FbDB2315678afecb367f032d93F642f64180aa3"),
 *   chainId: 31337,
 *   limits: "local",
 *   store: new FolderStore("/var/www/merkle"),
 *   journal,
 * });
 * for (const { root, users, blockNumber } of published) console.log(root, users, blockNumber);
 * ```
 */
export async function publish(records: Iterable<KeyRecord>, options: PublishOptions): Promise<PublishResult> {
  return publishWith(records, options, {});
}

/** Publishes as `publish` does, with other times than the defaults. Tests of local chains use shorter times. */
export async function publishWith(
  records: Iterable<KeyRecord>,
  options: PublishOptions,
  times: PublishTimes,
): Promise<PublishResult> {
  checkOptions("The options of publish", options, PUBLISH_OPTIONS);
  checkNames("The sending option's fields", options.sending ?? {}, ["inFlight", "timeoutMs"]);
  if (options.finality !== undefined) checkFinality(options.finality);
  const table = records instanceof RecordTable ? records : RecordTable.of(records, options.keyType);
  if (table.length === 0)
    throw new ArgumentError("NO_RECORDS", "There are no records to publish. Pass at least one record.");
  const { registry, chainId, limits, execute, usersPerFile = DEFAULT_USERS_PER_FILE } = options;
  checkUsersPerFile(usersPerFile);
  if (!execute) checkLimits(limits, chainId);
  refuseTestAccount(registry.owner, chainId);
  await registry.chain.verifyChainId(chainId);
  const send = execute ? undefined : (options.send ?? (await endpointSender(registry, chainId)));
  const run = new PublishRun(options, send, times);
  await run.resumePlan(table, usersPerFile);
  await run.publishNew(table, usersPerFile);
  return run.result;
}
