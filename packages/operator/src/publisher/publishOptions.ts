import type { Registry } from "./chain/registry.ts";
import type { FetchFile } from "./files/fetchFile.ts";
import type { MerkleFileStore } from "./files/merkleFileStore.ts";
import type { Finality } from "./finality/waitForFinality.ts";
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
  /** The id of the registry's chain (EIP-155), from a source other than the endpoint: the endpoint must report the same. */
  chainId: number;
  /**
   * Limits of the cost. "local" is without limits; only development chains accept it (ids 31337 and 1337). Required
   * unless `execute` adds the roots.
   */
  limits?: CostLimits | "local" | undefined;
  /** The store of the Merkle-tree files. */
  store: MerkleFileStore;
  /** Signs and sends transactions. Default: the registry's endpoint, which must hold the owner's key. */
  send?: SendTransaction | undefined;
  /**
   * Adds the roots instead of `send`, if the owner is a contract. It MUST wait until every user of the batches has a root;
   * see `executeBySafe`.
   */
  execute?: ((batches: readonly Batch[], plan: Plan) => Promise<Execution>) | undefined;
  /**
   * Keeps the unfinished plan and the nonces of its transactions. Default: in memory, so that a new process cannot resume
   * the plan.
   */
  journal?: Journal | undefined;
  /** Maximum number of users in one file and transaction, 1 to 1,000,000. Fewer if the chain takes fewer. Default 700. */
  usersPerFile?: number | undefined;
  /** Fetches files as clients do, to check them before their roots are added and to prove keys. Default: from the store. */
  fetchFile?: FetchFile | undefined;
  /** Condition for a root to count as published. Default: one confirmation. */
  finality?: Finality | undefined;
  /** Access lists in transactions (EIP-2930). Default: true if one makes the first transaction cheaper. */
  accessList?: boolean | undefined;
  /**
   * Checks all keys as registration does before anything is sent, in one thread per core. This includes the test for the
   * subgroup of prime order, which takes 2 ms per key. Default false.
   */
  checkSubgroup?: boolean | undefined;
  /** Options for sending transactions and waiting for them. Defaults: see `SendOptions`. */
  sending?: Partial<Omit<SendOptions, "maxFeePerGas" | "maxPriorityFeePerGas">> | undefined;
  onEvent?: ((event: PublishEvent) => void) | undefined;
  /** Receives the number of the plan's users (in the first stage, of the records) that a stage has finished. */
  onProgress?: ((stage: PublishStage, done: number, users: number) => void) | undefined;
}

/** The names of all options. */
export const PUBLISH_OPTIONS: Record<keyof PublishOptions, true> = {
  ...{ registry: true, chainId: true, limits: true, store: true, send: true, execute: true, journal: true },
  ...{ usersPerFile: true, fetchFile: true, finality: true, accessList: true, sending: true, checkSubgroup: true },
  ...{ onEvent: true, onProgress: true },
};
