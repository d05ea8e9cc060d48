import { ANY_KEY, KeyrootError, oneEndpoint } from "keyroot";
import { accounts } from "keyroot/account";
import type { AuthorizedKey, VerifyAccountFile } from "../../../packages/keyroot/src/account/choice.ts";
import { makeVerifier } from "../../../packages/keyroot/src/createVerifier.ts";
import { ROOTS_READER_CODE } from "../../../packages/keyroot/src/registry/readMerkleTreeRoots.ts";
import { parseVerifierOptions, type VerifierConfig } from "../../../packages/keyroot/src/verifier/verifierConfig.ts";
import {
  CHAIN_ID,
  CONTRACT,
  fileWithRoot,
  type Filling,
  type History,
  makeHistory,
  type Reading,
} from "./accountModel.ts";
import { plainSlot, zBase32 } from "./plainAccount.ts";

/** Runs the histories of the reference model through the library's verifier. */

/** What happened in a run of histories. */
export interface Outcome {
  accepted: number;
  refused: Record<string, number>;
  /** Keys that the owner did not authorize, older keys, and any other difference from the model. */
  unauthorized: number;
  outdated: number;
  different: number;
  /** The first defect, with its number, to repeat it. */
  first: string | undefined;
}

/** Changes the function that verifies account files, for deliberately wrong verifiers. */
export type Mutant = (verify: VerifyAccountFile, current: () => Reading) => VerifyAccountFile;

const WORD = 64;
/** Maximum number of remembered results. */
const MAX_KNOWN = 50_000;
/** The library's results by user and file. Signatures take milliseconds, and many histories show the same file. */
const known = new Map<string, () => AuthorizedKey>();

/** Runs single verifications, and compares each verdict with the model's. */
export async function runHistories(count: number, seed: number, mutant?: Mutant): Promise<Outcome> {
  const reader = makeReader(mutant);
  const outcome = noOutcome();
  for (let i = 0; i < count; i++) {
    const history = makeHistory(seed + i);
    const { reading, expected } = history;
    const { actual, code } = await reader.read(history, reading, undefined);
    countResult(outcome, history, reader.block(), actual, code);
    if (actual?.number === expected?.number && actual?.key === expected?.key) continue;
    outcome.different++;
    outcome.first ??= `history ${seed + i}: ${code || JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`;
  }
  return outcome;
}

/**
 * Runs verifications one after another, with a cache and a thief of the recovery keys who cannot publish. If a
 * verification returns an older key than an earlier one did, that is a defect.
 */
export async function runCachedHistories(count: number, seed: number): Promise<Outcome> {
  const reader = makeReader();
  const outcome = noOutcome();
  for (let i = 0; i < count; i++) {
    const history = makeHistory(seed + i);
    const store = new Map<string, string>();
    let highest = -1;
    for (const reading of history.later) {
      const { actual, code } = await reader.read(history, reading, store);
      const before = outcome.unauthorized + outcome.outdated;
      // The thief's files make keys valid again that the owner replaced, but only for readers without a cache.
      countResult(outcome, history, undefined, actual, code);
      if (actual !== undefined && actual.number < highest) outcome.outdated++;
      highest = Math.max(highest, actual?.number ?? -1);
      if (outcome.unauthorized + outcome.outdated > before)
        outcome.first ??= `history ${seed + i}: ${JSON.stringify(actual)} after key ${highest}`;
    }
  }
  return outcome;
}

function noOutcome(): Outcome {
  return { accepted: 0, refused: {}, unauthorized: 0, outdated: 0, different: 0, first: undefined };
}

/** @param block the block at which the key was accepted, or undefined to compare it with no later key */
function countResult(
  outcome: Outcome,
  { account, authorized }: History,
  block: Reading["blocks"][0] | undefined,
  actual: History["expected"],
  code: string,
): void {
  if (actual === undefined) {
    outcome.refused[code] = (outcome.refused[code] ?? 0) + 1;
    return;
  }
  outcome.accepted++;
  const { number, key } = actual;
  if (authorized[number] !== key) outcome.unauthorized++;
  const isNewer = (later: Filling | undefined, n: number) =>
    n > number &&
    later !== undefined &&
    later.key === block?.authorizedBefore[n] &&
    later.userID === plainSlot(account, n);
  if (block?.slots.some(isNewer)) outcome.outdated++;
}

interface Reader {
  /** Verifies the user's key. @returns the key, or the code of the error */
  read: (
    history: History,
    reading: Reading,
    store: Map<string, string> | undefined,
  ) => Promise<{ actual: History["expected"]; code: string }>;
  /** Returns the block at which the last verification read the roots last. */
  block: () => Reading["blocks"][0] | undefined;
}

function makeReader(mutant: Mutant = (verify) => verify): Reader {
  let [history, reading] = [makeHistory(0), makeHistory(0).reading];
  let calls = 0;
  const block = () => reading.blocks[Math.min(Math.max(calls, 1), reading.blocks.length) - 1];
  const answer = (call: EthCall) => {
    if (call.to !== undefined) return `0x${"1".padStart(WORD, "0")}`;
    calls++;
    return answerCall(call, history, block()?.slots ?? []);
  };
  const request = ({ method, params = [] }: { method: string; params?: readonly unknown[] }) =>
    Promise.resolve(method === "eth_chainId" ? "0x7a69" : answer(params[0] as EthCall));
  const fetchFile: typeof fetch = (input) => Promise.resolve(answerFile(input as string, history, reading));
  const options = { chainId: CHAIN_ID, contract: CONTRACT, merkleUrl: "https://files.example", fetch: fetchFile };
  const config = parseVerifierOptions({ ...options, rpc: { request }, trust: oneEndpoint(), accounts: accounts() });
  const { verifyAccountFile } = config;
  if (verifyAccountFile === undefined) throw new Error("The accounts option has no effect.");
  const remembered: VerifyAccountFile = (source, userID, place) => {
    const name = `${userID} ${Buffer.from(source).toString("latin1")}`;
    const result = known.get(name) ?? remember(() => verifyAccountFile(source, userID, place));
    if (known.size > MAX_KNOWN) known.clear();
    known.set(name, result);
    return result();
  };
  const used: VerifierConfig = { ...config, verifyAccountFile: mutant(remembered, () => reading) };
  const plain = makeVerifier(used);
  return {
    block,
    async read(newHistory, newReading, store) {
      [history, reading, calls] = [newHistory, newReading, 0];
      const verifier =
        store === undefined ? plain : makeVerifier({ ...used, cache: { store, maxOfflineMs: undefined } });
      const { userID } = history.account;
      try {
        const result = await verifier.verify(userID, { account: reading.given, expectedPublicKey: ANY_KEY });
        return { actual: { number: result.account?.number ?? NaN, key: result.record.pubKey }, code: "" };
      } catch (error) {
        if (!(error instanceof KeyrootError)) throw error;
        return { actual: undefined, code: error.code };
      }
    },
  };
}

function remember<T>(make: () => T): () => T {
  try {
    const value = make();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

interface EthCall {
  to?: string;
  data: string;
}

/** Answers the call of the reader contract for several ids. */
function answerCall({ data }: EthCall, { account }: History, slots: readonly (Filling | undefined)[]): string {
  const words = data.slice(ROOTS_READER_CODE.length);
  const length = parseInt(words.slice(2 * WORD, 3 * WORD), 16);
  const ids = words.slice(3 * WORD, 3 * WORD + 2 * length).match(/.{40}/g) ?? [];
  const rootOf = (id: string) => slots.find((_, n) => plainSlot(account, n) === zBase32(id))?.root;
  return `0x${ids.map((id) => `0001${rootOf(id) ?? "0".repeat(WORD)}`).join("")}`;
}

function answerFile(url: string, history: History, { hosted, next }: Reading): Response {
  const { hex } = history.account;
  const [, root = ""] = /\/([0-9a-f]{64})\.json$/.exec(url) ?? [];
  const text = url.endsWith(`/accounts/${hex}.txt`)
    ? hosted
    : url.endsWith(`/accounts/${hex}.next.txt`)
      ? next
      : fileWithRoot(history, root);
  return new Response(text, { status: text === undefined ? 404 : 200 });
}
