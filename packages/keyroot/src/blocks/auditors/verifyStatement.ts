import { ed25519 } from "@noble/curves/ed25519.js";
import { VerificationError } from "../../errors.ts";
import { MAX_AHEAD_MS } from "../../ethereum/blockAge.ts";
import { ADDRESS } from "../../ethereum/rpcValues.ts";
import {
  checkChainId,
  checkInteger,
  checkNames,
  checkObject,
  checkText,
  invalidArgument,
} from "../../input/options.ts";
import { type AuditorKey, parseAuditorKey } from "./auditorKey.ts";
import { type Cosignature, cosignedMessage, type SignedNote } from "./signedNote.ts";
import { parseSignedStatement, type Statement } from "./statement.ts";

/** The auditors that the caller trusts. */
export interface AuditorOptions {
  /** The auditors' public keys in the form that `keyroot make-auditor-key` prints. */
  keys: readonly string[];
  /** The number of auditors who must have signed the same statement, from 1 to the number of keys. */
  threshold: number;
  /** Maximum age of a signature in ms. Default: 1 day. */
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

/**
 * The times at which each auditor signed a text, in seconds since 1970. The map's keys are the auditors' keys as text.
 */
export type Signers = ReadonlyMap<string, readonly number[]>;

const OPTIONS: (keyof AuditorOptions)[] = ["keys", "threshold", "maxAgeMs"];
const DEFAULT_MAX_AGE_MS = 86_400_000;
const MAX_KEYS = 64;

/**
 * Checks the `auditors` option, and parses the auditors' keys. @throws ArgumentError ARGUMENT_INVALID,
 * AUDITOR_KEY_INVALID
 */
export function parseAuditorOptions(options: AuditorOptions): AuditorPolicy {
  const { keys: texts, threshold, maxAgeMs = DEFAULT_MAX_AGE_MS } = checkObject("The auditors option", options);
  checkNames("The options in auditors", options, OPTIONS);
  if (!Array.isArray(texts) || texts.length > MAX_KEYS)
    throw invalidArgument("The auditors.keys option", `an array of at most ${MAX_KEYS} keys`, texts);
  const keys = [...(texts as unknown[])].map(parseAuditorKey);
  for (const part of ["name", "id"] as const)
    if (new Set(keys.map((key) => key[part])).size !== keys.length) throw notDistinct(texts);
  if (new Set(keys.map(({ publicKey }) => String(publicKey))).size !== keys.length) throw notDistinct(texts);
  checkInteger("The auditors.threshold option", threshold, 1, keys.length);
  checkInteger("The auditors.maxAgeMs option", maxAgeMs, 1);
  return { keys, threshold, maxAgeMs };
}

/**
 * Verifies a statement file, which may come from any source. Enough auditors must have signed the statement, and the
 * signatures must be recent.
 * @param source the received bytes
 * @param place the contract that the statement must describe
 * @param now the current time in ms since 1970
 * @throws VerificationError as `parseSignedStatement`; STATEMENT_INVALID, CHAIN_ID_MISMATCH, CONTRACT_MISMATCH,
 * STATEMENT_TOO_OLD, AUDITORS_NOT_REACHED, step "anchor"; ArgumentError as `parseAuditorOptions`
 * @example
 * const { block } = verifyStatement(bytes, { chainId: 1, contract }, { keys, threshold: 2 });
 * const verified = await verifyBundle(bundle, query, { pinned: block.hash });
 */
export function verifyStatement(
  source: Uint8Array,
  place: StatementPlace,
  auditors: AuditorOptions,
  now: number = Date.now(),
): VerifiedStatement {
  const signed = parseSignedStatement(source);
  const policy = parseAuditorOptions(auditors);
  checkPlace(signed.statement, place);
  return acceptStatement(signed.statement, verifySignatures(signed, policy.keys), policy, now);
}

/**
 * Checks that a statement or a list of auditors describes the expected contract.
 * @throws VerificationError CHAIN_ID_MISMATCH, CONTRACT_MISMATCH, step "anchor"; ArgumentError ARGUMENT_INVALID
 */
export function checkPlace(signed: Pick<Statement, "chainId" | "contract">, place: StatementPlace): void {
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
 * Verifies the signatures of known keys, and ignores all other signatures (C2SP signed-note, "Signatures").
 * @throws VerificationError STATEMENT_INVALID for a false signature with the name and id of a known key
 */
export function verifySignatures({ text, cosignatures }: SignedNote, keys: readonly AuditorKey[]): Signers {
  const signers = new Map<string, number[]>();
  for (const cosignature of cosignatures) {
    const [key] = keys.filter(({ name, id }) => name === cosignature.name && id === cosignature.keyID);
    if (key === undefined) continue;
    if (!verifyCosignature(text, cosignature, key))
      throw new VerificationError(
        "anchor",
        "STATEMENT_INVALID",
        `The signature of the auditor ${key.name} is false. Inform the auditor.`,
        {
          actual: key.text,
        },
      );
    signers.set(key.text, [...(signers.get(key.text) ?? []), cosignature.time]);
  }
  return signers;
}

/** Checks an auditor's signature of a text. Accepts only canonical encodings (RFC 8032, section 5.1.7). */
function verifyCosignature(text: string, { time, signature }: Cosignature, { publicKey }: AuditorKey): boolean {
  try {
    return ed25519.verify(signature, cosignedMessage(text, time), publicKey, { zip215: false });
  } catch {
    return false;
  }
}

/** Returns the keys of the auditors who signed between a given time and now. @param since in ms since 1970 */
export function signersSince(since: number, signers: Signers, now: number): string[] {
  const counts = (time: number) => time * 1000 >= since && time * 1000 <= now + MAX_AHEAD_MS;
  return [...signers].flatMap(([auditor, times]) => (times.some(counts) ? [auditor] : []));
}

/**
 * Checks that enough auditors signed a statement recently. Signatures with a time in the future do not count.
 * @throws VerificationError STATEMENT_TOO_OLD, AUDITORS_NOT_REACHED, step "anchor"
 */
export function acceptStatement(
  statement: Statement,
  signers: Signers,
  { threshold, keys, maxAgeMs }: AuditorPolicy,
  now: number,
): VerifiedStatement {
  const present = signersSince(-Infinity, signers, now);
  const fresh = signersSince(now - maxAgeMs, signers, now);
  if (fresh.length >= threshold) return { ...statement, auditors: fresh };
  const { number } = statement.block;
  if (present.length >= threshold) {
    const message = `The statement for block ${number} is too old. Fewer than ${threshold} auditors signed it in the last ${maxAgeMs / 1000} s. Wait for a newer statement, and inform the auditors.`;
    throw new VerificationError("anchor", "STATEMENT_TOO_OLD", message, { expected: threshold, actual: fresh.length });
  }
  const future = signers.size - present.length;
  const note = future > 0 ? ` ${future} of the signatures have a time in the future.` : "";
  const message = `Only ${present.length} of ${keys.length} auditors signed the statement for block ${number}. The statement needs ${threshold} signatures.${note} Get a statement with more signatures.`;
  throw new VerificationError("anchor", "AUDITORS_NOT_REACHED", message, { expected: threshold, actual: present });
}

function notDistinct(keys: readonly string[]): Error {
  return invalidArgument("The auditors.keys option", "keys of different auditors", keys);
}
