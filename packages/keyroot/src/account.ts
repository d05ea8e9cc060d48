/**
 * The entry `keyroot/account`, for registries whose users can change their keys. Pass the result of `accounts` to a
 * verifier as its `accounts` option. The other functions write and read accounts, key statements and account files.
 */
import { verifyAccountFile } from "./account/accountFile.ts";
import { type Accounts, makeAccounts } from "./account/choice.ts";

export { type Account, type AccountOptions, makeAccount, parseAccount, slotIDOf } from "./account/account.ts";
export {
  type AccountFile,
  maxVoidStatements,
  parseAccountFile,
  serializeAccountFile,
  verifyAccountFile,
} from "./account/accountFile.ts";
export type { AccountPlace, Accounts, AuthorizedKey } from "./account/choice.ts";
export {
  type KeyStatement,
  type KeyStatementOptions,
  keyStatementText,
  makeKeyStatement,
  parseKeyStatement,
  type SignedKeyStatement,
  type StatementSignature,
  verifyKeyStatement,
} from "./account/keyStatement.ts";
export { makeObjection, objectionText, verifyObjection } from "./account/objection.ts";
export type { RecoveryKey, RecoveryKeyType } from "./account/recoveryKey.ts";

/**
 * Declares that all user ids of the registry are account ids, so that users can change their keys (docs/accounts.md).
 * Pass the result as the `accounts` option of a verifier.
 * @example
 * const verifier = createVerifier({ rpc, chainId, contract, merkleUrl, trust, accounts: accounts() });
 * const { publicKey } = await verifier.verify(userID, { account: accountFile, expectedPublicKey: keyFromServer });
 */
export function accounts(): Accounts {
  return makeAccounts(verifyAccountFile);
}
