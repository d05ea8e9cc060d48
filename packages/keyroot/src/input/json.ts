import { printable } from "./describeValue.ts";
import { ArgumentError } from "../errors.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** Outside of strings: structure, white space and the digits of whole numbers. So no null, true, -1, 1.5 or 1e3. */
const ALLOWED = charTable('{}[]:,"0123456789 \t\n\r');
const OPENING = charTable("{[");
const CLOSING = charTable("}]");

/**
 * Parses JSON from outside that consists of objects, arrays, strings and whole numbers. `JSON.parse` alone would keep
 * the last of several equal keys without a word: two readers could then see two files in one.
 * @param maxDepth how many objects and arrays may stand inside each other
 * @throws ArgumentError JSON_INVALID, JSON_TOO_DEEP, JSON_DUPLICATE_KEY, JSON_FORBIDDEN_TOKEN
 */
export function parseJson(text: string, maxDepth: number): unknown {
  const members = scan(text, maxDepth);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ArgumentError("JSON_INVALID", `This is not JSON: ${printable((cause as Error).message)}.`, { cause });
  }
  const kept = countMembers(value, maxDepth);
  if (kept !== members) {
    const message = `An object of this JSON has a key twice: ${members} members are written, ${kept} differ.`;
    throw new ArgumentError("JSON_DUPLICATE_KEY", message, { expected: members, actual: kept });
  }
  return value;
}

/** Tells whether a parsed value is an object, neither array nor null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Counts the members written in all objects of a JSON text: the colons outside of its strings. */
function scan(text: string, maxDepth: number): number {
  let members = 0;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      i = endOfString(text, i);
    } else if (code === COLON) {
      members++;
    } else if (ALLOWED[code] !== 1) {
      const message = `Only objects, arrays, strings and whole numbers may occur: character ${i} is U+${code.toString(16)}.`;
      throw new ArgumentError("JSON_FORBIDDEN_TOKEN", message, { actual: text.slice(i, i + 8) });
    } else if (OPENING[code] === 1 && ++depth > maxDepth) {
      const message = `More than ${maxDepth} objects and arrays stand inside each other at character ${i}.`;
      throw new ArgumentError("JSON_TOO_DEEP", message, { expected: maxDepth });
    } else if (CLOSING[code] === 1) {
      depth--;
    }
  }
  return members;
}

/** Where the string that begins at `start` ends: at the next quote after an even number of backslashes. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((end - before) % 2 === 0) return end;
  }
  return text.length;
}

/** Counts the members of all objects in a value, which stand `depth` deep at the most. */
function countMembers(value: unknown, depth: number): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const child of value as unknown[]) count += countMembers(child, depth - 1);
  } else if (isObject(value)) {
    // for-in makes no arrays: a third of the time of Object.keys and Object.values.
    for (const key in value) count += depth > 1 ? 1 + countMembers(value[key], depth - 1) : 1;
  }
  return count;
}

function charTable(characters: string): Uint8Array {
  const table = new Uint8Array(128);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}
