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
} from "./plainAccount.ts";

/**
 * A reference model of accounts. It creates random histories of an owner, a hostile operator and a hostile file host,
 * and decides by the rules of docs/accounts.md which key a reader may accept. It shares no code with the library:
 * texts, ids, signatures, records and trees come from the other files of this folder and from `plainFile`.
 */

/** The number of slots in a history. Slots above the highest one stay empty. */
const SLOTS = 6;
export const CHAIN_ID = 31337;
export const CONTRACT = `0x${"12".repeat(20)}`;

/** What a slot holds: a key in base64, and the user id of the record. */
export interface Filling {
  key: string;
  userID: string;
  root: string;
}

type Slots = readonly (Filling | undefined)[];

/** What a reader sees at one block. */
interface Block {
  slots: Slots;
  /** The keys that the owner authorized before the block. Only these can be newer than the reader's key. */
  authorizedBefore: readonly (string | undefined)[];
}

/** One verification, and what the hosts show. */
export interface Reading {
  /** The blocks that the endpoint shows one after another. A balanced endpoint can go back to an older one. */
  blocks: readonly [Block, ...Block[]];
  /** The file that the app passes, the file of the host, and its file of the newest change. */
  given: string | undefined;
  hosted: string | undefined;
  next: string | undefined;
}

/** A history of an account. */
export interface History {
  account: PlainAccount;
  /** The keys that the owner authorized, by slot, including those after the block. */
  authorized: readonly (string | undefined)[];
  /** The contents of all slots in the end. */
  slots: Slots;
  reading: Reading;
  /** The key that a correct verifier returns, or undefined if it accepts none. */
  expected: { number: number; key: string } | undefined;
  /** Readings at later and later blocks, in which a thief of the recovery keys also signs. The thief cannot publish. */
  later: readonly Reading[];
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

/** Creates a history. The operator fills slots in any order, and the host shows any of the statements. */
export function makeHistory(seed: number): History {
  const random = generator(Math.imul(seed + 1, 0x9e3779b1));
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  const index = random(ACCOUNTS.length);
  const account = accountAt(index);
  const slots: (Filling | undefined)[] = new Array<undefined>(SLOTS).fill(undefined);
  const authorized: (string | undefined)[] = [];
  const voided: boolean[] = [];
  const takeBlock = (): Block => ({ slots: [...slots], authorizedBefore: [...authorized] });
  const blocks: [Block, ...Block[]] = [takeBlock()];
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
  const newest = blocks.at(-1) ?? blocks[0];
  const pickBlock = () => (random(3) > 0 ? newest : pick(blocks));
  const seen = pickBlock();

  const keyNumbers = authorized.flatMap((key, number) => (key === undefined ? [] : number));
  const makeFile = (): ShownFile => {
    const number = random(3) > 0 ? (keyNumbers.at(-1) ?? 0) : random(SLOTS);
    const key = authorized[number];
    // A hostile host also shows false statements for the key that the operator published.
    const publishedOr = (other: string) => seen.slots[number]?.key ?? other;
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
  const maybe = (chance: number) => (random(chance) > 0 ? makeFile() : undefined);
  const files = { given: maybe(3), next: random(3) === 0 ? makeFile() : undefined, hosted: maybe(5) };
  const seenBlocks = [seen, pickBlock(), pickBlock()] as const;

  /** A file of a thief with all recovery keys, who makes an older key valid again. */
  const makeFork = (): string => {
    const number = keyNumbers[random(Math.max(keyNumbers.length, 1))];
    const key = number === undefined ? undefined : authorized[number];
    if (number === undefined || key === undefined) return "";
    const voids = Array.from({ length: 1 + random(3) }, (_, i) => statementOf(index, number + 1 + i, "void"));
    return plainAccountFile(account, [statementOf(index, number, key), ...voids]);
  };
  const anyFile = () => (random(4) === 0 ? undefined : random(3) === 0 ? makeFork() : makeFile().text);
  const later = blocks.slice(-4).map((block) => ({
    ...{ blocks: [block] as const, given: anyFile(), hosted: anyFile(), next: anyFile() },
  }));
  return {
    ...{ account, authorized, slots, later, expected: expect(files, seenBlocks, index) },
    reading: {
      ...{ blocks: seenBlocks, given: files.given?.text, hosted: files.hosted?.text, next: files.next?.text },
    },
  };
}

/** A file, and what it authorizes if its signatures are valid. */
interface ShownFile {
  text: string;
  valid: Candidate | undefined;
}

/**
 * Decides which key a verifier returns. It reads newer files only while the chain shows that its key may not be the
 * newest: the app's file, then the host's file of the newest change, and then the file that everyone reads.
 */
function expect(
  { given, next, hosted }: Record<"given" | "next" | "hosted", ShownFile | undefined>,
  blocks: Reading["blocks"],
  index: number,
): History["expected"] {
  /**
   * A verification reads the same two slots only once, so it sees the same block if another file has the same slots.
   */
  const seen = new Map<string, Block>();
  for (const file of [given ?? hosted, next, hosted]) {
    if (file === undefined) {
      if (seen.size === 0) return undefined;
      continue;
    }
    const { valid } = file;
    if (valid === undefined) return undefined;
    const slots = `${valid.number} ${valid.next}`;
    const block = seen.get(slots) ?? blocks[seen.size] ?? blocks[0];
    seen.set(slots, block);
    const verdict = judge(valid, block.slots, index);
    if (verdict !== undefined || !isUnproven(valid, block.slots, index)) return verdict;
  }
  return undefined;
}

/** A file whose signatures are valid: the key, and the first slot after its statements. */
interface Candidate {
  number: number;
  key: string;
  next: number;
}

/** Decides by the rules whether a key is the newest one. */
function judge({ number, key, next }: Candidate, slots: Slots, index: number): History["expected"] {
  const slot = slots[number];
  return slot?.key === key && slot.userID === slotOf(index, number) && slots[next] === undefined
    ? { number, key }
    : undefined;
}

function isUnproven({ number, key, next }: Candidate, slots: Slots, index: number): boolean {
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

/** The text of the Merkle-tree file with this root. */
export function fileWithRoot({ slots }: History, root: string): string | undefined {
  const slot = slots.find((one) => one?.root === root);
  return slot && fileOf(slot.userID, slot.key).text;
}
