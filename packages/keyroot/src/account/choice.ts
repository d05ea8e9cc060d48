import type { UserID } from "../identity/userID.ts";
import { invalidArgument } from "../input/options.ts";

/** The choice that user ids are account ids. `accounts` makes this value, and `createVerifier` takes it as an option. */
export interface Accounts {
  readonly name: "accounts";
}

/** The registry of which an account must be. */
export interface AccountPlace {
  chainId: number;
  /** The address of the contract: 0x and 40 hex digits. */
  contract: string;
}

/** The newest key that an account file authorizes, and the slot that must be empty for it to be the newest. */
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
 * Verifies an account file, which may come from any source, without the chain.
 * @throws VerificationError ACCOUNT_INVALID, ACCOUNT_MISMATCH, KEY_STATEMENT_INVALID, FILE_TOO_LARGE, FILE_NOT_UTF8,
 * step "file"
 */
export type VerifyAccountFile = (source: Uint8Array, userID: UserID, place: AccountPlace) => AuthorizedKey;

/** The values that `makeAccounts` made. A value from elsewhere is not in this map, so it cannot be used by mistake. */
const choices = /* @__PURE__ */ new WeakMap<object, VerifyAccountFile>();

/**
 * Makes the value of the `accounts` option, which brings with it the code that verifies account files. Apps without
 * accounts do not load that code.
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
