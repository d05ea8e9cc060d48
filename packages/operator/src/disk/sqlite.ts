/**
 * Loads `node:sqlite` without the ExperimentalWarning that Node 22 prints to standard error (Node 24 does not).
 * Warnings are suppressed only while the module loads. It loads synchronously, so no other warning can be lost.
 */
function loadSqlite(): typeof import("node:sqlite") {
  const emitWarning = Object.getOwnPropertyDescriptor(process, "emitWarning") ?? {};
  Object.defineProperty(process, "emitWarning", { ...emitWarning, value: () => undefined });
  try {
    return process.getBuiltinModule("node:sqlite");
  } finally {
    Object.defineProperty(process, "emitWarning", emitWarning);
  }
}

export const { DatabaseSync } = loadSqlite();

/** The primary result codes of SQLite that this project uses (sqlite.org/rescode.html). */
export const SQLITE = { ERROR: 1, BUSY: 5, CORRUPT: 11, CONSTRAINT: 19, FORMAT: 24, NOTADB: 26 } as const;

/** Returns the primary result code of an SQLite error, or undefined for any other error. */
export function sqliteCode(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : undefined;
}
