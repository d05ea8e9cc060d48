import { isUserID, userIDFromHex } from "keyroot/internal/identity";

/** Whether a text is empty or the beginning of a user id in zBase32. */
export function isBeginningOfUserID(text: string): boolean {
  const beginning = text.trim().toLowerCase();
  return beginning.length < 32 && isUserID(beginning.padEnd(32, "y"));
}

/**
 * Reads a user id in zBase32 or hex.
 * @param contract the registry's address, which is rejected. Like a user id, it has 40 hex digits
 * @returns the id in zBase32, or an error message
 */
export function readUserID(text: string, contract?: string): { userID: string } | { error: string } {
  const trimmed = text.trim();
  if (trimmed === "") return { error: "Enter a user id." };
  const lower = trimmed.toLowerCase();
  const isOne = (candidate: string): boolean => isUserID(candidate);
  if (isOne(lower)) return { userID: lower };
  const hex = lower.replace(/^0x/, "");
  if (hex === contract?.toLowerCase().replace(/^0x/, ""))
    return { error: "This is the address of the contract. Enter the id of a user." };
  if (/^[0-9a-f]{40}$/.test(hex)) return { userID: userIDFromHex(hex) };
  if (/^[0-9a-f]+$/.test(hex) && hex.length !== 32)
    return { error: `A user id in hex has 40 digits, but this has ${hex.length}.` };
  if (trimmed.length !== 32) return { error: `A user id has 32 characters, but this has ${trimmed.length}.` };
  const wrong = Array.from(lower).find((character) => !isOne(character.repeat(32)));
  return { error: `A user id cannot contain “${wrong ?? ""}”.` };
}
