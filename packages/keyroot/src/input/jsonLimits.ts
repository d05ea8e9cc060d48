import { ArgumentError } from "../errors.ts";
import { describeValue } from "./values.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;

/** The character codes of braces. A bracket has the same code as the corresponding brace without BRACE_BIT. */
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const BRACE_BIT = 0x20;

/**
 * The limits on the number of values in a JSON text. Parsed values can take much more memory than the text. For
 * example, an empty object takes 3 bytes of JSON, but more than 60 bytes of memory. Each new order of member names
 * takes up to 600 bytes, because engines store a hidden class for each order.
 *
 * A text may have `perDocument` values of a kind for each document, and in addition one value per `characters`
 * characters. For example, a document of 4,000 characters may have 1,024 + 100 members. Keyroot's formats need less:
 * - A Merkle-tree file has one object per 400 bytes, one member per 62 bytes, one comma per 57 bytes, and one new name
 *   per 268 bytes.
 * - A log has one member per 53 bytes.
 * - A block has one transaction hash per 69 bytes.
 */
const CONTAINERS = { perDocument: 256, characters: 96 };
const MEMBERS = { perDocument: 1024, characters: 40 };
const ORDERED = { perDocument: 256, characters: 256 };

/**
 * A random factor for the hashes of member names. Each process has a different factor, so attackers cannot prepare
 * names with equal hashes.
 */
const FACTOR = Math.floor(Math.random() * 2 ** 30) * 2 + 1;

/**
 * Parses JSON with values of any type. A text is rejected if its parsed values would take much more memory than the
 * text itself.
 * @param maxDepth the maximum nesting depth of objects and arrays
 * @param documents the number of documents in the text
 */
export function parseBoundedJson(text: string, maxDepth: number, documents: number): unknown {
  scanJson(text, maxDepth, documents);
  return JSON.parse(text);
}

/**
 * Rejects a JSON text whose parsed values would take much more memory than the text. Call this function before you
 * parse the text. If the text is not JSON, the result has no meaning.
 * @param maxDepth the maximum nesting depth of objects and arrays
 * @param documents the number of documents in the text
 * @param allowed a table with 1 for each ASCII code that is allowed outside strings. Default: any character is allowed
 * @returns the number of members of all objects
 */
export function scanJson(text: string, maxDepth: number, documents: number, allowed?: Uint8Array): number {
  const limitOf = ({ perDocument, characters }: typeof MEMBERS) => perDocument * documents + text.length / characters;
  const maxOrdered = limitOf(ORDERED);
  let [depth, containers, members, commas, ordered] = [0, 0, 0, 0, 0];
  let [nameStart, nameEnd] = [0, 0];
  /** A hash of the member names in order, and the number of members, for each open object. */
  const [namesAt, membersAt] = [new Int32Array(maxDepth + 1), new Int32Array(maxDepth + 1)];
  /** The orders of member names found so far, which have `ordered` names in total. */
  const orders = new Set<number>();
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      nameStart = i;
      nameEnd = i = endOfString(text, i);
    } else if (code === COLON) {
      members++;
      let names = namesAt[depth] ?? 0;
      let isEscaped = false;
      for (let j = nameStart; j < nameEnd; j++) {
        const character = text.charCodeAt(j);
        isEscaped ||= character === BACKSLASH;
        names = Math.imul(names ^ character, FACTOR);
      }
      namesAt[depth] = names;
      // If a member's name is a number below 2^32, engines store the member in a separate table of 300 bytes, so it
      // counts as four more names. No format of Keyroot has such names. Escaped names count in the same way, because
      // they may be numbers.
      if (isEscaped || (nameEnd - nameStart < 12 && text.charCodeAt(nameStart + 1) < COLON)) ordered += 4;
      membersAt[depth] = (membersAt[depth] ?? 0) + 1;
      // Each name is read only once, because a text that is not JSON may contain several colons after a long name.
      nameStart = nameEnd;
    } else if (code === COMMA) {
      commas++;
    } else if (allowed !== undefined && allowed[code] !== 1) {
      const actual = text.slice(i, i + 40);
      const message = `The JSON has a forbidden character at index ${i}: ${describeValue(actual)}.`;
      throw new ArgumentError("JSON_FORBIDDEN_TOKEN", message, { actual });
    } else if ((code | BRACE_BIT) === OPENING_BRACE) {
      containers++;
      if (++depth <= maxDepth) {
        namesAt[depth] = membersAt[depth] = 0;
        continue;
      }
      const message = `The JSON is nested more than ${maxDepth} levels deep.`;
      throw new ArgumentError("JSON_TOO_DEEP", message, { expected: maxDepth });
    } else if ((code | BRACE_BIT) === CLOSING_BRACE) {
      const order = (namesAt[depth] ?? 0) & 0x3fff_ffff;
      if (ordered <= maxOrdered && !orders.has(order)) {
        orders.add(order);
        ordered += membersAt[depth] ?? 0;
      }
      depth--;
    }
  }
  const maxMembers = limitOf(MEMBERS);
  const isSmall = containers <= limitOf(CONTAINERS) && members <= maxMembers && commas <= maxMembers;
  if (isSmall && ordered <= maxOrdered) return members;
  const actual = `${containers} containers, ${members} members, ${commas} commas`;
  const message = `The JSON has too many values: ${actual}.`;
  throw new ArgumentError("JSON_TOO_MANY_VALUES", message, { actual });
}

/** Returns the index of a string's closing quote. A quote after an odd number of backslashes is escaped. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((end - before) % 2 === 0) return end;
  }
  return text.length;
}
