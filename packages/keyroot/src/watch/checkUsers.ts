import { groupBy } from "../engine/groupBy.ts";
import { KeyrootError, VerificationError } from "../errors.ts";
import { ANY_KEY } from "../identity/compareKey.ts";
import type { UserID } from "../identity/userID.ts";
import type { MerkleFile } from "../merkle/fileOf.ts";
import type { KeyQuery } from "../verifier/options.ts";
import { readRoot } from "../verifier/readRoot.ts";
import type { VerifierConfig } from "../verifier/verifierConfig.ts";
import { shareEqualCalls } from "../verifier/shareEqualCalls.ts";
import { type VerifierServers, withServers } from "../verifier/servers.ts";
import { fetchBytes } from "../transport/fetchBytes.ts";
import { rpcCaller } from "../transport/jsonRpc.ts";
import { addPath } from "../transport/url.ts";
import { parseFile, verifyAnswers, verifyRecord } from "../verifier/verdict.ts";
import { applyAnswer, applyFile, applyOutage, isDue, type WatchedUserState } from "./watchedUser.ts";

/** A user to check, with the user's stored state. The check changes this state. */
export type UserToCheck = readonly [userID: UserID, user: WatchedUserState];

interface CheckOptions {
  /** The app's own user, whose file is always read whole. */
  own: UserID;
  /** The current time in ms since 1970. */
  time: number;
  recheckMs: number;
  signal: AbortSignal;
  /** The list to which the errors of requests are added. */
  errors: unknown[];
  /** Reads the users' answers instead, in a registry with accounts. @returns the users with answers */
  readAccounts?: ((users: readonly UserToCheck[], servers: VerifierServers) => Promise<UserToCheck[]>) | undefined;
}

/**
 * Reads the users' roots at a finalized block, reads the files that are due, and updates the users' states. If data is
 * unavailable, the states stay as they are, except that a root whose file cannot be read is recorded as an outage.
 *
 * A contact's file is read once for each root, because the file of a root never changes. After that, the file host is
 * only asked whether it still serves the file.
 * @returns the number of users whose roots could be read
 */
export async function checkUsers(
  config: VerifierConfig,
  users: readonly UserToCheck[],
  { own, time, recheckMs, signal, errors, readAccounts }: CheckOptions,
): Promise<number> {
  const attempt = async (work: () => Promise<void>, failed?: (code: string) => void) => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof KeyrootError)) throw error;
      errors.push(error);
      // An aborted request is no outage.
      if (error.code !== "ABORTED") failed?.(error.code);
    }
  };
  const answered: UserToCheck[] = [];
  const check = async (servers: VerifierServers) => {
    const readAnswer = async ([userID, user]: UserToCheck) => {
      const query = { ...config.registry, userID };
      const { answers, evidence } = await readRoot(query, { ...config.source, tag: "finalized" }, servers, config.now);
      applyAnswer(user, verifyAnswers(query, answers), evidence, time);
      answered.push([userID, user]);
    };
    if (readAccounts) answered.push(...(await readAccounts(users, servers)));
    else await Promise.all(users.map((user) => attempt(() => readAnswer(user))));
    const due = answered.filter(([, user]) => user.root !== undefined && isDue(user, time, recheckMs));
    // This background task reads files one at a time to save memory.
    for (const [root = "", readers] of groupBy(due, ([, { root }]) => root)) {
      const readFile = async () => {
        if (
          readers.every(([userID, user]) => userID !== own && user.publicKey) &&
          (await servesFile(config, servers, root))
        ) {
          for (const [, user] of readers) applyFile(user, String(user.publicKey), time);
          return;
        }
        const file = await parseFile(await servers.fetchFile(root), root, config.registry.keyType);
        for (const [userID, user] of readers) {
          const query = { ...config.registry, userID: user.slot?.id ?? userID, expectedPublicKey: ANY_KEY };
          applyFile(user, keyIn(file, root, query), time);
        }
      };
      await attempt(readFile, (code) => {
        for (const [, user] of readers) applyOutage(user, code, time);
      });
    }
  };
  const connect: typeof rpcCaller = (rpc, options) => shareEqualCalls(rpcCaller(rpc, options));
  await attempt(() => withServers(config.servers, check, { signal, connect }));
  return answered.length;
}

/**
 * Asks the file host whether it serves a file. If the result is false, the caller must read the file, because only the
 * error of the read shows what is wrong.
 */
async function servesFile(
  { servers: { network } }: VerifierConfig,
  { merkleUrl, http }: VerifierServers,
  root: string,
): Promise<boolean> {
  try {
    const url = addPath(merkleUrl, `${root}.json`);
    const { status, headers } = await fetchBytes(
      url,
      { method: "HEAD" },
      { ...http, maxBytes: network.limits.fileBytes },
    );
    return status === 200 && !headers.get("Content-Type")?.startsWith("text/html");
  } catch {
    return false;
  }
}

/** Returns the user's key in a file, in base64, or an empty text if the file has no valid record of the user. */
function keyIn(file: MerkleFile, root: string, query: KeyQuery): string {
  try {
    return verifyRecord(query, root, file).record.pubKey;
  } catch (error) {
    if (error instanceof VerificationError) return "";
    throw error;
  }
}
