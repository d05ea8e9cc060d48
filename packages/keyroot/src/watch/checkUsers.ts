import { groupBy } from "../engine/groupBy.ts";
import { KeyrootError, TransportError, VerificationError } from "../errors.ts";
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
import { monotonicNow } from "../transport/timeout.ts";
import { addPath } from "../transport/url.ts";
import { parseFile, verifyAnswers, verifyRecord } from "../verifier/verdict.ts";
import { applyAnswer, applyFile, applyOutage, isDue, type UserToCheck } from "./watchedUser.ts";
import { sortByTurn } from "./watchState.ts";

/** The minimum time in ms for a request. With less time, the file host would be blamed for a timeout. */
const MIN_REQUEST_MS = 10;

interface CheckOptions {
  /** The app's own user, whose file is always read whole. */
  own: UserID;
  /** The number of this round. */
  round: number;
  /** The current time in ms since 1970. */
  time: number;
  recheckMs: number;
  signal: AbortSignal;
  /** The list to which the errors of requests are added. */
  errors: unknown[];
  /** Reads the users' answers instead, in a registry with accounts. @returns the users with answers */
  readAccounts?: ((users: readonly UserToCheck[], forEach: StepRunner) => Promise<UserToCheck[]>) | undefined;
}

/**
 * Runs a step of a round: calls `read` for all items at the same time, within the time limit of a verification. An item
 * that fails, or that is not read in time, does not affect the others.
 */
export type StepRunner = <T>(
  items: readonly T[],
  read: (item: T, servers: VerifierServers) => Promise<void>,
) => Promise<void>;

/**
 * Reads the users' roots at a finalized block, then the files that are due, and updates the users' states. Each of
 * these steps has its own time limit. If data is unavailable, the states stay as they are, except that a root whose
 * file was not read is recorded as an outage, for whatever reason.
 *
 * A contact's file is read once for each root, because the file of a root never changes. After that, the file host is
 * only asked whether it still serves the file.
 * @returns the number of users whose roots could be read
 */
export async function checkUsers(
  config: VerifierConfig,
  users: readonly UserToCheck[],
  { own, round, time, recheckMs, signal, errors, readAccounts }: CheckOptions,
): Promise<number> {
  const attempt = async (work: () => Promise<unknown>, failed?: (code: string) => void) => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof KeyrootError)) throw error;
      // The watch has ended, or the step has reported that its time is over.
      if (error.code === "ABORTED") return;
      errors.push(error);
      failed?.(error.code);
    }
  };
  const connect: typeof rpcCaller = (rpc, options) => shareEqualCalls(rpcCaller(rpc, options));
  const runStep = (work: (servers: VerifierServers) => Promise<unknown>) =>
    attempt(() => withServers(config.servers, work, { signal, connect }));
  const forEach: StepRunner = (items, read) =>
    runStep((servers) => Promise.all(items.map((item) => attempt(() => read(item, servers)))));
  const answered: UserToCheck[] = [];
  const readAnswer = async ([userID, user]: UserToCheck, servers: VerifierServers) => {
    const query = { ...config.registry, userID };
    const { answers, evidence } = await readRoot(query, { ...config.source, tag: "finalized" }, servers, config.now);
    applyAnswer(user, verifyAnswers(query, answers), evidence, time);
    answered.push([userID, user]);
  };
  if (readAccounts) answered.push(...(await readAccounts(users, forEach)));
  else await forEach(users, readAnswer);

  const due = answered.filter(([, user]) => user.root !== undefined && isDue(user, time, recheckMs));
  const files = groupBy(sortByTurn(due, "fileTurn"), ([, { root = "" }]) => root);
  const [first = []] = files.values();
  for (const [userID, user] of due) {
    // With thousands of contacts, the file of the app's user would wait for days, so it is first in every second round
    // in which it is due.
    if (userID === own) user.fileTurn = 0;
    // An outage ends when the file is read.
    applyOutage(user, time);
  }
  // The first file has the whole time, so in the next round it comes last.
  for (const [, user] of first) user.fileTurn = round + 1;
  const readFiles = async (servers: VerifierServers) => {
    // This background task reads files one at a time to save memory.
    for (const [root, readers] of files) {
      if (monotonicNow() > servers.http.deadline - MIN_REQUEST_MS)
        throw new TransportError("TIMEOUT", "The round had no time left for all files.");
      const readFile = async () => {
        const isKnown = readers.every(([userID, user]) => userID !== own && user.publicKey);
        const file =
          isKnown && (await servesFile(config, servers, root))
            ? undefined
            : await parseFile(await servers.fetchFile(root), root, config.registry.keyType);
        for (const [userID, user] of readers) {
          const query = { ...config.registry, userID: user.slot?.id ?? userID, expectedPublicKey: ANY_KEY };
          applyFile(user, file ? keyIn(file, root, query) : String(user.publicKey), time);
        }
      };
      await attempt(readFile, (code) => {
        for (const [, { outage }] of readers) if (outage) outage.code = code;
      });
    }
  };
  await runStep(readFiles);
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
