import type { UserID } from "../identity/userID.ts";
import { invalidArgument } from "../input/options.ts";

/** The choice that user ids are account ids. `accounts` makes this value. Pass it to `createVerifier` as an option. */
export interface Accounts {
  readonly name: "accounts";
}

/** The registry of which an account must be. */
export interface AccountPlace {
  chainId: number;
  /** The address of the contract: 0x and 40 hex digits. */
  contract: string;
}

/**
 * The newest key that an account file authorizes, and the slot after the file's last statement. If the chain has a root
 * for that slot, the account has a newer key.
 */
export interface AuthorizedKey {
  /** The number of the key: 0 for the account's first key. */
  number: number;
  /** The user id under which the key is published. */
  slotID: UserID;
  /** The public key in canonical base64. */
  publicKey: string;
  /** The number of the slot that follows the file's last statement. */
  nextNumber: number;
  nextSlotID: UserID;
}

/**
 * Verifies an account file without reading the chain. The file may come from any source.
 * @throws VerificationError ACCOUNT_INVALID, ACCOUNT_MISMATCH, KEY_STATEMENT_INVALID, FILE_TOO_LARGE, FILE_NOT_UTF8,
 * step "file"
 */
export type VerifyAccountFile = (source: Uint8Array, userID: UserID, place: AccountPlace) => AuthorizedKey;

/**
 * The values that `makeAccounts` made, each with its function. `openAccounts` rejects any other value, because it is
 * not in this map.
 */
const choices = /* @__PURE__ */ new WeakMap<object, VerifyAccountFile>();

/**
 * Makes the value of the `accounts` option. The code that verifies account files comes with this value, so apps that do
 * not use accounts do not load it.
 */
export function makeAccounts(verifyFile: VerifyAccountFile): Accounts {
  const accounts: Accounts = Object.freeze({ name: "accounts" });
  choices.set(accounts, verifyFile);
  return accounts;
}

/** Opens the choice. @throws ArgumentError ARGUMENT_INVALID if this library did not make it */
export function openAccounts(accounts: Accounts): VerifyAccountFile {
  const verifyFile = choices.get(accounts);
  if (verifyFile !== undefined) return verifyFile;
  throw invalidArgument("The accounts option", "the result of accounts() from keyroot/account", accounts);
}
