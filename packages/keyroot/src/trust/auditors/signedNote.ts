import { concatBytes } from "@noble/hashes/utils.js";
import { base64 } from "../../bytes/base64.ts";
import { bytesToHex, hexToBytes } from "../../bytes/hex.ts";
import { VerificationError } from "../../errors.ts";
import { decodeDocument } from "../../input/untrusted.ts";
import { describeValue } from "../../input/values.ts";
import { checkBytes } from "../../input/options.ts";

/** A signature of a text, which is not verified yet. */
export interface NoteSignature {
  name: string;
  /** The id of the signer's key, 8 lowercase hex digits. */
  keyID: string;
  /** The Ed25519 signature of the text, 64 bytes. */
  signature: Uint8Array;
}

/** A text with signatures that are not verified yet (C2SP signed-note). */
export interface SignedNote {
  /** The signed text, which ends with a line break. */
  text: string;
  signatures: NoteSignature[];
}

const MAX_LINES = 64;
const LINE = /^— ([^ ]+) ([A-Za-z0-9+/]+={0,2})$/;
/** The size of a signature line's bytes: key id (4) and Ed25519 signature (64). */
const SIGNATURE_BYTES = 68;

/** Writes a signed file: the text, an empty line, and one line per signature. */
export function serializeSignedNote({ text, signatures }: SignedNote): string {
  const lines = signatures.map(
    ({ name, keyID, signature }) => `— ${name} ${base64.encode(concatBytes(hexToBytes(keyID), signature))}\n`,
  );
  return `${text}\n${lines.join("")}`;
}

/**
 * Parses a signed file. It may come from any source. Signatures that do not have the length of Ed25519 signatures are
 * ignored.
 * @param subject the name of the file, for error messages
 * @param source the received bytes
 * @throws VerificationError STATEMENT_INVALID, FILE_TOO_LARGE, FILE_NOT_UTF8, step "anchor" or "file"
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function parseSignedNote(subject: string, source: Uint8Array, maxBytes: number): SignedNote {
  const whole = decodeDocument(subject, checkBytes(subject, source), maxBytes);
  const end = whole.indexOf("\n\n");
  const lines = whole.slice(end + 2).split("\n");
  if (end === -1 || lines.pop() !== "")
    throw invalidNote(subject, "It must contain a text, an empty line and signature lines.");
  if (lines.length > MAX_LINES) throw invalidNote(subject, `It has more than ${MAX_LINES} signature lines.`);
  return { text: whole.slice(0, end + 1), signatures: lines.flatMap((line) => parseLine(subject, line)) };
}

/** Returns the signatures of these keys, one for each. Anyone can add signatures of other keys to a file. */
export function signaturesOf(
  keys: readonly { name: string; id: string }[],
  signatures: readonly NoteSignature[],
): NoteSignature[] {
  return keys.flatMap(({ name, id }) => signatures.filter((one) => one.name === name && one.keyID === id).slice(0, 1));
}

/** Makes the error for a malformed signed file or a false signature. */
export function invalidNote(subject: string, reason: string, actual?: unknown): VerificationError {
  return new VerificationError("anchor", "STATEMENT_INVALID", `${subject} is invalid. ${reason}`, { actual });
}

/** Parses a signature line. @returns an empty array if the signature is not as long as Ed25519's */
function parseLine(subject: string, line: string): NoteSignature[] {
  const [, name = "", encoded = ""] = LINE.exec(line) ?? [];
  if (name === "") throw invalidNote(subject, "A signature line is malformed.", describeValue(line));
  const bytes = base64.decode(encoded);
  if (bytes === undefined) throw invalidNote(subject, "A signature is not canonical base64.", describeValue(line));
  if (bytes.length !== SIGNATURE_BYTES) return [];
  return [{ name, keyID: bytesToHex(bytes.subarray(0, 4)), signature: bytes.slice(4) }];
}
