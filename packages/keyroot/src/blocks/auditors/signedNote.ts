import { concatBytes } from "@noble/hashes/utils.js";
import { base64 } from "../../bytes/base64.ts";
import { bytesToHex, hexToBytes } from "../../bytes/hex.ts";
import { encodeUtf8 } from "../../engine/utf8.ts";
import { VerificationError } from "../../errors.ts";
import { decodeDocument } from "../../input/untrusted.ts";
import { describeValue } from "../../input/describeValue.ts";
import { checkBytes } from "../../input/options.ts";
import type { AuditorKey } from "./auditorKey.ts";

/** An auditor's signature of a text, which is not verified yet. */
export interface Cosignature {
  name: string;
  /** The id of the auditor's key, 8 lowercase hex digits. */
  keyID: string;
  /** The time of the signature, in seconds since 1970. */
  time: number;
  /** The Ed25519 signature, 64 bytes. */
  signature: Uint8Array;
}

/** A text with signatures that are not verified yet. */
export interface SignedNote {
  /** The signed text, which ends with a line break. */
  text: string;
  cosignatures: Cosignature[];
}

const MAX_LINES = 64;
const LINE = /^— ([^ ]+) ([A-Za-z0-9+/]+={0,2})$/;
/** The size of a cosignature in bytes: key id (4), time (8) and signature (64). See C2SP tlog-cosignature, "Format". */
const COSIGNATURE_BYTES = 76;

/**
 * Returns the bytes that an auditor signs (C2SP tlog-cosignature, "Ed25519 signed message"). @param time in seconds
 * since 1970
 */
export function cosignedMessage(text: string, time: number): Uint8Array {
  return encodeUtf8(`cosignature/v1\ntime ${time}\n${text}`);
}

/** Writes a signed file: the text, an empty line, and one line per signature (C2SP signed-note). */
export function serializeSignedNote({ text, cosignatures }: SignedNote): string {
  const lines = cosignatures.map(({ name, keyID, time, signature }) => {
    const stamp = hexToBytes(time.toString(16).padStart(16, "0"));
    return `— ${name} ${base64.encode(concatBytes(hexToBytes(keyID), stamp, signature))}\n`;
  });
  return `${text}\n${lines.join("")}`;
}

/**
 * Parses a signed file, which may come from any source. Ignores signatures that are not timestamped Ed25519
 * cosignatures.
 * @param subject the name of the file, for error messages
 * @param source the received bytes
 * @throws VerificationError STATEMENT_INVALID, FILE_TOO_LARGE, FILE_NOT_UTF8, step "anchor" or "file"; ArgumentError
 * ARGUMENT_INVALID
 */
export function parseSignedNote(subject: string, source: Uint8Array, maxBytes: number): SignedNote {
  const whole = decodeDocument(subject, checkBytes(subject, source), maxBytes);
  const end = whole.indexOf("\n\n");
  const lines = whole.slice(end + 2).split("\n");
  if (end === -1 || lines.pop() !== "")
    throw invalidNote(subject, "It must contain a text, an empty line and signature lines.");
  if (lines.length > MAX_LINES) throw invalidNote(subject, `It has more than ${MAX_LINES} signature lines.`);
  return { text: whole.slice(0, end + 1), cosignatures: lines.flatMap((line) => parseLine(subject, line)) };
}

/**
 * Returns the newest signature of each known key. Omits signatures of unknown keys, which could make a merged file too
 * large.
 */
export function onePerKey(cosignatures: readonly Cosignature[], keys: readonly AuditorKey[]): Cosignature[] {
  return keys.flatMap(({ name, id }) =>
    cosignatures
      .filter((one) => one.name === name && one.keyID === id)
      .sort((a, b) => b.time - a.time)
      .slice(0, 1),
  );
}

/** Makes the error for a malformed signed file or a false signature. */
export function invalidNote(subject: string, reason: string, actual?: unknown): VerificationError {
  return new VerificationError("anchor", "STATEMENT_INVALID", `${subject} is invalid. ${reason}`, { actual });
}

/** Parses a signature line. @returns an empty array if the signature is not a timestamped Ed25519 cosignature */
function parseLine(subject: string, line: string): Cosignature[] {
  const [, name = "", encoded = ""] = LINE.exec(line) ?? [];
  if (name === "") throw invalidNote(subject, "A signature line is malformed.", describeValue(line));
  const bytes = base64.decode(encoded);
  if (bytes === undefined) throw invalidNote(subject, "A signature is not canonical base64.", describeValue(line));
  if (bytes.length !== COSIGNATURE_BYTES) return [];
  const time = parseInt(bytesToHex(bytes.subarray(4, 12)), 16);
  if (!Number.isSafeInteger(time)) throw invalidNote(subject, "A signature's time is too large.", describeValue(line));
  return [{ name, keyID: bytesToHex(bytes.subarray(0, 4)), time, signature: bytes.slice(12) }];
}
