import { isEd25519Signature } from "../../identity/keyTypes/ed25519.ts";
import { encodeUtf8 } from "../../engine/utf8.ts";
import { VerificationError } from "../../errors.ts";
import { checkBlockAge } from "../../ethereum/blockAge.ts";
import { ADDRESS } from "../../ethereum/rpcValues.ts";
import { checkAllBuiltins } from "../../input/builtins.ts";
import {
  checkChainId,
  checkInteger,
  checkNames,
  checkObject,
  checkText,
  invalidArgument,
} from "../../input/options.ts";
import { type AuditorKey, parseAuditorKey } from "./auditorKey.ts";
import type { SignedNote } from "./signedNote.ts";
import { parseSignedStatement, type Statement } from "./statement.ts";

/** The auditors that the caller trusts. */
export interface AuditorOptions {
  /** The auditors' public keys in the form that `keyroot make-auditor-key` prints. */
  keys: readonly string[];
  /** The number of auditors who must have signed the same statement, from 1 to the number of keys. */
  threshold: number;
  /** Maximum age of the statement's block in ms. Default: 1 day. */
  maxAgeMs?: number | undefined;
}

export interface AuditorPolicy {
  keys: readonly AuditorKey[];
  threshold: number;
  maxAgeMs: number;
}

/** The contract that a statement must describe. */
export interface StatementPlace {
  /** The chain id of the contract (EIP-155), below 2^53. */
  chainId: number | bigint;
  /** The address of the contract: 0x and 40 hex digits. */
  contract: string;
}

/** A statement that enough auditors signed. */
export interface VerifiedStatement extends Statement {
  /** The keys of the auditors who signed the statement, as text. */
  auditors: readonly string[];
}

const OPTIONS: (keyof AuditorOptions)[] = ["keys", "threshold", "maxAgeMs"];
const DEFAULT_MAX_AGE_MS = 86_400_000;
const MAX_KEYS = 64;

/**
 * Checks the settings of `auditors`, and parses the auditors' keys.
 * @throws ArgumentError ARGUMENT_INVALID, AUDITOR_KEY_INVALID
 */
export function parseAuditorOptions(options: AuditorOptions): AuditorPolicy {
  checkAllBuiltins();
  checkNames("The options of auditors", options, OPTIONS);
  const { keys: texts, threshold, maxAgeMs = DEFAULT_MAX_AGE_MS } = options;
  if (!Array.isArray(texts) || texts.length > MAX_KEYS)
    throw invalidArgument("The keys option of auditors", `an array of at most ${MAX_KEYS} keys`, texts);
  const keys = [...(texts as unknown[])].map(parseAuditorKey);
  for (const part of ["name", "id"] as const)
    if (new Set(keys.map((key) => key[part])).size !== keys.length) throw notDistinct(texts);
  if (new Set(keys.map(({ publicKey }) => String(publicKey))).size !== keys.length) throw notDistinct(texts);
  checkInteger("The threshold option of auditors", threshold, 1, keys.length);
  checkInteger("The maxAgeMs option of auditors", maxAgeMs, 1);
  return { keys, threshold, maxAgeMs };
}

/**
 * Verifies an auditors' statement file. It may come from any source. Enough auditors must have signed it, and its block
 * must be recent.
 * @param source the received bytes
 * @param place the contract that the statement must describe
 * @param now the current time in ms since 1970
 * @throws VerificationError as `parseSignedStatement`; STATEMENT_INVALID, CHAIN_ID_MISMATCH, CONTRACT_MISMATCH,
 * STATEMENT_TOO_OLD, FUTURE_BLOCK, AUDITORS_NOT_REACHED, step "anchor"
 * @throws ArgumentError as `parseAuditorOptions`
 * @example
 * const { block } = verifyStatement(bytes, { chainId: 1, contract }, { keys, threshold: 2 });
 * const verified = await verifyBundle(bundle, { ...query, trust: pinnedBlock(block.hash) });
 */
export function verifyStatement(
  source: Uint8Array,
  place: StatementPlace,
  auditors: AuditorOptions,
  now: number = Date.now(),
): VerifiedStatement {
  return verifyByPolicy(source, place, parseAuditorOptions(auditors), now);
}

/** Verifies a statement as `verifyStatement` does, with options that were parsed before. @throws VerificationError */
export function verifyByPolicy(
  source: Uint8Array,
  place: StatementPlace,
  policy: AuditorPolicy,
  now: number = Date.now(),
): VerifiedStatement {
  const signed = parseSignedStatement(source);
  checkPlace(signed.statement, place);
  return acceptStatement(signed.statement, verifySignatures(signed, policy.keys), policy, now);
}

/** Checks that a statement describes the expected contract. */
export function checkPlace(signed: StatementPlace, place: StatementPlace): void {
  const { chainId, contract } = checkObject("The contract's place", place, "an object with chainId and contract");
  const address = checkText("The contract option", contract, "an address, 0x and 40 hex digits", ADDRESS);
  const parts = [
    ["CHAIN_ID_MISMATCH", "chain", signed.chainId, checkChainId("The chainId option", chainId)],
    ["CONTRACT_MISMATCH", "contract", signed.contract, address.toLowerCase()],
  ] as const;
  for (const [code, name, actual, expected] of parts) {
    if (actual === expected) continue;
    const message = `The auditors signed a statement for the ${name} ${actual} instead of ${expected}.`;
    throw new VerificationError("anchor", code, message, { expected, actual });
  }
}

/**
 * Verifies the signatures of the auditors with these keys, and ignores all other signatures (C2SP signed-note,
 * "Signatures").
 * @returns the keys of the auditors who signed, as text, in the order of the file
 * @throws VerificationError STATEMENT_INVALID if a signature has the name and id of a known key, but is false
 */
export function verifySignatures({ text, signatures }: SignedNote, keys: readonly AuditorKey[]): string[] {
  const signers = new Set<string>();
  for (const signature of signatures) {
    const [key] = keys.filter(({ name, id }) => name === signature.name && id === signature.keyID);
    if (key === undefined) continue;
    if (!isEd25519Signature(signature.signature, encodeUtf8(text), key.publicKey)) {
      const message = `The signature of the auditor ${key.name} is false. Inform the auditor.`;
      throw new VerificationError("anchor", "STATEMENT_INVALID", message, { actual: key.text });
    }
    signers.add(key.text);
  }
  return [...signers];
}

/**
 * Checks that enough auditors signed a statement, and that its block is recent.
 * @param signers the auditors' keys as text
 */
export function acceptStatement(
  statement: Statement,
  signers: readonly string[],
  { threshold, keys, maxAgeMs }: AuditorPolicy,
  now: number,
): VerifiedStatement {
  const { number, timestamp } = statement.block;
  if (signers.length < threshold) {
    const message = `Only ${signers.length} of ${keys.length} auditors signed the statement for block ${number}. The statement needs ${threshold} signatures. Get a statement with more signatures.`;
    throw new VerificationError("anchor", "AUDITORS_NOT_REACHED", message, { expected: threshold, actual: signers });
  }
  checkBlockAge(statement.block, undefined, now);
  if (now - timestamp * 1000 <= maxAgeMs) return { ...statement, auditors: signers };
  const message = `The statement for block ${number} is too old. The block's age is more than ${maxAgeMs / 1000} s. Wait for a newer statement, and inform the auditors.`;
  const details = { expected: maxAgeMs, actual: now - timestamp * 1000 };
  throw new VerificationError("anchor", "STATEMENT_TOO_OLD", message, details);
}

function notDistinct(keys: readonly string[]): Error {
  return invalidArgument("The keys option of auditors", "keys of different auditors", keys);
}
