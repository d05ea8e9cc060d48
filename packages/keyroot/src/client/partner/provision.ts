import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { pMapIterable } from "p-map";
import type { ShadowUser } from "../answers.ts";
import { abortedError, rejectOnAbort } from "../abort.ts";
import { type CallOptions, checkCallOptions } from "../options.ts";
import { ArgumentError, KeyrootError, ServiceError } from "../../errors.ts";
import type { Region } from "../../identity/region.ts";
import { bytesToHex } from "../../bytes/platform.ts";
import { checkFunction, checkInteger, checkObject, checkText, invalidArgument, optional } from "../../input/options.ts";

/** A user to create with a refresh token. */
export interface UserToProvision {
  /** 32 characters of zBase32, or 40 hex digits. */
  userID: string;
  region: Region;
  /** The device or purpose of the refresh token. Default: the `context` of the run. */
  context?: string | undefined;
}

export interface ProvisionOptions extends CallOptions {
  /**
   * Identifies the run: at least 32 characters that cannot be guessed, such as `crypto.randomUUID()`. Store it with the
   * list and keep it as secret as the tokens: a run with the same id returns the same tokens instead of creating new
   * ones.
   */
  runId: string;
  /** The device or purpose of the refresh tokens of users without a `context` of their own. */
  context?: string | undefined;
  /** How many users to work on at once, 1 to 1,000. Default 8. */
  concurrency?: number | undefined;
  /** Called after each user with the number of users done, and how many of them failed. */
  onProgress?: ((done: number, failed: number) => void) | undefined;
}

/** The outcome for one user. `user` is the object from the list. */
export type ProvisionOutcome<User extends UserToProvision = UserToProvision> =
  { user: User; shadowUser: ShadowUser; token: string } | { user: User; error: KeyrootError };

/** The operations of the service that a run calls: `PartnerClient` has them. */
interface ProvisioningOperations {
  createUser(userID: string, region: Region, options: CallOptions): Promise<ShadowUser>;
  createRefreshToken(
    userID: string,
    context: string,
    options: CallOptions & { idempotencyKey: string },
  ): Promise<string>;
}

/** A UUID has 36 characters, 128 bits in hex have 32. */
const MIN_RUN_ID_LENGTH = 32;

/** HTTP statuses that do not depend on the user: every later request would get them, too. They end the run. */
const RUN_ENDING_STATUSES = new Set([401, 429, 502, 503, 504]);

/** Whether every later user would be rejected, too: by these statuses, or because the partner may create no more users. */
function endsRun({ status, code }: ServiceError): boolean {
  return RUN_ENDING_STATUSES.has(status) || code === "PARTNER_SUSPENDED" || code === "USER_LIMIT_REACHED";
}

/** As `PartnerClient.provision`, with the operations of any client. */
export async function* provision<User extends UserToProvision>(
  operations: ProvisioningOperations,
  users: Iterable<User> | AsyncIterable<User>,
  options: ProvisionOptions,
): AsyncGenerator<ProvisionOutcome<User>, void, undefined> {
  const { concurrency = 8, onProgress, signal } = checkProvisionOptions(options);
  checkIterable(users);
  const end = new AbortController();
  const runSignal = signal === undefined ? end.signal : AbortSignal.any([signal, end.signal]);
  const outcomes = pMapIterable(users, (user) => provisionUser(operations, user, options, runSignal), {
    concurrency,
    preserveOrder: false,
  })[Symbol.asyncIterator]();
  try {
    let [done, failed] = [0, 0];
    for (;;) {
      // The list may never return its next user: an aborted caller must not wait for it.
      const next = await rejectOnAbort(outcomes.next(), signal);
      if (next.done === true) return;
      done++;
      if ("error" in next.value) failed++;
      onProgress?.(done, failed);
      yield next.value;
    }
  } finally {
    end.abort();
    void outcomes.return?.();
  }
}

async function provisionUser<User extends UserToProvision>(
  operations: ProvisioningOperations,
  user: User,
  { runId, context: defaultContext }: ProvisionOptions,
  signal: AbortSignal,
): Promise<ProvisionOutcome<User>> {
  if (signal.aborted) throw abortedError(signal);
  try {
    const { userID, region, context = defaultContext } = checkObject("A user of the list", user);
    if (context === undefined) throw invalidArgument("The option context", "set for the run or for each user", context);
    const shadowUser = await operations.createUser(userID, region, { signal });
    const idempotencyKey = idempotencyKeyOf(runId, shadowUser.user_id, checkText("A user's context", context));
    return {
      user,
      shadowUser,
      token: await operations.createRefreshToken(shadowUser.user_id, context, { idempotencyKey, signal }),
    };
  } catch (error) {
    const isAboutUser = error instanceof ArgumentError || (error instanceof ServiceError && !endsRun(error));
    if (isAboutUser) return { user, error };
    throw error;
  }
}

/**
 * HMAC-SHA-256 of user and context under the run's id, 64 hex digits: the same in the same run, unguessable without its
 * id.
 */
function idempotencyKeyOf(runId: string, userID: string, context: string): string {
  return bytesToHex(hmac(sha256, utf8ToBytes(runId), utf8ToBytes(JSON.stringify([userID, context]))));
}

/** @throws ArgumentError ARGUMENT_INVALID, SECRET_TOO_SHORT */
function checkProvisionOptions(options: ProvisionOptions): ProvisionOptions {
  const { runId, context, concurrency, onProgress } = checkObject(
    "The options of provision",
    options,
    "an object with runId",
  );
  checkRunId(runId);
  optional<unknown>(checkText, "The option context", context);
  optional<unknown>((what, value) => checkInteger(what, value, 1, 1000), "The option concurrency", concurrency);
  optional(checkFunction, "The option onProgress", onProgress);
  return checkCallOptions(options, "runId", "context", "concurrency", "onProgress");
}

function checkRunId(runId: unknown): void {
  if (typeof runId === "string" && runId.length >= MIN_RUN_ID_LENGTH && runId.isWellFormed()) return;
  const message = `The option runId must be a text of ${MIN_RUN_ID_LENGTH} characters or more that cannot be guessed, such as crypto.randomUUID().`;
  throw new ArgumentError("SECRET_TOO_SHORT", message, { expected: MIN_RUN_ID_LENGTH });
}

function checkIterable(users: unknown): void {
  const isIterable =
    typeof users === "object" && users !== null && (Symbol.iterator in users || Symbol.asyncIterator in users);
  if (!isIterable) throw invalidArgument("The list of users", "an array or an (async) iterable of users", users);
}
