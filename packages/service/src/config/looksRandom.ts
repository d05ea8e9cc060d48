/**
 * The minimum number of bits that a random token must have by the estimate. Random tokens of 32 hex digits are
 * estimated at 110 bits or more.
 */
const MIN_BITS = 80;
/** Minimum length of a repeated text, in characters. */
const REPEATED = 3;

/**
 * Returns whether a token could be random. It estimates the number of bits that an attacker must guess.
 *
 * Each character adds the binary logarithm of the number of different characters in the token. Characters that continue
 * a repetition ("abcabc") or a sequence ("aaaa", "4567") add nothing. Phrases of words are not detected.
 */
export function looksRandom(token: string): boolean {
  const alphabet = new Set(token).size;
  let surprising = 0;
  for (let i = 0; i < token.length; i++) if (!isPredictable(token, i)) surprising++;
  return surprising * Math.log2(alphabet) >= MIN_BITS;
}

function isPredictable(token: string, i: number): boolean {
  const step = token.charCodeAt(i) - token.charCodeAt(i - 1);
  const isSequence = Math.abs(step) <= 1 && step === token.charCodeAt(i - 1) - token.charCodeAt(i - 2);
  const last = token.slice(Math.max(0, i - REPEATED + 1), i + 1);
  return isSequence || (last.length === REPEATED && token.indexOf(last) < i - REPEATED + 1);
}
