import type { UserRoot } from "../follow/index.ts";
import type { AddedRootEvent } from "./chain/registry.ts";
import type { CompareEvent, KeyDifference } from "./plan/compareKeys.ts";
import type { Batch } from "./plan/plan.ts";
import type { ResumeEvent } from "./plan/resumePlan.ts";
import type { Execution } from "./safe/awaitExecution.ts";
import type { TransactionEvent } from "./transactions/sendOptions.ts";

/** A published root of the plan, with the users who have it, and its event on the chain. */
export type PublishedRoot = AddedRootEvent & Batch;

/** The result of publishing. Every user of the records and of a resumed plan is counted in exactly one field. */
export interface PublishResult {
  /** The roots that this call published. Every key of the roots' users is proven. */
  published: PublishedRoot[];
  /** The number of users who already had a root. The contract keeps these roots. */
  alreadyPublished: number;
  /** Users to whom another publisher of the same owner assigned a different root after the plan was made. */
  superseded: UserRoot[];
  /**
   * The users whose published key differs from the key in the records. They keep the published key, and are also
   * counted in one of the other fields.
   */
  differing: KeyDifference[];
}

/** A stage of publishing, for progress reports. */
export type PublishStage = "reading roots" | "making files" | "checking files" | "adding roots" | "proving keys";

/** A progress event of `publish`. */
export type PublishEvent =
  | TransactionEvent
  | CompareEvent
  | ResumeEvent
  | { event: "alreadyPublished"; users: UserRoot[] }
  | { event: "planned"; batches: number; users: number; usersPerTransaction: number }
  /**
   * `execute` has ended. The event contains the number of users who have the root of their batch, and lists the users
   * with a different root. A reorganization may still change both.
   */
  | ({ event: "executed" } & Execution)
  /**
   * A reorganization removed a root, so some users no longer have the root of their batch. `publish` adds the root
   * again.
   */
  | { event: "lost"; batches: number; users: number }
  /** A root is final, and the keys of all its users are proven. */
  | ({ event: "published"; superseded: UserRoot[] } & PublishedRoot);
