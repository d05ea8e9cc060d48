import { ANY_KEY, KeyrootError, oneEndpoint } from "keyroot";
import { accounts } from "keyroot/account";
import type { AuthorizedKey, VerifyAccountFile } from "../../../packages/keyroot/src/account/choice.ts";
import { makeVerifier } from "../../../packages/keyroot/src/createVerifier.ts";
import { ROOTS_READER_CODE } from "../../../packages/keyroot/src/registry/readMerkleTreeRoots.ts";
import { parseVerifierOptions } from "../../../packages/keyroot/src/verifier/verifierConfig.ts";
import { samplePublicKeys, sha256 } from "../samples.ts";
import { fileText } from "../data/vectors.ts";
import { plainFile } from "../data/plainFile.ts";
import {
  type PlainAccount,
  plainAccount,
  plainAccountFile,
  plainKey,
  plainSlot,
  plainStatement,
  zBase32,
} from "./plainAccount.ts";

/**
 * A reference model of accounts. It makes random histories of an owner, a hostile operator and a hostile file host, and
 * decides by the rules of docs/accounts.md which key a reader may accept. The model shares no code with the library:
 * texts, ids, signatures, records and trees come from the other files of this folder and from `plainFile`.
 */

/** The number of slots in a history. Slots above the highest one stay empty. */
const SLOTS = 6;
const CHAIN_ID = 31337;
const CONTRACT = `0x${"12".repeat(20)}`;
const WORD = 64;

/** What a slot holds: a key in base64, and the user id of the record. */
interface Filling {
  key: string;
  userID: string;
  root: string;
}

/** One history up to the moment of the verification, and what the host shows. */
interface History {
  account: PlainAccount;
  /** The slots' contents at the block that the reader sees. */
  slots: readonly (Filling | undefined)[];
  /** The keys that the owner authorized, by slot, including those after the block. */
  authorized: readonly (string | undefined)[];
  /** The keys among them that the owner authorized before the block. Only these can be newer than the reader's key. */
  authorizedBefore: readonly (string | undefined)[];
  /** The file that the app passes, and the file of the host. */
  given: string | undefined;
  hosted: string | undefined;
  /** The key that a correct verifier returns, or undefined if it accepts none. */
  expected: { number: number; key: string } | undefined;
}

/** What happened in a run of histories. */
export interface Outcome {
  accepted: number;
  refused: Record<string, number>;
  /** Keys that the owner did not authorize, older keys, and any other difference from the model. */
  unauthorized: number;
  outdated: number;
  different: number;
  /** The first difference, with its number, to repeat it. */
  first: string | undefined;
}

const PUBLIC_KEYS = samplePublicKeys.map((key) => Buffer.from(key).toString("base64"));
const KEY_IDS = new Map(
  samplePublicKeys.map((key) => [
    Buffer.from(key).toString("base64"),
    Buffer.from(sha256(key).slice(0, 32), "hex").toString("base64"),
  ]),
);

/** Accounts with 1 to 3 keys of both kinds and every threshold, which all histories share. */
const ACCOUNTS: readonly PlainAccount[] = [
  [["ed25519"], 1],
  [["ed25519", "ed25519"], 1],
  [["ed25519", "ed25519"], 2],
  [["ed25519", "p256"], 1],
  [["ed25519", "ed25519", "ed25519"], 2],
  [["p256", "ed25519", "ed25519"], 3],
].map(([types, threshold], n) => {
  const keys = (types as ("ed25519" | "p256")[]).map((type, i) => plainKey(type, `model ${n} ${i}`));
  return plainAccount(keys, threshold as number, { chainId: CHAIN_ID, contract: CONTRACT });
});
/** Accounts with the same keys for another chain and another contract. */
const ELSEWHERE = ACCOUNTS.map(({ keys, threshold }, i) =>
  plainAccount(keys, threshold, i % 2 ? { chainId: 1 } : { contract: `0x${"34".repeat(20)}` }),
);

const memo = <T>(make: (...args: (string | number)[]) => T) => {
  const known = new Map<string, T>();
  return (...args: (string | number)[]) => {
    const name = args.join(" ");
    const value = known.get(name) ?? make(...args);
    known.set(name, value);
    return value;
  };
};
const accountAt = (index: number, accounts = ACCOUNTS): PlainAccount => {
  const account = accounts[index % accounts.length];
  if (account === undefined) throw new RangeError("There are no accounts.");
  return account;
};
const slotOf = memo((account, number) => plainSlot(accountAt(Number(account)), Number(number)));
const statementOf = memo((account, number, key) =>
  plainStatement(accountAt(Number(account)), Number(number), key === "void" ? undefined : String(key)),
);
/** A statement with one signature less than the threshold, or with two signatures of one key. */
const weakStatementOf = memo((account, number, key, way) => {
  const { threshold } = accountAt(Number(account));
  const signers = Array.from({ length: threshold - 1 }, (_, i) => i + 1);
  if (way === 1) signers.push(threshold - 1);
  return plainStatement(accountAt(Number(account)), Number(number), String(key), signers);
});
const foreignStatementOf = memo((account, number, key) =>
  plainStatement(accountAt(Number(account), ELSEWHERE), Number(number), String(key)),
);
const fileOf = memo((userID, key) => {
  const value = JSON.stringify({ userID, pubKey: key, keyID: KEY_IDS.get(String(key)) });
  return { root: plainFile([value]).root, text: fileText([value]) };
});

/** A generator of random numbers (mulberry32), always the same for a seed. */
function generator(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

/** Makes a history. The operator fills slots in any order, and the host shows any of the statements. */
function makeHistory(seed: number): History {
  const random = generator(Math.imul(seed + 1, 0x9e3779b1));
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  const index = random(ACCOUNTS.length);
  const account = accountAt(index);
  const slots: (Filling | undefined)[] = new Array<undefined>(SLOTS).fill(undefined);
  const authorized: (string | undefined)[] = [];
  const voided: boolean[] = [];
  const takeBlock = () => ({ slots: [...slots], authorizedBefore: [...authorized] });
  const genesis = takeBlock();
  const blocks = [genesis];
  let next = 0;
  const steps = 2 + random(14);
  for (let step = 0; step < steps; step++) {
    if ((authorized.length === 0 || random(2) === 0) && next < SLOTS) {
      // The owner signs a number only if the slot before it has a root, and `void` only for a slot with another key.
      if (next > 0 && slots[next - 1] === undefined) continue;
      if (next > 0 && slots[next] !== undefined && random(2) === 0) voided[next] = true;
      else authorized[next] = pick(PUBLIC_KEYS);
      next++;
    } else {
      const number = random(4) > 0 ? Math.max(next - 1, 0) : random(Math.min(SLOTS, next + 2));
      const key = random(8) > 0 ? (authorized[number] ?? pick(PUBLIC_KEYS)) : pick(PUBLIC_KEYS);
      const userID = random(12) === 0 ? slotOf(index + 1, number) : slotOf(index, number);
      slots[number] ??= { key, userID, root: fileOf(userID, key).root };
      blocks.push(takeBlock());
    }
  }
  const { slots: seen, authorizedBefore } = random(3) > 0 ? (blocks.at(-1) ?? genesis) : pick(blocks);

  const keyNumbers = authorized.flatMap((key, number) => (key === undefined ? [] : number));
  const makeFile = (): { text: string; valid: Candidate | undefined } => {
    const number = random(3) > 0 ? (keyNumbers.at(-1) ?? 0) : random(SLOTS);
    const key = authorized[number];
    // A hostile host also shows false statements for the key that the operator published.
    const publishedOr = (other: string) => seen[number]?.key ?? other;
    const shownKey = key === undefined || random(12) === 0 ? publishedOr(pick(PUBLIC_KEYS)) : key;
    const isSigned = key === shownKey && random(10) > 0;
    let count = 0;
    while (voided[number + 1 + count] && random(8) > 0) count++;
    const forged = () =>
      pick([
        () => (account.threshold > 1 ? weakStatementOf(index, number, shownKey, random(2)) : ""),
        () => statementOf(index + 1, number, shownKey),
        () => statementOf(index, keyNumbers.at(-1) ?? 0, "void"),
        () => foreignStatementOf(index, number, shownKey),
      ])();
    const first = isSigned ? statementOf(index, number, shownKey) : forged();
    const voids = Array.from({ length: count }, (_, i) => statementOf(index, number + 1 + i, "void"));
    const skipped = count > 1 && random(6) === 0 ? voids.splice(random(count - 1), 1) : [];
    const text = plainAccountFile(account, [first, ...voids]);
    const valid = isSigned && skipped.length === 0 ? { number, key: shownKey, next: number + 1 + count } : undefined;
    const change = random(16);
    if (change === 0) return { text: mutate(text, random), valid: undefined };
    if (change === 1)
      return {
        text: plainAccountFile(pick([accountAt(index + 1), accountAt(index, ELSEWHERE)]), [first]),
        valid: undefined,
      };
    return { text, valid };
  };
  const given = random(3) > 0 ? makeFile() : undefined;
  const hosted = random(5) > 0 ? makeFile() : undefined;
  const verdict = (file: typeof given) => (file?.valid ? judge(file.valid, seen, index) : undefined);
  // The verifier asks the host only if the app has no file, or if it cannot show that its key is the newest.
  const first = given ?? hosted;
  const asksHost = given?.valid !== undefined && isUnproven(given.valid, seen, index);
  const expected = verdict(first) ?? (asksHost ? verdict(hosted) : undefined);
  return {
    ...{ account, slots: seen, authorized, authorizedBefore },
    ...{ given: given?.text, hosted: hosted?.text, expected },
  };
}

/** A file whose signatures are valid: the key, and the first slot after its statements. */
interface Candidate {
  number: number;
  key: string;
  next: number;
}

/** Decides by the rules whether a key is the newest one. */
function judge({ number, key, next }: Candidate, slots: History["slots"], index: number): History["expected"] {
  const slot = slots[number];
  return slot?.key === key && slot.userID === slotOf(index, number) && slots[next] === undefined
    ? { number, key }
    : undefined;
}

function isUnproven({ number, key, next }: Candidate, slots: History["slots"], index: number): boolean {
  const slot = slots[number];
  const isOther = slot !== undefined && slot.userID === slotOf(index, number) && slot.key !== key;
  return slots[next] !== undefined || isOther;
}

function mutate(text: string, random: (below: number) => number): string {
  const at = random(text.length);
  const put = ["", "0", "1", "A", "\n", " ", "\r\n", "=", "—"][random(9)] ?? "";
  const changed = text.slice(0, at) + put + text.slice(at + random(2));
  return changed === text ? `${text}\n` : changed;
}

/** The library's results by user and file. Signatures take milliseconds, and many histories show the same file. */
const known = new Map<string, () => AuthorizedKey>();

/** Changes the function that verifies account files, for deliberately wrong verifiers. */
export type Mutant = (verify: VerifyAccountFile, current: () => History) => VerifyAccountFile;

/** Runs histories through the library's verifier, and compares each verdict with the model's. */
export async function runHistories(count: number, seed: number, mutant: Mutant = (verify) => verify): Promise<Outcome> {
  let history = makeHistory(seed);
  const request = ({ method, params = [] }: { method: string; params?: readonly unknown[] }) =>
    Promise.resolve(method === "eth_chainId" ? "0x7a69" : answerCall(params[0] as EthCall, history));
  const fetchFile: typeof fetch = (input) => Promise.resolve(answerFile(input as string, history));
  const options = { chainId: CHAIN_ID, contract: CONTRACT, merkleUrl: "https://files.example", fetch: fetchFile };
  const config = parseVerifierOptions({ ...options, rpc: { request }, trust: oneEndpoint(), accounts: accounts() });
  const { verifyAccountFile } = config;
  if (verifyAccountFile === undefined) throw new Error("The accounts option has no effect.");
  const remembered: VerifyAccountFile = (source, userID, place) => {
    const name = `${userID} ${Buffer.from(source).toString("latin1")}`;
    const result = known.get(name) ?? remember(() => verifyAccountFile(source, userID, place));
    known.set(name, result);
    return result();
  };
  const verifier = makeVerifier({ ...config, verifyAccountFile: mutant(remembered, () => history) });
  const outcome: Outcome = { accepted: 0, refused: {}, unauthorized: 0, outdated: 0, different: 0, first: undefined };
  for (let i = 0; i < count; i++) {
    history = makeHistory(seed + i);
    const { account, slots, authorized, authorizedBefore, given, expected } = history;
    let actual: History["expected"];
    let code = "";
    try {
      const result = await verifier.verify(account.userID, { account: given, expectedPublicKey: ANY_KEY });
      actual = { number: result.account?.number ?? NaN, key: result.record.pubKey };
      outcome.accepted++;
    } catch (error) {
      if (!(error instanceof KeyrootError)) throw error;
      ({ code } = error);
      outcome.refused[code] = (outcome.refused[code] ?? 0) + 1;
    }
    if (actual !== undefined) {
      const { number, key } = actual;
      if (authorized[number] !== key) outcome.unauthorized++;
      const isNewer = (later: Filling | undefined, n: number) =>
        n > number &&
        later !== undefined &&
        later.key === authorizedBefore[n] &&
        later.userID === plainSlot(account, n);
      if (slots.some(isNewer)) outcome.outdated++;
    }
    if (actual?.number === expected?.number && actual?.key === expected?.key) continue;
    outcome.different++;
    outcome.first ??= `history ${seed + i}: ${code || JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`;
  }
  return outcome;
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

/** Answers the call of the reader contract for several ids, or `getBlockNumber`. */
function answerCall({ to, data }: EthCall, { account, slots }: History): string {
  if (to !== undefined) return `0x${"1".padStart(WORD, "0")}`;
  const words = data.slice(ROOTS_READER_CODE.length);
  const length = parseInt(words.slice(2 * WORD, 3 * WORD), 16);
  const ids = words.slice(3 * WORD, 3 * WORD + 2 * length).match(/.{40}/g) ?? [];
  const rootOf = (id: string) => slots.find((_, n) => plainSlot(account, n) === zBase32(id))?.root;
  return `0x${ids.map((id) => `0001${rootOf(id) ?? "0".repeat(WORD)}`).join("")}`;
}

function answerFile(url: string, { account, slots, hosted }: History): Response {
  if (url.endsWith(`/accounts/${account.hex}.txt`))
    return new Response(hosted, { status: hosted === undefined ? 404 : 200 });
  const slot = slots.find((one) => one !== undefined && url.endsWith(`/${one.root}.json`));
  return slot === undefined
    ? new Response(undefined, { status: 404 })
    : new Response(fileOf(slot.userID, slot.key).text);
}
