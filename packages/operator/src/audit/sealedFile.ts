import { hash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { ArgumentError, KeyrootError, TransportError } from "keyroot/errors";
import { writeWhole } from "../disk/writeWhole.ts";
import { parseDocument, ShapeChecker } from "keyroot/input";

/** What a state must have the form of. */
export const stateShape = new ShapeChecker((message, details) => new ArgumentError("STATE_INVALID", message, details));

const LIMITS = { maxBytes: 2 ** 28, maxDepth: 4 };

/**
 * Writes what a command remembers, whole, with the hash of it.
 * @throws TransportError FILE_UNWRITABLE
 */
export async function writeSealed(path: string, content: object): Promise<void> {
  const text = JSON.stringify(content);
  await writeWhole(path, JSON.stringify({ content, seal: hash("sha256", text) }));
}

/**
 * Reads what was written down, and has it taken apart.
 * @param read throws for what it cannot use
 * @returns undefined where there is no such file
 * @throws ArgumentError STATE_INVALID for anything else than what was written; TransportError FILE_UNREADABLE
 */
export async function readSealed<T>(path: string, read: (content: unknown) => T | Promise<T>): Promise<T | undefined> {
  try {
    const bytes = await readIfThere(path, LIMITS.maxBytes);
    if (bytes === undefined) return undefined;
    const { content, seal } = stateShape.object("it", parseDocument("It", bytes, LIMITS), ["content", "seal"]);
    if (hash("sha256", JSON.stringify(content)) !== seal) throw invalidState("It was changed since it was written.");
    return await read(content);
  } catch (cause) {
    if (!(cause instanceof KeyrootError) || cause instanceof TransportError) throw cause;
    throw invalidState(
      `The state ${path} cannot be relied on: ${cause.message} Begin anew with --fresh, or name another with --state.`,
      { cause },
    );
  }
}

/** @throws ArgumentError STATE_INVALID; TransportError FILE_UNREADABLE */
export async function readIfThere(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
  try {
    if ((await stat(path)).size > maxBytes) throw invalidState(`${path} has more than ${maxBytes} bytes.`);
    return await readFile(path);
  } catch (cause) {
    if (cause instanceof KeyrootError) throw cause;
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new TransportError("FILE_UNREADABLE", `${path} cannot be read: ${(cause as Error).message}.`, { cause });
  }
}

export function invalidState(message: string, options?: ErrorOptions): ArgumentError {
  return new ArgumentError("STATE_INVALID", message, options);
}
