import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { pMapIterable } from "p-map";
import type { ShadowUser } from "../answers.ts";
import { type CallOptions, invalidOption } from "../options.ts";
import { abortedBy, unlessAborted } from "../unlessAborted.ts";
import { ArgumentError, KeyrootError, ServiceError } from "../../errors.ts";
import type { Region } from "../../identity/region.ts";
import { bytesToHex } from "../../bytes/platform.ts";
import type { PartnerClient } from "./partnerClient.ts";

/** A user to be created with a refresh token. */
export interface UserToProvision {
  /** 32 characters of zBase32, or 40 hex digits. */
  userID: string;
  region: Region;
  /** The device or purpose of the refresh token; default that of the run. */
  context?: string | undefined;
}

export interface ProvisionOptions extends CallOptions {
  /**
   * Names the run: at least 32 characters that nobody can guess, such as `crypto.randomUUID()`. Keep it beside the list,
   * and as secret as the tokens: a run with the same one makes no second tokens, but answers those that were made.
   */
  runId: string;
  /** The device or purpose of refresh tokens, where a user has none of their own. */
  context?: string | undefined;
  /** How many users are worked on at once. Default 8. */
  concurrency?: number | undefined;
  /** Is told after each user how many are done, and how many of these were refused. */
  onProgress?: ((done: number, refused: number) => void) | undefined;
}

/** What became of a user of the list: `user` is the very object that stood there. */
export type ProvisionOutcome<User extends UserToProvision = UserToProvision> =
  { user: User; shadowUser: ShadowUser; token: string } | { user: User; error: KeyrootError };

/** The shortest text that may be taken for unguessable: a UUID has 36 characters, 128 bits in hex have 32. */
const LEAST_RUN_ID = 32;

/** Refusals that are not about the user: they would meet all that follow, too. */
const NOT_THE_USERS = new Set([401, 429, 502, 503, 504]);

/**
 * Creates users with a refresh token each. Outcomes come as they are there, not in the order of the list; of the list no
 * more is held than is worked on, so it may have any length. Who stops taking outcomes stops the work.
 *
 * A run that ended early, by an error, by `signal` or with its process, is taken up by running the whole list again with
 * the same `runId`: within 24 hours of the first run each user has the same token as before, and no other.
 * @throws ArgumentError ARGUMENT_INVALID, SECRET_TOO_SHORT; what is not about one user, and would meet all others, too:
 * TransportError, and ServiceError with the status 401, 429, 502, 503 or 504; what the list itself throws
 */
export async function* provision<User extends UserToProvision>(
  client: PartnerClient,
  users: Iterable<User> | AsyncIterable<User>,
  options: ProvisionOptions,
): AsyncGenerator<ProvisionOutcome<User>, void, undefined> {
  const { concurrency = 8, onProgress, signal } = options;
  checkRunId(options.runId);
  if (!Number.isSafeInteger(concurrency) || concurrency < 1 || concurrency > 1000) {
    throw invalidOption("concurrency", "a whole number from 1 to 1,000", concurrency);
  }
  const ended = new AbortController();
  const within = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]);
  const outcomes = pMapIterable(users, (user) => provisionOne(client, user, options, within), {
    concurrency,
    preserveOrder: false,
  })[Symbol.asyncIterator]();
  try {
    let [done, refused] = [0, 0];
    for (;;) {
      // A list that never goes on, or never ends, does not keep a caller who gave up.
      const next = await unlessAborted(outcomes.next(), signal);
      if (next.done === true) return;
      done++;
      if ("error" in next.value) refused++;
      onProgress?.(done, refused);
      yield next.value;
    }
  } finally {
    ended.abort();
    void outcomes.return?.();
  }
}

async function provisionOne<User extends UserToProvision>(
  client: PartnerClient,
  user: User,
  { runId, context: shared }: ProvisionOptions,
  signal: AbortSignal,
): Promise<ProvisionOutcome<User>> {
  if (signal.aborted) throw abortedBy(signal);
  try {
    const { userID, region, context = shared } = user;
    if (context === undefined) throw invalidOption("context", "given for the run, or for each user", context);
    const shadowUser = await client.createUser(userID, region, { signal });
    const idempotencyKey = idempotencyKeyOf(runId, shadowUser.user_id, context);
    return {
      user,
      shadowUser,
      token: await client.createRefreshToken(shadowUser.user_id, context, { idempotencyKey, signal }),
    };
  } catch (error) {
    const isTheUsers =
      error instanceof ArgumentError || (error instanceof ServiceError && !NOT_THE_USERS.has(error.status));
    if (isTheUsers) return { user, error };
    throw error;
  }
}

/**
 * The same for the same run, user and context, another for any other; nobody without the run's id can tell it. 64 hex
 * digits.
 */
function idempotencyKeyOf(runId: string, userID: string, context: string): string {
  return bytesToHex(hmac(sha256, utf8ToBytes(runId), utf8ToBytes(JSON.stringify([userID, context]))));
}

function checkRunId(runId: unknown): void {
  if (typeof runId === "string" && runId.length >= LEAST_RUN_ID && runId.isWellFormed()) return;
  const message = `The option runId must be a text of ${LEAST_RUN_ID} characters or more that nobody can guess.`;
  throw new ArgumentError("SECRET_TOO_SHORT", message, { expected: LEAST_RUN_ID });
}
