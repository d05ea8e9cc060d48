import { KeyrootError } from "keyroot/errors";
import { isUserID, type UserID } from "keyroot/identity";
import { describeValue, ShapeChecker } from "keyroot/input";
import { ArgumentError, TransportError } from "../errors.ts";
import { checkOptions } from "../shared/checkOptions.ts";
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
  /** Replaces the file by a new state. Default: false. */
  fresh?: boolean | undefined;
}

/** Functions that create and read one kind of state. */
interface StateKind<State> {
  format: StateFormat;
  /** Inserts the rows of a new state. */
  fill: (database: StateDatabase) => void;
  /** Checks and reads the rows. */
  load: (database: StateDatabase) => State;
}

/** Version 0.1.0 kept states as JSON. A new state loses nothing that the chain and the files do not contain. */
const OLD_STATE = "Version 0.1.0 wrote states as JSON, which this version does not read.";

/** Checks the form of a state's content. */
export const stateShape = new ShapeChecker((message, details) => new ArgumentError("STATE_INVALID", message, details));

export function invalidState(message: string, options?: ErrorOptions): ArgumentError {
  return new ArgumentError("STATE_INVALID", message, options);
}

/** @throws ArgumentError STATE_INVALID */
export function readUserID(where: string, value: unknown): UserID {
  if (isUserID(value)) return value;
  throw invalidState(`${where} must be a user id, but is ${describeValue(value)}.`);
}

/**
 * Opens the file of a state, and locks it with a file `.lock` in the same folder. Creates the state if there is none.
 * @throws ArgumentError STATE_LOCKED, STATE_INVALID; TransportError FILE_UNREADABLE, FILE_UNWRITABLE
 */
export async function openStateFile<State>(
  path: string,
  { format, fill, load }: StateKind<State>,
  options: OpenStateOptions,
): Promise<State> {
  const { fresh = false } = checkOptions("The state's options", options, { fresh: true });
  const lock = await lockFile(`${path}.lock`);
  if (lock === undefined) {
    const message = `Another process uses the state ${path}: wait until it ends, or name another file with --state.`;
    throw new ArgumentError("STATE_LOCKED", message, { actual: path });
  }
  let database: StateDatabase | undefined;
  try {
    const kind = await kindOfFile(path);
    if (!fresh && kind === "other") throw invalidState(`It is not a state of this version. ${OLD_STATE}`);
    if (fresh || kind === "missing") await StateDatabase.create(path, format, fill);
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

/** The format of a state, with the error for one that is invalid. */
export function stateFormat(format: Omit<StateFormat, "invalid">): StateFormat {
  return { ...format, invalid: invalidState };
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
