import { describeValue, printable } from "./describeValue.ts";
import { ArgumentError } from "../errors.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** The characters allowed outside strings: structure, white space and digits. This excludes null, true, -1, 1.5 and 1e3. */
const ALLOWED = charTable('{}[]:,"0123456789 \t\n\r');
const OPENING = charTable("{[");
const CLOSING = charTable("}]");

/**
 * Parses JSON from an untrusted source. Allows only objects, arrays, strings and whole numbers, and each key of an object
 * once: `JSON.parse` silently keeps the last of several equal keys, so two readers could see different data in one file.
 * @param maxDepth the maximum nesting of objects and arrays
 * @throws ArgumentError JSON_INVALID, JSON_TOO_DEEP, JSON_DUPLICATE_KEY, JSON_FORBIDDEN_TOKEN
 */
export function parseJson(text: string, maxDepth: number): unknown {
  if (typeof text !== "string") {
    throw new ArgumentError("JSON_INVALID", `JSON must be a string, but is ${describeValue(text)}.`);
  }
  const members = scan(text, maxDepth);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ArgumentError("JSON_INVALID", `The text is not JSON: ${printable((cause as Error).message)}.`, { cause });
  }
  const distinct = countMembers(value, maxDepth);
  if (distinct !== members) {
    const message = `An object in the JSON has a key twice: of ${members} members, only ${distinct} have distinct keys.`;
    throw new ArgumentError("JSON_DUPLICATE_KEY", message, { expected: members, actual: distinct });
  }
  return value;
}

/** Whether a parsed value is an object, and not an array or null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Counts the members of all objects in a JSON text, which are its colons outside strings. */
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
      const message = `Only objects, arrays, strings and whole numbers are allowed, but character ${i} is U+${code.toString(16)}.`;
      throw new ArgumentError("JSON_FORBIDDEN_TOKEN", message, { actual: text.slice(i, i + 8) });
    } else if (OPENING[code] === 1 && ++depth > maxDepth) {
      const message = `Objects and arrays are nested more than ${maxDepth} deep at character ${i}.`;
      throw new ArgumentError("JSON_TOO_DEEP", message, { expected: maxDepth });
    } else if (CLOSING[code] === 1) {
      depth--;
    }
  }
  return members;
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
