import { describeValue, printable } from "./describeValue.ts";
import { ArgumentError } from "../errors.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;

/** The characters allowed outside strings: structure, white space and digits. This excludes null, true, -1, 1.5 and 1e3. */
const ALLOWED = charTable('{}[]:,"0123456789 \t\n\r');
const OPENING = charTable("{[");
const CLOSING = charTable("}]");

/** How many values a JSON text has, as its structure shows. */
export interface JsonCounts {
  /** Objects and arrays. */
  containers: number;
  /** Members of objects: colons. */
  members: number;
  /** One less than the items or members of each object and array. */
  commas: number;
}

/**
 * Parsing multiplies memory: an empty object takes 3 bytes of JSON and more than 60 bytes of memory. The limits of the counts
 * follow from the size of what the formats here contain, with room to spare: a node of a Merkle-tree file has more than 300
 * bytes, a log more than 400, a transaction hash 69. Each limit is a number, and one more for so many bytes.
 */
const LIMITS = { containers: [256, 96], members: [1024, 32], commas: [1024, 24] } as const;

/**
 * The first count that is too high for a text of this size, with its limit.
 * @param documents the number of documents in the text
 */
export function excessOf(
  counts: JsonCounts,
  length: number,
  documents = 1,
): { name: string; actual: number; limit: number } | undefined {
  for (const name of ["containers", "members", "commas"] as const) {
    const [base, bytesPer] = LIMITS[name];
    const limit = base * documents + Math.floor(length / bytesPer);
    if (counts[name] > limit) return { name, actual: counts[name], limit };
  }
  return undefined;
}

/**
 * Parses JSON from an untrusted source. Allows only objects, arrays, strings and whole numbers, and each key of an object
 * once: `JSON.parse` silently keeps the last of several equal keys, so two readers could see different data in one file.
 * @param maxDepth the maximum nesting of objects and arrays
 * @throws ArgumentError JSON_INVALID, JSON_TOO_DEEP, JSON_TOO_MANY_VALUES, JSON_DUPLICATE_KEY, JSON_FORBIDDEN_TOKEN
 */
export function parseJson(text: string, maxDepth: number): unknown {
  if (typeof text !== "string") {
    throw new ArgumentError("JSON_INVALID", `JSON must be a string, but is ${describeValue(text)}.`);
  }
  const counts = scan(text, maxDepth);
  const excess = excessOf(counts, text.length);
  if (excess !== undefined) {
    const { name, actual, limit } = excess;
    const message = `The JSON has ${actual} ${name}.`;
    throw new ArgumentError("JSON_TOO_MANY_VALUES", message, { expected: limit, actual });
  }
  const { members } = counts;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ArgumentError("JSON_INVALID", `The text is not JSON: ${printable((cause as Error).message)}.`, { cause });
  }
  const distinct = countMembers(value, maxDepth);
  if (distinct !== members) {
    const message = "An object in the JSON has a key twice.";
    throw new ArgumentError("JSON_DUPLICATE_KEY", message, { expected: members, actual: distinct });
  }
  return value;
}

/** Whether a parsed value is an object, and not an array or null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Counts the structure of a JSON text, outside strings. */
function scan(text: string, maxDepth: number): JsonCounts {
  const counts = { containers: 0, members: 0, commas: 0 };
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      i = endOfString(text, i);
    } else if (code === COLON) {
      counts.members++;
    } else if (ALLOWED[code] !== 1) {
      const message = `Only objects, arrays, strings and whole numbers are allowed, but character ${i} is U+${code.toString(16)}.`;
      throw new ArgumentError("JSON_FORBIDDEN_TOKEN", message, { actual: text.slice(i, i + 8) });
    } else if (code === COMMA) {
      counts.commas++;
    } else if (OPENING[code] === 1 && (counts.containers++, ++depth > maxDepth)) {
      const message = `Objects and arrays are nested more than ${maxDepth} deep at character ${i}.`;
      throw new ArgumentError("JSON_TOO_DEEP", message, { expected: maxDepth });
    } else if (CLOSING[code] === 1) {
      depth--;
    }
  }
  return counts;
}

/** The index of the quote that ends the string starting at `start`: the next one after an even number of backslashes. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((end - before) % 2 === 0) return end;
  }
  return text.length;
}

/** Counts the members of all objects in a value whose nesting is at most `depth`. */
function countMembers(value: unknown, depth: number): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const child of value as unknown[]) count += countMembers(child, depth - 1);
  } else if (isObject(value)) {
    // for-in creates no arrays, and takes a third of the time of Object.keys and Object.values.
    for (const key in value) count += depth > 1 ? 1 + countMembers(value[key], depth - 1) : 1;
  }
  return count;
}

function charTable(characters: string): Uint8Array {
  const table = new Uint8Array(128);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}
