import { ArgumentError, TransportError } from "keyroot/errors";
import type { KeyRecord } from "keyroot/identity";
import type { UserID } from "keyroot/identity";
import { checkUsersPerFile, DEFAULT_USERS_PER_FILE } from "./plan/cutIntoFiles.ts";
import { type Depth, untilDeep } from "./transactions/finality.ts";
import { endpointSender } from "./signers/endpointSender.ts";
import { checkFile, type FetchFile, findFile, placeFile, remakeFile } from "./files/files.ts";
import type { MerkleFileStore } from "./files/folderStore.ts";
import { makePlan, planTargetOf } from "./plan/makePlan.ts";
import { type Batch, countUsers, packBatch, type Plan, type PlanTarget } from "./plan/plan.ts";
import { type Journal, MemoryJournal } from "./journal/folderJournal.ts";
import { proveBatch, type Settled, settledOf } from "./prove.ts";
import { estimateBoth } from "./plan/quote.ts";
import { RecordTable } from "./records/recordTable.ts";
import type { AddedRoot, Registry } from "./chain/registry.ts";
import {
  DEFAULT_SEND_OPTIONS,
  type SendOptions,
  type SendTransaction,
  type TransactionEvent,
  Transactions,
} from "./transactions/transactions.ts";

/** One root of a plan, the users who have it now, and the transaction that did it. */
export interface PublishedRoot extends AddedRoot {
  /** 64 hex digits in lower case. */
  root: string;
  users: number;
  readonly userIDs: readonly UserID[];
  /** The file's size in bytes. */
  fileBytes: number;
}

/** What publishing came to. */
export interface Publication {
  /** The roots by which users are published, each of them proven. */
  published: PublishedRoot[];
  /** How many users of the records had a root before; it stands, whatever the records say. */
  kept: number;
  /** Users of the plan who got another root in the meantime, from somebody who publishes in the owner's name, too. */
  shadowed: Settled["shadowed"];
}

type Stage = "reading roots" | "making files" | "checking files" | "adding roots" | "proving keys";

/** What happens while publishing, besides what happens to transactions. */
export type PublishEvent =
  | TransactionEvent
  | { event: "kept"; users: { userID: UserID; root: string }[] }
  | { event: "planned" | "resumed"; batches: number; users: number; usersPerTransaction: number }
  /** A resumed plan's file, which the store had lost. */
  | { event: "remade"; root: string; users: number }
  | { event: "lost"; batches: number; users: number }
  | ({ event: "published"; shadowed: Settled["shadowed"] } & PublishedRoot);

export interface PublishOptions {
  registry: Registry;
  store: MerkleFileStore;
  /** Signs and sends; default: the registry's endpoint, which must hold the owner's key. */
  send?: SendTransaction | undefined;
  /**
   * Instead of sending: has somebody else add the roots, an owner who is a contract, and waits until every user of these
   * batches has one.
   */
  execute?: ((batches: readonly Batch[], plan: Plan) => Promise<void>) | undefined;
  /** Where an unfinished plan is kept; default: in memory, where it ends with the process. */
  journal?: Journal | undefined;
  /** The most users of one file and transaction; fewer where the chain holds fewer. Default 700. */
  usersPerFile?: number | undefined;
  /** Fetches files as clients do, to check them before their roots are added, and to prove all keys; default: the store. */
  fetchFile?: FetchFile | undefined;
  /** Default: one block. */
  depth?: Depth | undefined;
  /** Whether transactions list the slots that they touch (EIP-2930); default: where the first is cheaper that way. */
  accessList?: boolean | undefined;
  sending?: Partial<SendOptions> | undefined;
  onEvent?: ((event: PublishEvent) => void) | undefined;
  /** Is told how many users are through with a stage. */
  onProgress?: ((stage: Stage, done: number, users: number) => void) | undefined;
}

/** How often roots may vanish by reorganisations before something else must be wrong. */
const MAX_ROUNDS = 20;

/**
 * Publishes users' keys. First it finishes a plan that was left unfinished, under its own roots; a file of it that the
 * store has lost is made anew of these records. Then it plans for whoever has no root, stores all files and checks them,
 * keeps the plan, and only then adds the roots, until every user of the plan has one as deep in the chain as asked for.
 * Last it proves every key as clients verify it.
 *
 * It may end at any time, and be run again: files are whole or not there, and where things stand is read from the chain.
 * @param records one a user; a `RecordTable` is emptied once its plan is kept
 * @throws ArgumentError NO_RECORDS, ARGUMENT_INVALID, DUPLICATE_USER, NOT_OWNER, PLAN_MISMATCH, and as `checkKeyRecord`;
 * VerificationError and TransportError as store, chain and verifier
 */
export async function publish(records: Iterable<KeyRecord>, options: PublishOptions): Promise<Publication> {
  const table = records instanceof RecordTable ? records : RecordTable.of(records);
  if (table.length === 0) throw new ArgumentError("NO_RECORDS", "There are no records to publish.");
  const { registry, usersPerFile = DEFAULT_USERS_PER_FILE } = options;
  checkUsersPerFile(usersPerFile);
  const publisher = new Publisher(
    options,
    options.execute ? undefined : (options.send ?? (await endpointSender(registry))),
  );
  await publisher.resume(table);
  await publisher.publishNew(table, usersPerFile);
  return publisher.publication;
}

class Publisher {
  readonly publication: Publication = { published: [], kept: 0, shadowed: [] };
  readonly #options: PublishOptions;
  readonly #journal: Journal;
  readonly #send: SendTransaction | undefined;
  readonly #sending: SendOptions;
  readonly #fetchFile: FetchFile;
  /** What is known of the transactions that were seen in a block. */
  readonly #added = new Map<string, AddedRoot>();

  constructor(options: PublishOptions, send: SendTransaction | undefined) {
    this.#options = options;
    this.#send = send;
    this.#journal = options.journal ?? new MemoryJournal();
    this.#sending = { ...DEFAULT_SEND_OPTIONS, ...options.sending };
    this.#fetchFile = options.fetchFile ?? ((root) => options.store.get(root));
  }

  /** Finishes the plan that an earlier run has left. @param records for files that the store has lost since */
  async resume(records: RecordTable): Promise<void> {
    const { registry } = this.#options;
    const plan = await this.#journal.readPlan();
    if (plan === undefined) return;
    checkTarget(plan, await planTargetOf(registry));
    this.#tell({ event: "resumed", ...sizeOf(plan) });
    let checked = 0;
    for (const batch of plan.batches) {
      await this.#checkFile(batch, records);
      this.#progress("checking files", (checked += batch.users), plan);
    }
    await this.#carryOut(plan, await this.#lacking(plan.batches));
  }

  async publishNew(records: RecordTable, usersPerFile: number): Promise<void> {
    const { registry, store, onProgress } = this.#options;
    const resumed = new Set(this.publication.published.map(({ root }) => root));
    const plan = await makePlan(records, registry, {
      usersPerFile,
      onKept: (some) => {
        const users = some.filter(({ root }) => !resumed.has(root));
        if (users.length === 0) return;
        this.publication.kept += users.length;
        this.#tell({ event: "kept", users });
      },
      onFile: (file) => placeFile(file, store, this.#fetchFile),
      ...(onProgress && { onProgress }),
    });
    if (plan.batches.length === 0) return;
    await this.#journal.writePlan(plan);
    // From here on, the plan and its files have all that is needed.
    records.release();
    this.#tell({ event: "planned", ...sizeOf(plan) });
    await this.#carryOut(plan, plan.batches);
  }

  /** Sees to it that a resumed batch's file is as it must be. What stands under its name is never written over. */
  async #checkFile(batch: Batch, records: RecordTable): Promise<void> {
    const { store } = this.#options;
    const { root, users } = batch;
    const stored = await findFile(root, store);
    if (stored !== undefined) return checkFile(batch, stored, this.#fetchFile);
    await placeFile(remakeFile(batch, records), store, this.#fetchFile);
    this.#tell({ event: "remade", root, users });
  }

  /** Brings a plan whose files are all in place onto the chain, and proves it. @param lacking what is known to be missing */
  async #carryOut(plan: Plan, lacking: readonly Batch[]): Promise<void> {
    let open = plan.batches;
    for (let round = 1; open.length > 0; round++) {
      if (round > MAX_ROUNDS) {
        const message = `After ${MAX_ROUNDS} times ${open.length} roots are still not on the chain to stay: publish again.`;
        throw new TransportError("NOT_FINAL", message, { actual: open.length });
      }
      const missing = round === 1 ? lacking : await this.#lacking(open);
      if (round > 1) {
        // Another block may have them now.
        for (const { root } of open) this.#added.delete(root);
        this.#tell({ event: "lost", batches: missing.length, users: countUsers(missing) });
      }
      await this.#add(missing, plan);
      open = await this.#settle(open, plan);
    }
    await this.#journal.finish();
  }

  /** The batches of which a user has no root at the chain's newest block. */
  async #lacking(batches: readonly Batch[]): Promise<Batch[]> {
    const lacking: Batch[] = [];
    for (const batch of batches) {
      const roots = await this.#options.registry.getMerkleTreeRoots(batch.userIDs);
      if (roots.includes(undefined)) lacking.push(batch);
    }
    return lacking;
  }

  async #add(batches: readonly Batch[], plan: Plan): Promise<void> {
    if (this.#send === undefined) return this.#options.execute?.(batches, plan);
    const sizes = new Map(batches.map(({ root, users }) => [root, users]));
    let done = countUsers(plan.batches) - countUsers(batches);
    const { registry } = this.#options;
    const sending = { ...this.#sending, accessList: await this.#takesAccessList(batches) };
    const transactions = new Transactions(registry, this.#send, this.#journal, sending, (event) => {
      if (event.event === "included") {
        if (event.added) this.#added.set(event.root, event.added);
        done += sizes.get(event.root) ?? 0;
      } else if (event.event === "reorganised") {
        done -= sizes.get(event.root) ?? 0;
      }
      this.#tell(event);
      this.#progress("adding roots", done, plan);
    });
    await transactions.run(batches);
  }

  async #takesAccessList([first]: readonly Batch[]): Promise<boolean> {
    const { registry, accessList } = this.#options;
    if (accessList !== undefined || first === undefined) return accessList ?? false;
    const { plain, withAccessList } = await estimateBoth(registry, first);
    return withAccessList < plain;
  }

  /** Waits for the depth, and proves what is there then. @returns the batches of which a user still has no root */
  async #settle(batches: readonly Batch[], plan: Plan): Promise<Batch[]> {
    const { registry, depth = { confirmations: 1 } } = this.#options;
    const tell = (reason: string) => {
      this.#tell({ event: "waiting", reason });
    };
    const newest = await this.#newestBlockOf(batches);
    const block = await untilDeep(registry.chain, newest, depth, { ...this.#sending, tell });
    const open: Batch[] = [];
    let proven = countUsers(plan.batches) - countUsers(batches);
    for (const batch of batches) {
      const roots = await registry.getMerkleTreeRoots(batch.userIDs, block);
      if (roots.includes(undefined)) {
        open.push(batch);
        continue;
      }
      await this.#prove(settledOf(batch, roots), plan);
      this.#progress("proving keys", (proven += batch.users), plan);
    }
    return open;
  }

  /** The newest of the blocks in which these batches were added, as far as the chain tells. */
  async #newestBlockOf(batches: readonly Batch[]): Promise<number> {
    let newest = 0;
    for (const { root } of batches) {
      const added = this.#added.get(root) ?? (await this.#options.registry.findAddition(root));
      if (added === undefined) continue;
      this.#added.set(root, added);
      newest = Math.max(newest, added.blockNumber);
    }
    return newest;
  }

  async #prove(settled: Settled, plan: Plan): Promise<void> {
    await proveBatch(plan, settled, this.#fetchFile);
    const { batch, userIDs, shadowed } = settled;
    this.publication.shadowed.push(...shadowed);
    const { root, fileBytes } = batch;
    const added = this.#added.get(root);
    if (added === undefined) {
      if (userIDs.length === 0) return;
      const message = `The endpoint tells of no transaction that added the root ${root}, which users have.`;
      throw new TransportError("RPC_ANSWER_INVALID", message, { actual: root });
    }
    const own = shadowed.length === 0 ? batch : packBatch(root, fileBytes, userIDs);
    const published = { ...added, root, fileBytes, users: own.users };
    this.publication.published.push({
      ...published,
      get userIDs() {
        return own.userIDs;
      },
    });
    this.#tell({ event: "published", ...published, userIDs, shadowed });
  }

  #tell(event: PublishEvent): void {
    this.#options.onEvent?.(event);
  }

  #progress(stage: Stage, done: number, { batches }: Plan): void {
    this.#options.onProgress?.(stage, done, countUsers(batches));
  }
}

/** @throws ArgumentError PLAN_MISMATCH */
function checkTarget(plan: Plan, target: PlanTarget): void {
  for (const key of ["chainId", "genesisHash", "contract"] as const) {
    if (plan[key] === target[key]) continue;
    const message = `The unfinished plan is for another registry or chain: its ${key} is ${plan[key]}, not ${target[key]}.`;
    throw new ArgumentError("PLAN_MISMATCH", message, { expected: target[key], actual: plan[key] });
  }
}

function sizeOf({ batches, usersPerTransaction }: Plan) {
  return { batches: batches.length, users: countUsers(batches), usersPerTransaction };
}
