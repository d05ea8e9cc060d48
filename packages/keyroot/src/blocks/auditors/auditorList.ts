import { KeyrootError, VerificationError } from "../../errors.ts";
import { describeValue } from "../../input/describeValue.ts";
import { checkSourceUrl } from "../../transport/url.ts";
import { invalidNote, parseSignedNote, type SignedNote } from "./signedNote.ts";
import {
  type AuditorPolicy,
  checkPlace,
  parseAuditorOptions,
  signersSince,
  type StatementPlace,
  verifySignatures,
} from "./verifyStatement.ts";

/** A list of auditors. A new list replaces the previous list's auditors. */
export interface AuditorList {
  chainId: number;
  /** The address of the contract: 0x and 40 lowercase hex digits. */
  contract: string;
  /** The number of the list. The first list, which replaces a registry's original auditors, has the number 1. */
  sequence: number;
  /** The number of auditors that must sign a statement or the next list. */
  threshold: number;
  /** The auditors' public keys as text, and the URLs of the folders with the auditors' statements. */
  auditors: readonly { key: string; url: string }[];
}

/** A list of auditors with signatures that are not verified yet. */
export interface SignedAuditorList extends SignedNote {
  list: AuditorList;
}

/** A list of auditors that enough previous auditors signed. */
export interface VerifiedAuditorList extends AuditorList {
  policy: AuditorPolicy;
}

/** Maximum size of an auditor list file in bytes. This size is enough for 64 auditors and 64 signatures. */
export const MAX_AUDITOR_LIST_BYTES = 2 ** 16;
const SUBJECT = "The list of auditors";
const ORIGIN = "github.com/keyroot/keyroot/auditors-v1";
const HEAD = /^github\.com\/keyroot\/keyroot\/auditors-v1\/(\d+)\/(0x[0-9a-f]{40})\nsequence (\d+)\nthreshold (\d+)\n/;
const AUDITOR = /^auditor (\S+) ([!-~]{1,500})$/;

/**
 * Returns the text of a list of auditors, which the previous auditors sign (docs/statement-formats.md, "List of
 * auditors").
 */
export function serializeAuditorList({ chainId, contract, sequence, threshold, auditors }: AuditorList): string {
  const lines = auditors.map(({ key, url }) => `auditor ${key} ${url}\n`);
  return `${ORIGIN}/${chainId}/${contract}\nsequence ${sequence}\nthreshold ${threshold}\n${lines.join("")}`;
}

/**
 * Parses the file of a list of auditors. The file may come from any source.
 * @param source the bytes as received
 * @throws VerificationError STATEMENT_INVALID, FILE_TOO_LARGE, FILE_NOT_UTF8, step "anchor" or "file"
 */
export function parseSignedAuditorList(source: Uint8Array): SignedAuditorList {
  const note = parseSignedNote(SUBJECT, source, MAX_AUDITOR_LIST_BYTES);
  return { ...note, list: parseText(note.text) };
}

/**
 * Verifies that enough previous auditors signed a list of auditors. The signatures may have any age.
 * @param signed the list, and its signatures from one or more files
 * @param replaced the previous auditors
 * @param now the current time in ms since 1970
 * @throws VerificationError STATEMENT_INVALID, CHAIN_ID_MISMATCH, CONTRACT_MISMATCH, AUDITORS_NOT_REACHED, step
 * "anchor"
 */
export function verifyAuditorList(
  signed: SignedAuditorList,
  place: StatementPlace,
  { keys, threshold, maxAgeMs }: AuditorPolicy,
  now: number,
): VerifiedAuditorList {
  const { list } = signed;
  checkPlace(list, place);
  const signers = signersSince(-Infinity, verifySignatures(signed, keys), now);
  if (signers.length >= threshold) return { ...list, policy: policyOf(list, maxAgeMs) };
  const message = `Only ${signers.length} of ${keys.length} auditors signed the auditor list ${list.sequence}. The list needs ${threshold} signatures. Get a list with more signatures.`;
  throw new VerificationError("anchor", "AUDITORS_NOT_REACHED", message, { expected: threshold, actual: signers });
}

/**
 * Returns the signers with keys in the current list. A revoked key no longer counts, even in stored statements and
 * cached evidence.
 * @param signers the auditors' public keys as text
 */
export function currentSigners(signers: readonly string[], { keys }: AuditorPolicy): string[] {
  return keys.flatMap(({ text }) => (signers.includes(text) ? [text] : []));
}

function parseText(text: string): AuditorList {
  const [head = "", chainId, contract = "", sequence, threshold] = HEAD.exec(text) ?? [];
  const auditors = text.slice(head.length, -1).split("\n").map(parseAuditor);
  const list = {
    chainId: Number(chainId),
    contract,
    sequence: Number(sequence),
    threshold: Number(threshold),
    auditors,
  };
  // Each list has only one valid text, so all auditors sign the same bytes.
  if (head === "" || !(list.sequence >= 1) || serializeAuditorList(list) !== text)
    throw invalidNote(SUBJECT, "Its text does not match the format in docs/statement-formats.md.", describeValue(text));
  try {
    policyOf(list, 1);
    for (const { url } of auditors) checkSourceUrl("url", url, false);
    return list;
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    throw invalidNote(SUBJECT, error.message);
  }
}

function policyOf({ auditors, threshold }: AuditorList, maxAgeMs: number): AuditorPolicy {
  return parseAuditorOptions({ keys: auditors.map(({ key }) => key), threshold, maxAgeMs });
}

function parseAuditor(line: string): AuditorList["auditors"][number] {
  const [, key = "", url = ""] = AUDITOR.exec(line) ?? [];
  return { key, url };
}
