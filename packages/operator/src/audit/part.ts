import { rootOfFileName } from "keyroot/merkle";
import { describeValue } from "keyroot/input";
import { ArgumentError } from "../errors.ts";

/** One part of an audit that is divided over machines. */
export interface AuditPart {
  /** From 1 to `count`. */
  number: number;
  /** The number of parts: 1 to `MAX_PARTS`. */
  count: number;
}

/** Maximum number of parts. A merge opens all their states. */
export const MAX_PARTS = 256;

/** Returns a valid part. @throws ArgumentError ARGUMENT_INVALID */
export function checkPart(part: AuditPart): AuditPart {
  const { number, count } = part;
  const fits = Number.isSafeInteger(number) && Number.isSafeInteger(count) && count <= MAX_PARTS;
  if (fits && number >= 1 && number <= count) return part;
  throw invalidPart(`${String(number)}/${String(count)}`);
}

/** Parses `3/16`. @throws ArgumentError ARGUMENT_INVALID */
export function parsePart(text: string): AuditPart {
  const [, number, count] = /^(\d{1,3})\/(\d{1,3})$/.exec(text) ?? [];
  if (number === undefined || count === undefined) throw invalidPart(text);
  return checkPart({ number: Number(number), count: Number(count) });
}

/** Whether a part audits a root. Every root belongs to one part, by its first 32 bits. @param root 64 hex digits */
export function isInPart(root: string, { number, count }: AuditPart): boolean {
  return parseInt(root.slice(0, 8), 16) % count === number - 1;
}

/** Whether a part audits a name in the folder that belongs to no root on the chain. The first part has those without a root. */
export function isStrayInPart(name: string, part: AuditPart): boolean {
  const root = rootOfFileName(name);
  return root === undefined ? part.number === 1 : isInPart(root, part);
}

function invalidPart(text: string): ArgumentError {
  const message = `A part must be like 3/16, with a number from 1 to the number of parts, which is at most ${MAX_PARTS}, not ${describeValue(text)}.`;
  return new ArgumentError("ARGUMENT_INVALID", message, { actual: text });
}
