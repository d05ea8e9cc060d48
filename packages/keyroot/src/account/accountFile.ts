import { encodeUtf8 } from "../engine/utf8.ts";
import { VerificationError } from "../errors.ts";
import type { UserID } from "../identity/userID.ts";
import { isBytes } from "../input/values.ts";
import { decodeDocument } from "../input/untrusted.ts";
import { checkInteger, checkObject, checkText, invalidArgument } from "../input/options.ts";
import { type Account, invalidAccount, parseAccount, slotIDOf } from "./account.ts";
import type { AccountPlace, AuthorizedKey } from "./choice.ts";
import { MAX_ACCOUNT_FILE_BYTES } from "./limits.ts";
import { invalidStatement, parseKeyStatement, type SignedKeyStatement, verifySignatures } from "./keyStatement.ts";

/**
 * The maximum numbers of void statements and signatures in an account file. A phone needs milliseconds to verify one
 * signature, so these limits keep the work of a reader short even if the file is hostile.
 */
const MAX_VOIDS = 15;
const MAX_SIGNATURES = 32;

/** An account, and its newest key statement with the void statements after it. The signatures are not verified yet. */
export interface AccountFile {
  account: Account;
  statements: readonly [SignedKeyStatement, ...SignedKeyStatement[]];
}

/**
 * Writes an account file (docs/formats.md, "Account file") and verifies it as a reader does.
 * @param statements texts that `makeKeyStatement` returned: the newest key statement, and the void statements after it
 * @throws ArgumentError ARGUMENT_INVALID; VerificationError ACCOUNT_INVALID, KEY_STATEMENT_INVALID, step "file"
 */
export function serializeAccountFile(account: Pick<Account, "text">, statements: readonly string[]): string {
  const { text } = checkObject("The account", account);
  if (!Array.isArray(statements)) throw invalidArgument("The statements", "an array of texts", statements);
  const texts = [...(statements as unknown[])].map((one, i) => checkText(`statements[${i}]`, one));
  const file = [checkText("The account's text", text), ...texts].join("\n");
  const parsed = parseAccountFile(file);
  for (const statement of parsed.statements) verifySignatures(parsed.account, statement);
  return file;
}

/**
 * Parses an account file. Its statements must have consecutive numbers. Equal statements with equal signatures always
 * result in the same text, so only one file is valid for them.
 * @throws VerificationError ACCOUNT_INVALID, KEY_STATEMENT_INVALID, FILE_TOO_LARGE, FILE_NOT_UTF8, step "file"
 */
export function parseAccountFile(source: string | Uint8Array): AccountFile {
  const bytes = typeof source === "string" ? encodeUtf8(source) : source;
  if (!isBytes(bytes)) throw invalidArgument("The account file", "a text or its bytes", source);
  const text = decodeDocument("The account file", bytes, MAX_ACCOUNT_FILE_BYTES);
  const [head, ...parts] = text.replace(/\n$/, "").split("\n\n");
  const account = parseAccount(`${head}\n`);
  if (!text.endsWith("\n") || parts.length % 2 !== 0)
    throw invalidAccount(
      "Its file must be an account text and signed statements, with an empty line between them",
      text,
    );
  const statements: SignedKeyStatement[] = [];
  for (let i = 0; i < parts.length; i += 2) statements.push(parseKeyStatement(`${parts[i]}\n\n${parts[i + 1]}\n`));
  const [first, ...others] = statements;
  const maxStatements = 1 + maxVoidStatements(account);
  if (first === undefined || statements.length > maxStatements)
    throw invalidStatement(`The file must contain 1 to ${maxStatements} statements`, statements.length);
  if (first.publicKey === undefined) throw invalidStatement("The file's first statement must name a key", first.number);
  for (const [i, { number, publicKey }] of others.entries())
    if (publicKey !== undefined || number !== first.number + 1 + i)
      throw invalidStatement("The newest key statement may be followed only by void statements, in order", number);
  return { account, statements: [first, ...others] };
}

/**
 * Returns the maximum number of void statements in an account file. With this limit, a reader never has to check more
 * than 32 signatures, even if the file is hostile. An owner who would need more void statements signs a key for the
 * first empty slot instead.
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function maxVoidStatements(account: Pick<Account, "threshold">): number {
  const { threshold } = checkObject("The account", account);
  checkInteger("The account's threshold", threshold, 1);
  return Math.min(MAX_VOIDS, Math.floor(MAX_SIGNATURES / threshold) - 1);
}

/**
 * Verifies an account file without reading the chain. The account must belong to this user and this registry, and
 * enough of its recovery keys must have signed each statement. Only the chain can show whether the key is published,
 * and whether a newer key exists.
 * @throws VerificationError as `parseAccountFile`; ACCOUNT_MISMATCH, step "file"
 */
export function verifyAccountFile(source: string | Uint8Array, userID: UserID, place: AccountPlace): AuthorizedKey {
  const { account, statements } = parseAccountFile(source);
  checkPlace(account, userID, place);
  for (const statement of statements) verifySignatures(account, statement);
  const [{ number, publicKey = "" }] = statements;
  const nextNumber = number + statements.length;
  return {
    number,
    slotID: slotIDOf(account, number),
    publicKey,
    nextNumber,
    nextSlotID: slotIDOf(account, nextNumber),
  };
}

function checkPlace(account: Account, userID: UserID, place: AccountPlace): void {
  const parts = [
    ["id", account.userID, userID],
    ["chain", account.chainId, place.chainId],
    ["contract", account.contract, place.contract.toLowerCase()],
  ] as const;
  for (const [name, actual, expected] of parts) {
    if (actual === expected) continue;
    const message = `The ${name} of the account is ${actual} instead of ${expected}. It is another account.`;
    throw new VerificationError("file", "ACCOUNT_MISMATCH", message, { expected, actual });
  }
}
