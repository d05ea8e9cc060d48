import { KeyrootError } from "keyroot/internal/errors";
import { isUserID, type KeyTypeName, type UserID } from "keyroot/internal/identity";
import { describeValue, ShapeChecker } from "keyroot/internal/input";
import { ArgumentError, TransportError } from "../errors.ts";
import { checkOptions } from "../checkOptions.ts";
import { lockFile } from "../disk/lock.ts";
import { isDamage, kindOfFile, StateDatabase, type StateFormat } from "../disk/stateDatabase.ts";

/** The contract and chain of a state. */
export interface AuditTarget {
  /** The chain id (EIP-155). */
  chainId: number;
  /**
   * The hash of a development chain's first block (0x and 64 hex digits). It distinguishes development chains, which
   * share their ids. Undefined for other chains.
   */
  genesisHash?: string | undefined;
  /** The contract's address: 0x and 40 hex digits. */
  contract: string;
  /** The type of the registry's keys. Only the state of an audit depends on it. Default: "curve41417". */
  keyType?: KeyTypeName | undefined;
}

/** Options of the functions that open a saved state. */
export interface OpenStateOptions {
  /** Replaces the file with a new state. Default: false. */
  fresh?: boolean | undefined;
  /** Called with a description of the damage if SQLite found the file damaged, and a new state replaced it. */
  onRebuild?: ((damage: string) => void) | undefined;
}

/** Functions that create and read one kind of state. */
interface StateKind<State> {
  format: StateFormat;
  fill: (database: StateDatabase) => void;
  load: (database: StateDatabase) => State;
}

/**
 * The reason in the error for a state of version 0.1.0. Such a state is not converted, because a new state can be built
 * from the contract and the files.
 */
const OLD_STATE = "Version 0.1.0 wrote states as JSON. This version cannot read them.";

/** Checks the format of values in a state. */
export const stateShape = new ShapeChecker((message, details) => new ArgumentError("STATE_INVALID", message, details));

export function invalidState(message: string, options?: ErrorOptions): ArgumentError {
  return new ArgumentError("STATE_INVALID", message, options);
}

/** Reads a user id from a state. @throws ArgumentError STATE_INVALID */
export function readUserID(where: string, value: unknown): UserID {
  if (isUserID(value)) return value;
  throw invalidState(`${where} must be a user id, but is ${describeValue(value)}.`);
}

/**
 * Opens a state file, and locks it with a `.lock` file next to it. A missing file is created. If SQLite finds a file
 * damaged, a new one replaces it, because its content can be built again from the contract and the files.
 * @throws ArgumentError STATE_LOCKED, STATE_INVALID; TransportError FILE_UNREADABLE, FILE_UNWRITABLE
 */
export async function openStateFile<State>(
  path: string,
  kind: StateKind<State>,
  options: OpenStateOptions,
): Promise<State> {
  const { fresh = false, onRebuild } = checkOptions("The state's options", options, { fresh: true, onRebuild: true });
  const lock = await lockFile(`${path}.lock`);
  if (lock === undefined) {
    const message = `Another process uses the state ${path}. Wait until the process ends, or set another file with --state.`;
    throw new ArgumentError("STATE_LOCKED", message, { actual: path });
  }
  try {
    try {
      return await openLocked(path, kind, lock, fresh);
    } catch (error) {
      if (!isDamage(error)) throw error;
      const state = await openLocked(path, kind, lock, true);
      onRebuild?.((error as Error).message);
      return state;
    }
  } catch (cause) {
    lock[Symbol.dispose]();
    if (!(cause instanceof KeyrootError) || cause instanceof TransportError) throw cause;
    const message = `The state ${path} cannot be used. ${cause.message} To start again, delete the file, or set another file with --state.`;
    throw invalidState(message, { cause });
  }
}

async function openLocked<State>(
  path: string,
  { format, fill, load }: StateKind<State>,
  lock: Disposable,
  fresh: boolean,
): Promise<State> {
  const kind = await kindOfFile(path);
  if (!fresh && kind === "other") throw invalidState(`It is not a state of this version. ${OLD_STATE}`);
  if (fresh || kind === "missing") await StateDatabase.create(path, format, fill);
  const database = await StateDatabase.open(path, format, lock);
  try {
    return load(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Completes the format of a state with the error for an invalid state. */
export function stateFormat(format: Omit<StateFormat, "invalid">): StateFormat {
  return { ...format, invalid: invalidState };
}

/**
 * Checks the contract and chain of a state.
 * @throws ArgumentError STATE_INVALID if the contract or the chain is different
 */
export function checkTarget(
  actual: Record<"chainId" | "contract" | "genesisHash", unknown>,
  expected: AuditTarget,
): void {
  const { chainId, contract, genesisHash } = expected;
  const isSameGenesis = genesisHash === undefined || genesisHash === (actual.genesisHash ?? genesisHash);
  if (actual.chainId === chainId && actual.contract === contract && isSameGenesis) return;
  throw invalidState(
    `It belongs to a different contract or chain. The expected contract is ${expected.contract} on chain ${expected.chainId}.`,
  );
}

/** Converts the contract and chain to lower case, as states store them. */
export function normalizeTarget({ chainId, genesisHash, contract, keyType }: AuditTarget): AuditTarget {
  return { chainId, genesisHash: genesisHash?.toLowerCase(), contract: contract.toLowerCase(), keyType };
}
