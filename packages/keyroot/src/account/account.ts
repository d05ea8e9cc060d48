import { concatBytes } from "@noble/hashes/utils.js";
import { base64 } from "../bytes/base64.ts";
import { bytesToHex } from "../bytes/hex.ts";
import { randomBytes } from "../bytes/randomBytes.ts";
import { sha256Hex } from "../bytes/sha256.ts";
import { encodeUtf8 } from "../engine/utf8.ts";
import { VerificationError } from "../errors.ts";
import { ADDRESS } from "../ethereum/rpcValues.ts";
import { type UserID, userIDFromHex } from "../identity/userID.ts";
import { describeValue } from "../input/values.ts";
import {
  checkBytes,
  checkChainId,
  checkInteger,
  checkNames,
  checkObject,
  checkText,
  invalidArgument,
} from "../input/options.ts";
import { copyPublicKey, isRecoveryKey, type RecoveryKey, type RecoveryKeyType } from "./recoveryKey.ts";

/** An account: the recovery keys that authorize all public keys of one user in one registry. It never changes. */
export interface Account {
  /** The account text (docs/formats.md, "Account"). */
  text: string;
  /** The account id: the first 160 bits of the SHA-256 of `text`. It is the user's id. */
  userID: UserID;
  chainId: number;
  /** The address of the contract: 0x and 40 lowercase hex digits. */
  contract: string;
  /** The recovery keys. The first one has the number 1. */
  keys: readonly RecoveryKey[];
  /** The number of recovery keys that must sign each statement. */
  threshold: number;
  /** 32 lowercase hex digits. */
  salt: string;
}

/** The contents of a new account. */
export interface AccountOptions {
  /** The id of the contract's chain (EIP-155). */
  chainId: number | bigint;
  /** The address of the contract: 0x and 40 hex digits. */
  contract: string;
  /** From 1 to 16 different recovery keys. */
  keys: readonly RecoveryKey[];
  /** The number of recovery keys that must sign, from 1 to the number of keys. */
  threshold: number;
  /**
   * 16 secret bytes, which keep others from finding the account's slots by guessing its text. Default: random bytes.
   */
  salt?: Uint8Array | undefined;
}

const MAX_RECOVERY_KEYS = 16;
/** The highest number of a key. The number of the slot after it must also have 4 bytes. */
export const MAX_NUMBER = 2 ** 32 - 2;
const SALT_BYTES = 16;
const ORIGIN = "keyroot/account-v1";
const SLOT_LABEL = "keyroot/slot-v1\n";
const OPTIONS: (keyof AccountOptions)[] = ["chainId", "contract", "keys", "threshold", "salt"];
const TEXT = new RegExp(
  [
    `^${ORIGIN}`,
    "chain ([1-9][0-9]{0,15})",
    "contract (0x[0-9a-f]{40})",
    "((?:key (?:ed25519|p256) [A-Za-z0-9+/]{43,44}=?\\n){1,16})threshold ([1-9][0-9]?)",
    "salt ([0-9a-f]{32})\\n$",
  ].join("\\n"),
);

/**
 * Makes a new account. Store its `text`, because you need it for every later change of the user's key.
 * @throws ArgumentError ARGUMENT_INVALID
 * @example
 * const account = makeAccount({
 *   chainId: 1,
 *   contract,
 *   keys: [{ type: "ed25519", publicKey: paperKey }],
 *   threshold: 1,
 * });
 * console.log(account.userID, account.text);
 */
export function makeAccount(options: AccountOptions): Account {
  checkNames("The options", options, OPTIONS);
  const { keys: given, salt = randomBytes(SALT_BYTES) } = options;
  const chainId = checkChainId("The chainId option", options.chainId);
  const contract = checkText("The contract option", options.contract, "an address, 0x and 40 hex digits", ADDRESS);
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_RECOVERY_KEYS)
    throw invalidArgument("The keys option", `an array of 1 to ${MAX_RECOVERY_KEYS} recovery keys`, given);
  const keys = [...(given as readonly RecoveryKey[])].map(copyKey);
  if (new Set(keys.map(serializeKey)).size !== keys.length)
    throw invalidArgument("The keys option", "a list of different keys", given);
  const threshold = checkInteger("The threshold option", options.threshold, 1, keys.length);
  if (checkBytes("The salt option", salt).length !== SALT_BYTES)
    throw invalidArgument("The salt option", `${SALT_BYTES} bytes`, salt);
  const parts = { chainId, contract: contract.toLowerCase(), keys, threshold, salt: bytesToHex(salt) };
  const text = serializeParts(parts);
  return { text, userID: hashToID(text), ...parts };
}

/**
 * Parses an account text. Each account has only one text.
 * @throws VerificationError ACCOUNT_INVALID, step "file"
 */
export function parseAccount(text: unknown): Account {
  if (typeof text !== "string") throw invalidAccount("It must be a text", text);
  const [, chain, contract = "", lines = "", threshold, salt = ""] = TEXT.exec(text) ?? [];
  const keys = lines.split("\n").slice(0, -1).map(parseKey);
  const parts = { chainId: Number(chain), contract, keys, threshold: Number(threshold), salt };
  const isConsistent = Number.isSafeInteger(parts.chainId) && parts.threshold <= keys.length;
  if (!isConsistent || serializeParts(parts) !== text)
    throw invalidAccount("It does not have the form in docs/formats.md", text);
  if (new Set(keys.map(serializeKey)).size !== keys.length) throw invalidAccount("A recovery key is repeated", text);
  for (const [i, key] of keys.entries())
    if (!isRecoveryKey(key)) throw invalidAccount(`Recovery key ${i + 1} is not a valid ${key.type} key`, text);
  return { text, userID: hashToID(text), ...parts };
}

/**
 * Returns the user id of an account's slot. The account's key with the same number is published under this id. The id
 * of slot 0 is the account id itself.
 * @param number a whole number from 0 to 2³² − 1
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function slotIDOf(account: Pick<Account, "text" | "userID">, number: number): UserID {
  const { text, userID } = checkObject("The account", account);
  checkInteger("The number of the slot", number, 0, MAX_NUMBER + 1);
  if (number === 0) return userID;
  const bytes = Uint8Array.of(number >>> 24, number >>> 16, number >>> 8, number);
  return hashToID(concatBytes(encodeUtf8(SLOT_LABEL + checkText("The account's text", text)), bytes));
}

function hashToID(data: string | Uint8Array): UserID {
  return userIDFromHex(sha256Hex(data).slice(0, 40));
}

function serializeParts({ chainId, contract, keys, threshold, salt }: Omit<Account, "text" | "userID">): string {
  const lines = keys.map((key) => `key ${serializeKey(key)}`);
  const all = [ORIGIN, `chain ${chainId}`, `contract ${contract}`, ...lines, `threshold ${threshold}`, `salt ${salt}`];
  return `${all.join("\n")}\n`;
}

function serializeKey({ type, publicKey }: RecoveryKey): string {
  return `${type} ${base64.encode(publicKey)}`;
}

function parseKey(line: string): RecoveryKey {
  const [, type, encoded = ""] = line.split(" ");
  return { type: type as RecoveryKeyType, publicKey: base64.decode(encoded) ?? new Uint8Array() };
}

function copyKey(key: RecoveryKey, i: number): RecoveryKey {
  const { type, publicKey } = checkObject(`keys[${i}]`, key, "an object with type and publicKey");
  checkText(`keys[${i}].type`, type, "ed25519 or p256", /^(?:ed25519|p256)$/);
  checkBytes(`keys[${i}].publicKey`, publicKey);
  const copy = { type, publicKey: copyPublicKey({ type, publicKey }) };
  if (isRecoveryKey(copy)) return copy;
  const expected = type === "p256" ? "a point of P-256, 33 or 65 bytes" : "a canonical point of prime order, 32 bytes";
  throw invalidArgument(`keys[${i}].publicKey`, expected, publicKey);
}

/** Makes the error for a malformed account text or account file. */
export function invalidAccount(reason: string, actual: unknown): VerificationError {
  const message = `The account is invalid. ${reason}.`;
  return new VerificationError("file", "ACCOUNT_INVALID", message, { actual: describeValue(actual) });
}
