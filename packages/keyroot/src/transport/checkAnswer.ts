import { TransportError } from "../errors.ts";
import { excessOf, type JsonCounts } from "../input/json.ts";

/** The bytes of JSON's structure (RFC 8259, section 2). UTF-8 has them nowhere else. */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;

/**
 * The deepest nesting of an answer: a batch, the answer, a block, its withdrawals, and room for extensions. Deeper answers
 * are refused before they are parsed.
 */
const MAX_DEPTH = 16;

/**
 * Refuses an answer that would take much more memory than its bytes, before it is parsed.
 * @param host the name of the other side, for the error message
 * @param calls how many calls the answer is for
 * @throws TransportError RPC_ANSWER_INVALID
 */
export function checkAnswer(host: string, bytes: Uint8Array, calls: number): void {
  const { depth, ...counts } = countJson(bytes);
  const excess = excessOf(counts, bytes.length, calls);
  if (depth <= MAX_DEPTH && excess === undefined) return;
  const reason = excess === undefined ? "is nested too deep" : `has too many ${excess.name}, ${excess.actual}`;
  const message = `The answer of ${host} ${reason} for ${bytes.length} bytes of JSON-RPC.`;
  throw new TransportError("RPC_ANSWER_INVALID", message, {
    expected: excess?.limit ?? MAX_DEPTH,
    actual: excess?.actual,
  });
}

/**
 * Counts the structure of JSON in UTF-8 without parsing it, to the first value that is nested too deep. The counts of a text
 * that is not JSON are meaningless.
 */
function countJson(bytes: Uint8Array): JsonCounts & { depth: number } {
  const counts = { depth: 0, containers: 0, members: 0, commas: 0 };
  let depth = 0;
  let inString = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === BACKSLASH) i++;
    else if (byte === QUOTE) inString = !inString;
    else if (inString || byte === undefined) continue;
    else if (byte === COMMA) counts.commas++;
    else if (byte === COLON) counts.members++;
    else if (byte === 0x5b || byte === 0x7b) {
      counts.containers++;
      if (++depth > counts.depth) counts.depth = depth;
      if (depth > MAX_DEPTH) break;
    } else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return counts;
}
