import { rootOfFileName } from "keyroot/internal/merkle";
import { describeValue } from "keyroot/internal/input";
import { ArgumentError } from "../errors.ts";

/** One part of an audit that several machines share. */
export interface AuditPart {
  /** The number of this part, from 1 to `count`. */
  number: number;
  /** The number of parts, from 1 to `MAX_PARTS`. */
  count: number;
}

/** The maximum number of parts. A merge opens the states of all parts at the same time. */
export const MAX_PARTS = 256;

/** Returns the part if it is valid. @throws ArgumentError ARGUMENT_INVALID */
export function checkPart(part: AuditPart): AuditPart {
  const { number, count } = part;
  const fits = Number.isSafeInteger(number) && Number.isSafeInteger(count) && count <= MAX_PARTS;
  if (fits && number >= 1 && number <= count) return part;
  throw invalidPart(`${String(number)}/${String(count)}`);
}

/**
 * Parses a part in the format `NUMBER/PARTS`, such as `3/16` for part 3 of 16.
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function parsePart(text: string): AuditPart {
  const [, number, count] = /^(\d{1,3})\/(\d{1,3})$/.exec(text) ?? [];
  if (number === undefined || count === undefined) throw invalidPart(text);
  return checkPart({ number: Number(number), count: Number(count) });
}

/** Returns true if a root belongs to a part. The first 32 bits of the root select the part. @param root 64 hex digits */
export function isInPart(root: string, { number, count }: AuditPart): boolean {
  return parseInt(root.slice(0, 8), 16) % count === number - 1;
}

/** Returns true if a part audits a stray name in the folder. Part 1 audits the names that contain no root. */
export function isStrayInPart(name: string, part: AuditPart): boolean {
  const root = rootOfFileName(name);
  return root === undefined ? part.number === 1 : isInPart(root, part);
}

function invalidPart(text: string): ArgumentError {
  const message = `A part must be NUMBER/PARTS, such as 3/16, not ${describeValue(text)}. PARTS is at most ${MAX_PARTS}. NUMBER is 1 to PARTS.`;
  return new ArgumentError("ARGUMENT_INVALID", message, { actual: text });
}
