import fc from "fast-check";

/**
 * One change to a document. Its numbers are taken modulo the number of choices, so every change fits every document.
 */
export interface Change {
  kind: (typeof KINDS)[number];
  /** The index of the first unit to change. */
  at: number;
  /** The number of units to change. */
  length: number;
  /** The index of a special value, or of a unit in the other document. */
  choice: number;
}

const KINDS = ["remove", "repeat", "swap", "special", "insert", "splice", "flip", "grow"] as const;

/** The maximum number of units that one change removes, repeats or copies. */
const MAX_UNITS = 64;
/** The numbers of repetitions that the change `grow` can use. */
const REPETITIONS = [2, 3, 17, 66, 1025];
/**
 * The maximum size in bytes of a document with a repeated part: twice the size of a bundle. Larger documents take a
 * long time and find nothing new.
 */
const MAX_BYTES = 2 ** 17;

/** Matches one token of a document in JSON, hex or note format: a string, a bracket, a number or white space. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+|\s+|"/gsu;
const SPECIAL_TOKENS = [
  ...["", '""', '"__proto__"', '"constructor"', "null", "true", "{}", "[]", "[[", "0", "-0", "-1", "1e400", "1E2"],
  ...["9007199254740993", "00", '"0x"', '"\\u0000"', '"\\ud800"', '"é"', "\n\n", "\u2014", "=", "+", "/", " "],
];
const SPECIAL_BYTES = [
  ...["00", "7f", "80", "81", "b7", "b8", "bf", "c0", "f7", "f8", "ff", "b800", "f800", "b90001", "bfffffffffffffffff"],
  ...["ffffffff", "00000080", "04000000", "fcffffff", "ffffffffffffffff", "0100000000000000", "".padEnd(64, "0")],
].map((hex) => Buffer.from(hex, "hex"));

/** A list of changes to a document. fast-check reports the shortest list that shows a defect. */
export const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.record({ kind: fc.constantFrom(...KINDS), at: fc.nat(), length: fc.nat(), choice: fc.nat() }),
  { minLength: 1, maxLength: 5 },
);

/** Applies changes to a document. Text is changed token by token, and other data is changed byte by byte. */
export function mutate(document: Uint8Array, other: Uint8Array, list: readonly Change[]): Uint8Array {
  let units = toUnits(document);
  const foreign = toUnits(other);
  const special = units.isText ? SPECIAL_TOKENS.map((token) => Buffer.from(token)) : SPECIAL_BYTES;
  for (const { kind, at, length, choice } of list) {
    const { parts } = units;
    const start = parts.length === 0 ? 0 : at % parts.length;
    const end = Math.min(parts.length, start + 1 + (length % MAX_UNITS));
    const chosen = parts.slice(start, end);
    const replace = (from: number, to: number, by: readonly Buffer[]) => {
      units = { ...units, parts: [...parts.slice(0, from), ...by, ...parts.slice(to)] };
    };
    if (kind === "remove") replace(start, end, []);
    else if (kind === "repeat") replace(end, end, chosen);
    else if (kind === "swap") replace(start, end, chosen.toReversed());
    else if (kind === "special") {
      const value = special[choice % special.length] ?? Buffer.alloc(0);
      replace(start, start + (units.isText ? 1 : value.length), [value]);
    } else if (kind === "insert") {
      replace(start, start, [special[choice % special.length] ?? Buffer.alloc(0)]);
    } else if (kind === "splice") {
      const from = foreign.parts.length === 0 ? 0 : choice % foreign.parts.length;
      replace(start, end, foreign.parts.slice(from, from + chosen.length));
    } else if (kind === "flip") replace(start, start + 1, [flipped(parts[start], choice)]);
    else replace(end, end, grown(chosen, choice));
  }
  return new Uint8Array(Buffer.concat(units.parts));
}

interface Units {
  isText: boolean;
  parts: readonly Buffer[];
}

/** The units of documents. The cache saves time, because most documents are changed many times. */
const knownUnits = new WeakMap<Uint8Array, Units>();

function toUnits(bytes: Uint8Array): Units {
  const known = knownUnits.get(bytes);
  if (known !== undefined) return known;
  const buffer = Buffer.from(bytes);
  const text = buffer.toString();
  const isText = Buffer.from(text).equals(buffer) && text.length > 0;
  const parts = isText
    ? (text.match(TOKEN) ?? []).map((token) => Buffer.from(token))
    : [...buffer].map((byte) => Buffer.of(byte));
  const units = { isText, parts };
  knownUnits.set(bytes, units);
  return units;
}

function flipped(unit: Buffer | undefined, choice: number): Buffer {
  const changed = Buffer.from(unit ?? Buffer.of(0));
  const bit = choice % Math.max(1, changed.length * 8);
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return changed;
}

function grown(units: readonly Buffer[], choice: number): Buffer[] {
  const one = Buffer.concat(units);
  const times = REPETITIONS[choice % REPETITIONS.length] ?? 2;
  return one.length * times > MAX_BYTES ? [] : Array.from({ length: times }, () => one);
}
