/** The files in which version 0.1.0 kept a plan: `plan.jsonl`, and a line for each attempt in `sent.jsonl`. */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { ArgumentError, KeyrootError, TransportError, VerificationError } from "keyroot/errors";
import { syncFolder } from "../../disk/folder.ts";
import { removeDrafts } from "../../disk/writeFileAtomic.ts";
import { parsePlan, type Plan } from "../plan/plan.ts";
import { type Attempt, parseAttempt } from "./journal.ts";

const PLAN = "plan.jsonl";
const ATTEMPTS = "sent.jsonl";
export const OLD_FILES = [PLAN, ATTEMPTS];
const REMEDY =
  ` Restore it from a copy. If you have none, and no transaction of the registry's owner is pending, move ${PLAN} and ` +
  `${ATTEMPTS} away and publish again: users with a root are left out.`;

export interface OldJournal {
  plan: Plan | undefined;
  attempts: Attempt[];
}

/**
 * Reads what 0.1.0 left in a folder, which must be locked.
 * @returns undefined if it left nothing
 * @throws VerificationError PLAN_INVALID; ArgumentError FILE_UNREADABLE
 */
export async function readOldJournal(dir: string): Promise<OldJournal | undefined> {
  await removeDrafts(dir, (name) => name === PLAN);
  const plan = await readIfExists(join(dir, PLAN));
  const attempts = await readIfExists(join(dir, ATTEMPTS));
  if (plan === undefined && attempts === undefined) return undefined;
  return {
    plan: plan && parse(join(dir, PLAN), () => parsePlan(plan), REMEDY),
    attempts: attempts === undefined ? [] : parse(join(dir, ATTEMPTS), () => parseAttempts(attempts)),
  };
}

/** @param remedy what to do, unless the errors of `read` say it */
function parse<T>(path: string, read: () => T, remedy = ""): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof KeyrootError)) throw cause;
    const message = `${path}, of version 0.1.0, is damaged: ${cause.message}${remedy}`;
    throw new VerificationError("file", "PLAN_INVALID", message, { cause, actual: path });
  }
}

/** Removes what was read. @throws TransportError FILE_UNWRITABLE */
export async function removeOldJournal(dir: string): Promise<void> {
  try {
    for (const name of [ATTEMPTS, PLAN]) await rm(join(dir, name), { force: true });
    await syncFolder(dir);
  } catch (cause) {
    throw new TransportError("FILE_UNWRITABLE", `Cannot write ${dir}: ${(cause as Error).message}.`, { cause });
  }
}

/** A last line without a line feed was cut off by a crash: its transaction was never sent. */
function parseAttempts(bytes: Buffer): Attempt[] {
  return bytes
    .toString("latin1", 0, bytes.lastIndexOf("\n") + 1)
    .split("\n")
    .slice(0, -1)
    .map(parseAttempt);
}

async function readIfExists(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new ArgumentError("FILE_UNREADABLE", `Cannot read ${path}: ${(cause as Error).message}.`, { cause });
  }
}
