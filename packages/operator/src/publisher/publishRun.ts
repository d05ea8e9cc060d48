import type { MerkleFile } from "keyroot/internal/merkle";
import { TransportError } from "../errors.ts";
import { plural } from "../plural.ts";
import { maxPriorityFeeOf } from "./chain/fees.ts";
import type { AddedRootEvent } from "./chain/registry.ts";
import { type FetchFile, type UserRoot, waitForFinality } from "../follow/index.ts";
import { proveBatch, type ProvenBatch } from "./confirm/proveBatch.ts";
import { readRootsOf } from "./confirm/readRootsOf.ts";
import { storeFile } from "./files/storeFile.ts";
import { attemptsFor, type Journal, moveAttempts } from "./journal/journal.ts";
import { MemoryJournal } from "./journal/memoryJournal.ts";
import { checkPublishedType, type CompareContext, compareSuperseded, PublishedUsers } from "./plan/compareKeys.ts";
import { findUnpublished, findUnpublishedBatches } from "./plan/findUnpublished.ts";
import { planFiles, planTargetOf } from "./plan/makePlan.ts";
import { type Batch, countUsers, packBatch, type Plan, registryKeyOf, sizeOf } from "./plan/plan.ts";
import { resumePlan } from "./plan/resumePlan.ts";
import type { PublishEvent, PublishResult, PublishStage } from "./publishEvents.ts";
import type { PublishOptions } from "./publishOptions.ts";
import { RecordTable } from "./records/recordTable.ts";
import type { SendTransaction } from "./signers/signer.ts";
import { addRoots } from "./transactions/addRoots.ts";
import { CostBudget, type CostLimits } from "./transactions/costLimits.ts";
import { DEFAULT_SEND_OPTIONS, type SendOptions } from "./transactions/sendOptions.ts";

/** The maximum number of rounds. A new round starts when a reorganization has removed roots. */
const MAX_ROUNDS = 20;

/** The times between two reads of the chain, and before a transaction is sent again. */
export type PublishTimes = Partial<Pick<SendOptions, "pollMs" | "stuckAfterMs">>;

/** One run of `publish`: finishes an earlier plan, and then publishes the keys of users without a root. */
export class PublishRun {
  readonly result: PublishResult = { published: [], alreadyPublished: 0, superseded: [], differing: [] };
  readonly #options: PublishOptions;
  readonly #journal: Journal;
  readonly #send: SendTransaction | undefined;
  readonly #sending: SendOptions;
  readonly #limits: CostLimits | undefined;
  #budget: CostBudget | undefined;
  readonly #fetchFile: FetchFile;
  /** The events of roots that were found in a block. */
  readonly #added = new Map<string, AddedRootEvent>();
  /** The SHA-256 of each root's file, which was verified before the root was added. */
  readonly #verified = new Map<string, string>();

  constructor(options: PublishOptions, send: SendTransaction | undefined, times: PublishTimes) {
    this.#options = options;
    this.#send = send;
    this.#journal = options.journal ?? new MemoryJournal();
    const limits = options.limits === "local" ? undefined : options.limits;
    this.#sending = {
      ...DEFAULT_SEND_OPTIONS,
      ...options.sending,
      ...times,
      ...(limits && {
        maxFeePerGas: limits.maxFeePerGas,
        maxPriorityFeePerGas: maxPriorityFeeOf(limits.maxFeePerGas, limits.maxPriorityFeePerGas),
      }),
    };
    this.#limits = limits;
    this.#fetchFile = options.fetchFile ?? ((root) => options.store.get(root));
  }

  #comparing(records?: RecordTable): CompareContext {
    const { keyType } = this.#options;
    return { fetchFile: this.#fetchFile, keyType, lineOf: (userID) => records?.lineOf(userID), emit: this.#emit };
  }

  /**
   * Checks the key type of the newest file of earlier plans. This is necessary because files of new users do not show
   * which type the published keys have.
   */
  async #checkKeyType(): Promise<void> {
    const attempts = this.#journal.attempts();
    if (attempts.length === 0) return;
    const { registry, store } = this.#options;
    const own = attemptsFor(this.#journal, registryKeyOf(await planTargetOf(registry)))
      .attempts()
      .at(-1);
    if (own === undefined) return;
    await checkPublishedType(own.root, { ...this.#comparing(), fetchFile: (root) => store.get(root) });
  }

  /** Finishes the plan of an earlier run. @param records used to rebuild files that the store has lost */
  async resumePlan(records: RecordTable, usersPerFile: number): Promise<void> {
    const { registry, store } = this.#options;
    const found = await this.#journal.readPlan();
    if (found === undefined) return;
    const { plan, unpublished, differences } = await resumePlan(found, records, {
      ...{ registry, store, fetchFile: this.#fetchFile, storeFile: this.#storeFile },
      usersPerFile: this.#send === undefined ? undefined : usersPerFile,
      onChecked: ({ tree: { root } }, sha256) => {
        this.#verified.set(root, sha256);
      },
      onDivided: (root, first) => moveAttempts(attemptsFor(this.#journal, registryKeyOf(found)), root, first),
      writePlan: (plan) => this.#journal.writePlan(plan),
      onProgress: (done, users) => {
        this.#progress("checking files", done, users);
      },
      emit: this.#emit,
    });
    this.result.differing.push(...differences);
    await this.#publishPlan(plan, unpublished);
  }

  /** Stores and verifies a file. @returns the size of the file in bytes */
  readonly #storeFile = async (file: MerkleFile): Promise<number> => {
    const { bytes, sha256 } = await storeFile(file, this.#options.store, this.#fetchFile);
    this.#verified.set(file.tree.root, sha256);
    return bytes;
  };

  async publishNew(records: RecordTable, usersPerFile: number): Promise<void> {
    const { registry, onProgress } = this.#options;
    const resumed = new Set(this.result.published.map(({ root }) => root));
    const publishedUsers = new PublishedUsers();
    const unpublished = await findUnpublished(records, registry, {
      onAlreadyPublished: (some, positions) => {
        const isOther = ({ root }: UserRoot) => !resumed.has(root);
        publishedUsers.add(some, positions, isOther);
        const users = some.filter(isOther);
        if (users.length === 0) return;
        this.result.alreadyPublished += users.length;
        this.#emit({ event: "alreadyPublished", users });
      },
      onProgress,
    });
    this.result.differing.push(...(await publishedUsers.compare(records, this.#comparing(records))));
    if (unpublished.length === 0) return;
    await this.#checkKeyType();
    const plan = await planFiles(unpublished, registry, { usersPerFile, onProgress }, this.#storeFile);
    await this.#journal.writePlan(plan);
    records.release(); // the plan and its files now contain all the data
    this.#emit({ event: "planned", ...sizeOf(plan) });
    await this.#publishPlan(plan, plan.batches);
  }

  /**
   * Adds and proves the roots of a plan. All files of the plan must already be stored.
   * @param unpublished the batches to add in the first round
   */
  async #publishPlan(plan: Plan, unpublished: readonly Batch[]): Promise<void> {
    let isAllowed = false;
    let pendingBatches = plan.batches;
    for (let round = 1; pendingBatches.length > 0; round++) {
      if (round > MAX_ROUNDS) {
        const count = pendingBatches.length;
        const message = `After ${MAX_ROUNDS} attempts, ${plural(count, "root")} ${count === 1 ? "is" : "are"} not final. Publish again to continue.`;
        throw new TransportError("NOT_FINAL", message, { actual: count });
      }
      const batches = round === 1 ? unpublished : await this.#findLost(pendingBatches);
      if (batches.length > 0) {
        // Estimate with batches that have no root now. There may be some even if all roots of the plan were added
        // before, because a reorganization can have removed roots.
        if (!isAllowed) await this.#allowCost(plan, batches);
        isAllowed = true;
        await this.#addRoots(batches, plan);
      }
      pendingBatches = await this.#confirmBatches(pendingBatches, plan);
    }
    await this.#journal.finish();
  }

  async #allowCost(plan: Plan, batches: readonly Batch[]): Promise<void> {
    this.#budget ??= this.#limits && new CostBudget(this.#limits, registryKeyOf(plan), this.#options.registry.owner);
    this.#budget?.allowFor(plan.batches, await this.#gasPerUser(batches));
    this.#budget?.recordEarlier(this.#journal.attempts(), new Set(plan.batches.map(({ root }) => root)));
  }

  /** Finds the batches with missing roots at a final block. The caller adds these batches again. */
  async #findLost(pendingBatches: readonly Batch[]): Promise<Batch[]> {
    const included = pendingBatches.map(({ root }) => this.#added.get(root)?.blockNumber ?? 0);
    const lost = await findUnpublishedBatches(this.#options.registry, pendingBatches, Math.max(0, ...included));
    // The roots may now be in different blocks.
    for (const { root } of pendingBatches) this.#added.delete(root);
    this.#emit({ event: "lost", batches: lost.length, users: countUsers(lost) });
    return lost;
  }

  async #addRoots(batches: readonly Batch[], plan: Plan): Promise<void> {
    const { registry, execute } = this.#options;
    if (this.#send === undefined) {
      const execution = await execute?.(batches, plan);
      if (execution) this.#emit({ event: "executed", ...execution });
      return;
    }
    const usersOf = new Map(batches.map(({ root, users }) => [root, users]));
    const total = countUsers(plan.batches);
    let done = total - countUsers(batches);
    await addRoots(batches, {
      registry,
      send: this.#send,
      journal: attemptsFor(this.#journal, registryKeyOf(plan)),
      budget: this.#budget,
      options: {
        ...this.#sending,
        accessList: batches[0] !== undefined && (await registry.prefersAccessList(batches[0])),
      },
      emit: (event) => {
        if (event.event === "included") {
          if (event.added) this.#added.set(event.root, event.added);
          done += usersOf.get(event.root) ?? 0;
        } else if (event.event === "reorganized") {
          done -= usersOf.get(event.root) ?? 0;
        }
        this.#emit(event);
        this.#progress("adding roots", done, total);
      },
    });
  }

  /** Returns the node's gas estimate per user of the first batch, or 0 without batches. */
  async #gasPerUser([first]: readonly Batch[]): Promise<number> {
    if (first === undefined || this.#send === undefined) return 0;
    const { registry } = this.#options;
    return (await registry.estimateGas(registry.addRootCall(first, false))) / first.users;
  }

  /**
   * Waits for finality, and proves the batches at the final block.
   * @returns the batches with a user who has no root at this block
   */
  async #confirmBatches(batches: readonly Batch[], plan: Plan): Promise<Batch[]> {
    const { registry, finality = { confirmations: 1 } } = this.#options;
    const newest = await this.#newestBlockOf(batches);
    const report = (reason: string) => {
      this.#emit({ event: "waiting", reason });
    };
    const final = await waitForFinality(registry.chain, newest, finality, { ...this.#sending, report });
    // A node may delete the state of a fixed block during a long proof.
    const block = finality === "finalized" ? finality : final;
    const chainId = await registry.chain.chainId();
    const pendingBatches: Batch[] = [];
    const total = countUsers(plan.batches);
    let proven = total - countUsers(batches);
    for await (const [batch, roots] of readRootsOf(batches, registry, block)) {
      if (roots.includes(undefined)) {
        pendingBatches.push(batch);
        continue;
      }
      const reading = { chainId, roots, keyType: this.#options.keyType };
      const found = await proveBatch(batch, plan, reading, this.#fetchFile, this.#verified.get(batch.root));
      this.result.differing.push(...(await compareSuperseded(batch, found.superseded, this.#comparing())));
      this.#addResult(batch, found);
      this.#progress("proving keys", (proven += batch.users), total);
    }
    return pendingBatches;
  }

  /** Returns the newest block that contains one of these batches, or 0 if none is on the chain. */
  async #newestBlockOf(batches: readonly Batch[]): Promise<number> {
    let newest = 0;
    for (const { root } of batches) {
      const added = this.#added.get(root) ?? (await this.#options.registry.findAddedRoot(root));
      if (added === undefined) continue;
      this.#added.set(root, added);
      newest = Math.max(newest, added.blockNumber);
    }
    return newest;
  }

  #addResult(batch: Batch, { userIDs, superseded }: ProvenBatch): void {
    this.result.superseded.push(...superseded);
    const { root, fileBytes } = batch;
    const added = this.#added.get(root);
    if (added === undefined) {
      if (userIDs.length === 0) return;
      const message = `The endpoint does not return the transaction that added the root ${root}, although users have this root. Use another endpoint.`;
      throw new TransportError("RPC_ANSWER_INVALID", message, { actual: root });
    }
    const own = superseded.length === 0 ? batch : packBatch(root, fileBytes, userIDs);
    const published = { ...added, root, fileBytes, users: own.users };
    this.result.published.push({
      ...published,
      get userIDs() {
        return own.userIDs;
      },
    });
    this.#emit({ event: "published", ...published, userIDs, superseded });
  }

  readonly #emit = (event: PublishEvent): void => {
    this.#options.onEvent?.(event);
  };

  #progress(stage: PublishStage, done: number, users: number): void {
    this.#options.onProgress?.(stage, done, users);
  }
}
