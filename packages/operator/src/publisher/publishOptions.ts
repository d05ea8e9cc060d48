import type { KeyType } from "keyroot/internal/identity";
import type { Registry } from "./chain/registry.ts";
import type { FetchFile, Finality } from "../follow/index.ts";
import type { MerkleFileStore } from "./files/merkleFileStore.ts";
import type { Journal } from "./journal/journal.ts";
import type { Batch, Plan } from "./plan/plan.ts";
import type { PublishEvent, PublishStage } from "./publishEvents.ts";
import type { Execution } from "./safe/awaitExecution.ts";
import type { SendTransaction } from "./signers/signer.ts";
import type { CostLimits } from "./transactions/costLimits.ts";
import type { SendOptions } from "./transactions/sendOptions.ts";

/** Options of `publish`. */
export interface PublishOptions {
  registry: Registry;
  /**
   * The id of the registry's chain (EIP-155). It must come from a source other than the endpoint, because `publish`
   * compares it with the id that the endpoint reports.
   */
  chainId: number;
  /**
   * The limits on the cost. They are required unless `execute` adds the roots. "local" means no limits, and is accepted
   * only for development chains (ids 31337 and 1337).
   */
  limits?: CostLimits | "local" | undefined;
  /** The store for the Merkle-tree files. */
  store: MerkleFileStore;
  /**
   * Signs and sends transactions. By default, the registry's endpoint signs, so the endpoint must hold the owner's key.
   */
  send?: SendTransaction | undefined;
  /**
   * Adds the roots instead of `send`, for a registry whose owner is a contract (see `executeBySafe`). It MUST wait
   * until every user of the batches has a root.
   */
  execute?: ((batches: readonly Batch[], plan: Plan) => Promise<Execution>) | undefined;
  /**
   * Keeps the unfinished plan and the nonces of its transactions. Default: a journal in memory, which a new process
   * cannot resume.
   */
  journal?: Journal | undefined;
  /**
   * The maximum number of users per file and transaction, 1 to 1,000,000. If the chain allows fewer users per
   * transaction, files have fewer users. Default: 64.
   */
  usersPerFile?: number | undefined;
  /**
   * Fetches files as clients do. Files are checked in this way before their roots are added, and again when keys are
   * proven. Default: files are read from the store.
   */
  fetchFile?: FetchFile | undefined;
  /** The condition under which a root is treated as published. Default: one confirmation. */
  finality?: Finality | undefined;
  /** The type of the registry's keys: a value of `keyroot/key-types`. Default: `curve41417`. */
  keyType?: KeyType | undefined;
  /**
   * The maximum number of pending transactions, and the maximum time to wait without any progress. `SendOptions` states
   * the defaults.
   */
  sending?: Partial<Pick<SendOptions, "inFlight" | "timeoutMs">> | undefined;
  onEvent?: ((event: PublishEvent) => void) | undefined;
  /** Receives the progress of a stage: `done` of `users`, which is the stage's number of users. */
  onProgress?: ((stage: PublishStage, done: number, users: number) => void) | undefined;
}

export const PUBLISH_OPTIONS: Record<keyof PublishOptions, true> = {
  ...{ registry: true, chainId: true, limits: true, store: true, send: true, execute: true, journal: true },
  ...{ usersPerFile: true, fetchFile: true, finality: true, sending: true, keyType: true },
  ...{ onEvent: true, onProgress: true },
};
