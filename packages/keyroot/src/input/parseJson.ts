import { hasOwn } from "../engine/language.ts";
import { ArgumentError } from "../errors.ts";
import { describeValue, isObject, printable } from "./values.ts";
import { scanJson } from "./jsonLimits.ts";

/**
 * The characters that are allowed outside strings: punctuation, white space and digits. Values such as null, true, -1,
 * 1.5 and 1e3 contain other characters, so they are rejected.
 */
const ALLOWED = charTable('{}[]:,"0123456789 \t\n\r');
/**
 * Parses untrusted JSON that contains only objects, arrays, strings and whole numbers. Duplicate keys in an object are
 * rejected. `JSON.parse` keeps only the last of them, but other parsers keep the first one and would find different
 * data in the same file.
 * @param maxDepth the maximum nesting depth of objects and arrays
 * @throws ArgumentError JSON_INVALID, JSON_DUPLICATE_KEY, or an error of `scanJson`
 */
export function parseJson(text: string, maxDepth: number): unknown {
  if (typeof text !== "string") {
    throw new ArgumentError("JSON_INVALID", `JSON must be a string, but is ${describeValue(text)}.`);
  }
  const members = scanJson(text, maxDepth, 1, ALLOWED);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ArgumentError("JSON_INVALID", `The text is not JSON: ${printable((cause as Error).message)}.`, { cause });
  }
  const distinct = countMembers(value, maxDepth);
  if (distinct !== members) {
    const message = "The JSON has a repeated key.";
    throw new ArgumentError("JSON_DUPLICATE_KEY", message, { expected: members, actual: distinct });
  }
  return value;
}

/** Counts the members of all objects in a value with a nesting depth of at most `depth`. */
function countMembers(value: unknown, depth: number): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const child of value as unknown[]) count += countMembers(child, depth - 1);
  } else if (isObject(value)) {
    // A for-in loop creates no arrays, so it is faster than Object.keys. Old libraries add inherited members.
    for (const key in value) if (hasOwn(value, key)) count += depth > 1 ? 1 + countMembers(value[key], depth - 1) : 1;
  }
  return count;
}

function charTable(characters: string): Uint8Array {
  const table = new Uint8Array(128);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}
