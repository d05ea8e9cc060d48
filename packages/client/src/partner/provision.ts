import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { encodeUtf8, isWellFormed } from "keyroot/internal/engine";
import { pMapIterable } from "p-map";
import type { CreatedUser } from "../shared/operations.ts";
import type { CreateUsersResult, UserToCreate } from "./answers.ts";
import { inGroups } from "./inGroups.ts";
import { abortedError, rejectOnAbort } from "keyroot/internal/transport";
import { type CallOptions, checkCallOptions } from "../shared/options.ts";
import { ArgumentError, KeyrootError, ServiceError } from "../errors.ts";
import type { Region } from "keyroot/internal/formats";
import { bytesToHex } from "keyroot/internal/bytes";
import { checkFunction, checkInteger, checkObject, checkText, invalidArgument, optional } from "keyroot/internal/input";

/** A user to create with a refresh token. */
export interface UserToProvision {
  /** The user id: 32 characters of zBase32, or 40 hex digits. */
  userID: string;
  region: Region;
  /** The device or purpose of the refresh token. Default: the `context` in the options of the run. */
  context?: string | undefined;
}

/** The options of `PartnerClient.provision`. */
export interface ProvisionOptions extends CallOptions {
  /**
   * The id of the run: at least 32 characters that nobody can guess, such as `crypto.randomUUID()`. Store the id with
   * the list, so that you can continue the run. Keep it as secret as the tokens, because another run with this id
   * returns the same tokens.
   */
  runId: string;
  /** The device or purpose of the refresh tokens of users who have no `context` of their own. */
  context?: string | undefined;
  /**
   * The number of users to process at the same time, from 1 to 1,000. They are sent in two requests with half of the
   * users each. Default: 1,000.
   */
  concurrency?: number | undefined;
  /** Called after each user, with the numbers of processed and failed users. */
  onProgress?: ((done: number, failed: number) => void) | undefined;
}

/** The outcome for one user. `user` is the object from the caller's list. */
export type ProvisionOutcome<User extends UserToProvision = UserToProvision> =
  { user: User; shadowUser: CreatedUser; token: string } | { user: User; error: KeyrootError };

/** The operation that a run calls. `PartnerClient` implements this operation. */
interface ProvisioningOperations {
  createUsers(
    users: readonly UserToCreate[],
    options: CallOptions & { idempotencyKey: string },
  ): Promise<CreateUsersResult[]>;
}

export const MAX_LIST = 500;

/** Minimum length of a run's id in characters. A UUID has 36 characters, and 128 bits in hex have 32 characters. */
const MIN_RUN_ID_LENGTH = 32;

/**
 * The HTTP statuses that end a run. They do not depend on the user in the request, so later requests would fail, too.
 */
const RUN_ENDING_STATUSES = new Set([401, 429, 502, 503, 504]);

/**
 * The error codes that end a run. They mean that the partner is suspended or has too many users, or that the service is
 * too old.
 */
const RUN_ENDING_CODES = new Set<string>(["PARTNER_SUSPENDED", "USER_LIMIT_REACHED", "OPERATION_UNKNOWN"]);

function endsRun(error: KeyrootError): boolean {
  if (!(error instanceof ServiceError)) return !(error instanceof ArgumentError);
  const { status, code } = error;
  return RUN_ENDING_STATUSES.has(status) || RUN_ENDING_CODES.has(code);
}

/** Implements `PartnerClient.provision` with the operations of any client. */
export async function* provision<User extends UserToProvision>(
  operations: ProvisioningOperations,
  users: Iterable<User> | AsyncIterable<User>,
  options: ProvisionOptions,
): AsyncGenerator<ProvisionOutcome<User>, void, undefined> {
  const { runId, concurrency = 2 * MAX_LIST, onProgress, signal } = checkProvisionOptions(options);
  checkIterable(users);
  const end = new AbortController();
  const runSignal = signal === undefined ? end.signal : AbortSignal.any([signal, end.signal]);
  const run = { ...options, idempotencyKey: idempotencyKeyOf(runId), signal: runSignal };
  // Two requests run at the same time. The service can then process one of them while the client sends or receives the
  // other one.
  const size = Math.max(1, Math.floor(concurrency / 2));
  const results = pMapIterable(inGroups(users, size), (group) => provisionGroup(operations, group, run), {
    concurrency: Math.floor(concurrency / size),
    preserveOrder: false,
  })[Symbol.asyncIterator]();
  try {
    let [done, failed] = [0, 0];
    for (;;) {
      // The list may never return its next user, so a caller that aborts must not wait for it.
      const next = await rejectOnAbort(results.next(), signal);
      if (next.done === true) return;
      const ending = next.value.flatMap((outcome) =>
        "error" in outcome && endsRun(outcome.error) ? outcome.error : [],
      );
      for (const outcome of next.value) {
        if ("error" in outcome && endsRun(outcome.error)) continue;
        if (signal?.aborted === true) throw abortedError(signal);
        done++;
        if ("error" in outcome) failed++;
        onProgress?.(done, failed);
        yield outcome;
      }
      if (ending[0] !== undefined) throw ending[0];
    }
  } finally {
    end.abort();
    void results.return?.();
  }
}

/** The options that all requests of a run share. */
interface Run extends Pick<ProvisionOptions, "context"> {
  idempotencyKey: string;
  signal: AbortSignal;
}

/**
 * Creates a group of users with one request. If the service rejects the request because one of the users is malformed,
 * the group is halved again and again until only this user fails.
 */
async function provisionGroup<User extends UserToProvision>(
  operations: ProvisioningOperations,
  group: readonly User[],
  run: Run,
): Promise<ProvisionOutcome<User>[]> {
  const { signal, idempotencyKey } = run;
  if (signal.aborted) throw abortedError(signal);
  try {
    const wanted = group.map((user) => withContext(user, run.context));
    const results = await operations.createUsers(wanted, { idempotencyKey, signal });
    return results.flatMap((result, i) => {
      const user = group[i];
      return user === undefined ? [] : [toOutcome(user, result)];
    });
  } catch (error) {
    if (!(error instanceof KeyrootError) || endsRun(error)) throw error;
    if (group.length === 1) return group.map((user) => ({ user, error }));
    const half = Math.ceil(group.length / 2);
    const first = await provisionGroup(operations, group.slice(0, half), run);
    return [...first, ...(await provisionGroup(operations, group.slice(half), run))];
  }
}

function withContext(user: UserToProvision, defaultContext: string | undefined): UserToCreate {
  const { userID, region, context = defaultContext } = checkObject("A user of the list", user);
  if (context === undefined) throw invalidArgument("The context option", "set for the run or for each user", context);
  return { userID, region, context };
}

function toOutcome<User extends UserToProvision>(user: User, result: CreateUsersResult): ProvisionOutcome<User> {
  if ("error" in result) return { user, error: result.error };
  const { token = "", ...shadowUser } = result;
  return { user, shadowUser, token };
}

/**
 * Computes the idempotency key of a run: 64 hex digits of an HMAC-SHA-256 that is keyed with the run's id. Every
 * attempt has the same key, and nobody can guess it without the id. All requests of a run can share one key, because
 * requests for different users or contexts have different effects even with the same key.
 */
function idempotencyKeyOf(runId: string): string {
  return bytesToHex(hmac(sha256, encodeUtf8(runId), encodeUtf8("users/createMany")));
}

function checkProvisionOptions(options: ProvisionOptions): ProvisionOptions {
  const { runId, context, concurrency, onProgress } = checkObject(
    "The options of provision",
    options,
    "an object with runId",
  );
  checkRunId(runId);
  optional<unknown>(checkText, "The context option", context);
  optional<unknown>((what, value) => checkInteger(what, value, 1, 1000), "The concurrency option", concurrency);
  optional(checkFunction, "The onProgress option", onProgress);
  return checkCallOptions(options, "runId", "context", "concurrency", "onProgress");
}

function checkRunId(runId: unknown): void {
  if (typeof runId === "string" && runId.length >= MIN_RUN_ID_LENGTH && isWellFormed(runId)) return;
  const message = `The runId option must be a text of at least ${MIN_RUN_ID_LENGTH} characters that nobody can guess. Use crypto.randomUUID().`;
  throw new ArgumentError("SECRET_TOO_SHORT", message, { expected: MIN_RUN_ID_LENGTH });
}

function checkIterable(users: unknown): void {
  const isIterable =
    typeof users === "object" && users !== null && (Symbol.iterator in users || Symbol.asyncIterator in users);
  if (!isIterable) throw invalidArgument("The list of users", "an array or an (async) iterable of users", users);
}
