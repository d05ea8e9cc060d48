import { rm } from "node:fs/promises";
import { ArgumentError, KeyrootError, TransportError } from "keyroot/errors";
import { ShapeChecker } from "keyroot/input";
import { checkOptions } from "../input/checkOptions.ts";
import { lockFile } from "../disk/lock.ts";
import { checksumOf, kindOfFile, type Row, StateDatabase, type StateFormat } from "../disk/stateDatabase.ts";

/** The contract and chain that a state is about. */
export interface AuditTarget {
  /** The chain id (EIP-155). */
  chainId: number;
  /** The hash of the chain's first block, 0x and 64 hex digits: local chains share their chain id. */
  genesisHash: string;
  /** 0x and 40 hex digits. */
  contract: string;
}

/** Options of the functions that open a saved state. */
export interface OpenStateOptions {
  /** Starts a new state in the place of the file, whatever it holds. Default: false. */
  fresh?: boolean | undefined;
  /** The path of a state of version 0.1.0, imported if there is no file at the state's own path. */
  importFrom?: string | undefined;
}

/** How one kind of state is created, imported and read. */
interface StateKind<State> {
  format: StateFormat;
  /** Inserts the rows of a new state. */
  fill: (database: StateDatabase) => void;
  /** Reads a state of version 0.1.0. @returns what inserts its rows, and the paths of its files */
  readOld: (path: string) => Promise<{ fill: (database: StateDatabase) => void; paths: string[] }>;
  /** Checks and reads the rows. */
  load: (database: StateDatabase) => State;
}

/** Checks the form of what a state holds. */
export const stateShape = new ShapeChecker((message, details) => new ArgumentError("STATE_INVALID", message, details));

export function invalidState(message: string, options?: ErrorOptions): ArgumentError {
  return new ArgumentError("STATE_INVALID", message, options);
}

/**
 * Opens the file of a state and locks it, by a file `.lock` beside it. Creates the state if there is none.
 * @throws ArgumentError STATE_LOCKED, STATE_INVALID; TransportError FILE_UNREADABLE, FILE_UNWRITABLE
 */
export async function openStateFile<State>(
  path: string,
  { format, fill, readOld, load }: StateKind<State>,
  options: OpenStateOptions,
): Promise<State> {
  const { fresh = false, importFrom } = checkOptions("The state's options", options, { fresh: true, importFrom: true });
  const lock = await lockFile(`${path}.lock`);
  if (lock === undefined) {
    const message = `Another process uses the state ${path}: wait until it ends, or name another file with --state.`;
    throw new ArgumentError("STATE_LOCKED", message, { actual: path });
  }
  let database: StateDatabase | undefined;
  try {
    const kind = await kindOfFile(path);
    const oldPath = kind === "other" ? path : kind === "missing" ? importFrom : undefined;
    const hasOld = oldPath !== undefined && (await kindOfFile(oldPath)) === "other";
    if (!fresh && hasOld) {
      const old = await readOld(oldPath);
      await StateDatabase.create(path, format, old.fill);
      // The new file may have the name of the old one.
      for (const oldFile of old.paths) if (oldFile !== path) await remove(oldFile);
    } else if (fresh || kind === "missing") await StateDatabase.create(path, format, fill);
    database = await StateDatabase.open(path, format, lock);
    return load(database);
  } catch (cause) {
    database?.[Symbol.dispose]();
    lock[Symbol.dispose]();
    if (!(cause instanceof KeyrootError) || cause instanceof TransportError) throw cause;
    const message = `The state ${path} cannot be used: ${cause.message} Start a new one with --fresh, or name another file with --state.`;
    throw invalidState(message, { cause });
  }
}

async function remove(path: string): Promise<void> {
  try {
    await rm(path, { force: true });
  } catch (cause) {
    throw new TransportError("FILE_UNWRITABLE", `Cannot remove ${path}: ${(cause as Error).message}.`, { cause });
  }
}

/** The format of a state with these tables. @param applicationId as `StateFormat` */
export function stateFormat(applicationId: number, tables: readonly string[], maxBytes: number): StateFormat {
  return { applicationId, version: 1, tables, maxBytes, invalid: invalidState };
}

/**
 * A row whose last column is the checksum of the others, without it.
 * @throws ArgumentError STATE_INVALID
 */
export function checkedRow(name: string, row: Row | undefined): Row {
  const { checksum, ...values } = row ?? {};
  if (checksumOf(Object.values(values)) !== checksum) throw invalidState(`${name} was changed or is missing.`);
  return values;
}

/** @throws ArgumentError STATE_INVALID if a state is about another contract or chain */
export function checkTarget(actual: Record<keyof AuditTarget, unknown>, expected: AuditTarget): void {
  const keys = ["chainId", "genesisHash", "contract"] as const;
  if (keys.every((key) => actual[key] === expected[key])) return;
  throw invalidState(`It is about another contract or chain than ${expected.contract} on chain ${expected.chainId}.`);
}

/** A target as states hold it: in lower case. */
export function normalizeTarget({ chainId, genesisHash, contract }: AuditTarget): AuditTarget {
  return { chainId, genesisHash: genesisHash.toLowerCase(), contract: contract.toLowerCase() };
}
