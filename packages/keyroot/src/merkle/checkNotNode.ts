import { VerificationError, type VerificationStep } from "../errors.ts";

const TWO_HASHES = /^[0-9a-f]{128}$/;

/**
 * Rejects a value of 128 lowercase hex digits. Such a value looks like two hashes, so its hash could also be the hash
 * of an inner node (docs/formats.md, "Merkle-tree file").
 */
export function checkNotNode(step: VerificationStep, path: string, value: string): void {
  if (!TWO_HASHES.test(value)) return;
  const message = `${path} consists of two hashes, so its leaf could be an inner node.`;
  throw new VerificationError(step, "VALUE_LOOKS_LIKE_NODE", message, { actual: value });
}
