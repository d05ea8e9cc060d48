/**
 * Loads `node:sqlite` without the ExperimentalWarning that Node 22 prints with it, to standard error, in every command.
 * (Node 24 prints none.) Other warnings are untouched: the module loads synchronously, so nothing else runs meanwhile.
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

/** The primary result codes of SQLite that this project handles (sqlite.org/rescode.html). */
export const SQLITE = { ERROR: 1, BUSY: 5, CORRUPT: 11, CONSTRAINT: 19, FORMAT: 24, NOTADB: 26 } as const;

/** The primary result code of an error that SQLite reported; undefined for any other error. */
export function sqliteCode(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : undefined;
}
