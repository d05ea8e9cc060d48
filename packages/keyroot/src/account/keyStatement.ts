import { base64 } from "../bytes/base64.ts";
import { encodeUtf8 } from "../engine/utf8.ts";
import { VerificationError } from "../errors.ts";
import { USER_ID, type UserID } from "../identity/userID.ts";
import { describeValue } from "../input/values.ts";
import { checkBytes, checkInteger, checkNames, checkObject, checkText, invalidArgument } from "../input/options.ts";
import { type Account, MAX_NUMBER, parseAccount } from "./account.ts";
import { normalizeSignature, type RecoveryKey, verifySignature } from "./recoveryKey.ts";

/** What a key statement authorizes: a public key for a slot, or that the slot stays without a key. */
export interface KeyStatement {
  /** The account id. */
  account: UserID;
  /** The number of the slot, from 0. Only slots from 1 can be void. */
  number: number;
  /** The public key in canonical base64. Undefined for a `void` statement. */
  publicKey: string | undefined;
}

/** A signature of a statement's text. */
export interface StatementSignature {
  /** The number of the recovery key in the account, from 1. */
  keyNumber: number;
  signature: Uint8Array;
}

/** A statement with signatures that are not verified yet. */
export interface SignedKeyStatement extends KeyStatement {
  signatures: readonly StatementSignature[];
}

/** What a new statement says. */
export interface KeyStatementOptions {
  number: number;
  /** The new public key, or `"void"` for a slot that holds a key that the account did not authorize. */
  publicKey: Uint8Array | "void";
}

/** Bounds of a public key in bytes, whatever its type: the record in the Merkle-tree file decides its form. */
const KEY_BYTES = { min: 32, max: 105 };
const ORIGIN = "keyroot/key-v1";
const HEAD = new RegExp(
  [
    `^${ORIGIN}`,
    `account (${USER_ID.source.slice(1, -1)})`,
    "number (0|[1-9][0-9]{0,9})",
    "(?:key ([A-Za-z0-9+/]{43,140}={0,2})|void)\\n$",
  ].join("\\n"),
);
const SIGNATURE = /^— ([1-9][0-9]?) ([A-Za-z0-9+/]{86}==)$/;

/**
 * Returns the text that recovery keys sign. Sign its UTF-8 bytes with Ed25519, or with ECDSA over P-256 and SHA-256,
 * depending on the type of the recovery key.
 *
 * Sign a statement only if the slot before it already has a root on the chain. Otherwise, the operator could publish
 * the slots in a different order, so that an older key looks like the newest one. Sign `void` only for a slot with a
 * key that the account did not authorize.
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function keyStatementText(account: Pick<Account, "userID">, options: KeyStatementOptions): string {
  const { number, publicKey } = checkObject("The options", options);
  const userID = checkText("The account's id", checkObject("The account", account).userID, "a user id", USER_ID);
  checkInteger("The number option", number, publicKey === "void" ? 1 : 0, MAX_NUMBER);
  const key = publicKey === "void" ? undefined : base64.encode(checkKeySize(publicKey));
  return serializeText({ account: userID, number, publicKey: key });
}

/**
 * Makes a signed statement and verifies its signatures. They may be passed in any order. If you pass more signatures
 * than the threshold requires, the statement contains only the ones with the lowest key numbers.
 * @param options `signatures` are Ed25519 signatures of 64 bytes, or P-256 signatures as r ‖ s (WebCrypto) or in DER
 * (Secure Enclave, Android Keystore)
 * @throws ArgumentError ARGUMENT_INVALID; VerificationError KEY_STATEMENT_INVALID for a false or missing signature
 * @example
 * const text = keyStatementText(account, { number: 1, publicKey });
 * const signature = ed25519.sign(new TextEncoder().encode(text), paperKey);
 * const signed = makeKeyStatement(account, { number: 1, publicKey, signatures: [{ keyNumber: 1, signature }] });
 */
export function makeKeyStatement(
  account: Pick<Account, "text">,
  options: KeyStatementOptions & { signatures: readonly StatementSignature[] },
): string {
  const { signatures: given, ...statement } = checkObject("The options", options);
  checkNames("The options", statement, ["number", "publicKey"]);
  const parsed = parseAccount(checkObject("The account", account).text);
  const text = keyStatementText(parsed, statement);
  const { keys, threshold } = parsed;
  if (!Array.isArray(given)) throw invalidArgument("The signatures option", "an array", given);
  const signatures = [...(given as readonly StatementSignature[])].map((one, i) =>
    checkSignature(`signatures[${i}]`, one, keys),
  );
  signatures.sort((a, b) => a.keyNumber - b.keyNumber);
  const signed = { ...parseText(text), signatures: signatures.slice(0, threshold) };
  verifySignatures(parsed, signed);
  return serializeKeyStatement(signed);
}

/**
 * Checks the form of a caller's signature and converts it to the only form that statements may contain. The signature
 * itself is not verified here.
 * @param path the name of the signature, for error messages
 */
export function checkSignature(
  path: string,
  given: StatementSignature,
  keys: readonly RecoveryKey[],
): StatementSignature {
  const { keyNumber, signature } = checkObject(path, given, "an object with keyNumber and signature");
  checkInteger(`${path}.keyNumber`, keyNumber, 1, keys.length);
  const [{ type }] = keys.slice(keyNumber - 1) as [RecoveryKey];
  const bytes = checkBytes(`${path}.signature`, signature);
  const normalized = normalizeSignature(type, bytes);
  if (normalized !== undefined) return { keyNumber, signature: normalized };
  throw invalidArgument(`${path}.signature`, `a signature of ${type}`, bytes);
}

/**
 * Writes a statement that `parseKeyStatement` returned: its text, an empty line, and one line for each signature. Equal
 * statements always result in the same text.
 */
export function serializeKeyStatement({ signatures, ...statement }: SignedKeyStatement): string {
  const lines = signatures.map(({ keyNumber, signature }) => `— ${keyNumber} ${base64.encode(signature)}\n`);
  return `${serializeText(statement)}\n${lines.join("")}`;
}

/**
 * Parses a signed statement. Checks only the form: `verifyKeyStatement` verifies it.
 * @throws VerificationError KEY_STATEMENT_INVALID, step "file"
 */
export function parseKeyStatement(text: unknown): SignedKeyStatement {
  if (typeof text !== "string") throw invalidStatement("It must be a text", text);
  const end = text.indexOf("\n\n");
  if (end === -1 || !text.endsWith("\n")) throw invalidStatement("It must have a text and signature lines", text);
  const statement = parseText(text.slice(0, end + 1));
  const signatures = text
    .slice(end + 2, -1)
    .split("\n")
    .map(parseSignature);
  return { ...statement, signatures };
}

/**
 * Verifies an account's signed statement. The statement may come from any source. Only the chain can show whether its
 * key is published, and whether it is the account's newest key.
 * @throws VerificationError ACCOUNT_INVALID, KEY_STATEMENT_INVALID, step "file"
 */
export function verifyKeyStatement(account: Pick<Account, "text">, statement: string): KeyStatement {
  const signed = parseKeyStatement(statement);
  verifySignatures(parseAccount(checkObject("The account", account).text), signed);
  const { account: userID, number, publicKey } = signed;
  return { account: userID, number, publicKey };
}

/**
 * Verifies the signatures of an account's statement. The statement must name the account and have exactly as many
 * signatures as the threshold requires, each from a different recovery key, in ascending order of the key numbers.
 * @param text the signed text, if it is not the statement's own
 * @throws VerificationError KEY_STATEMENT_INVALID, step "file"
 */
export function verifySignatures(
  account: Account,
  statement: SignedKeyStatement,
  text: string = serializeText(statement),
): void {
  const { userID, keys, threshold } = account;
  const { signatures } = statement;
  if (statement.account !== userID) throw invalidStatement(`It is not for the account ${userID}`, statement.account);
  if (signatures.length !== threshold)
    throw invalidStatement(`It needs ${threshold} signatures, but has ${signatures.length}`, signatures.length);
  const message = encodeUtf8(text);
  let last = 0;
  for (const { keyNumber, signature } of signatures) {
    const key = keys[keyNumber - 1];
    if (key === undefined || keyNumber <= last)
      throw invalidStatement("Its signatures must be of different keys of the account, in ascending order", keyNumber);
    if (!verifySignature(key, message, signature))
      throw invalidStatement(`The signature of recovery key ${keyNumber} is false`, keyNumber);
    last = keyNumber;
  }
}

function serializeText({ account, number, publicKey }: KeyStatement): string {
  const last = publicKey === undefined ? "void" : `key ${publicKey}`;
  return `${ORIGIN}\naccount ${account}\nnumber ${number}\n${last}\n`;
}

function parseText(text: string): KeyStatement {
  const [, account = "", digits, publicKey] = HEAD.exec(text) ?? [];
  const number = Number(digits);
  const bytes = publicKey === undefined ? undefined : base64.decode(publicKey);
  const isKey = bytes !== undefined && bytes.length >= KEY_BYTES.min && bytes.length <= KEY_BYTES.max;
  if (account !== "" && number <= MAX_NUMBER && (publicKey === undefined ? number > 0 : isKey))
    return { account, number, publicKey };
  throw invalidStatement("It does not have the form in docs/formats.md", text);
}

function parseSignature(line: string): StatementSignature {
  const [, keyNumber, encoded = ""] = SIGNATURE.exec(line) ?? [];
  const signature = base64.decode(encoded);
  if (keyNumber === undefined || signature === undefined) throw invalidStatement("A signature line is malformed", line);
  return { keyNumber: Number(keyNumber), signature };
}

function checkKeySize(publicKey: Uint8Array): Uint8Array {
  const { min, max } = KEY_BYTES;
  const { length } = checkBytes("The publicKey option", publicKey);
  if (length >= min && length <= max) return publicKey;
  throw invalidArgument("The publicKey option", `a key of ${min} to ${max} bytes`, publicKey);
}

/** Makes the error for a malformed statement, or a statement that the account did not make. */
export function invalidStatement(reason: string, actual: unknown): VerificationError {
  const message = `The key statement is invalid. ${reason}.`;
  return new VerificationError("file", "KEY_STATEMENT_INVALID", message, { actual: describeValue(actual) });
}
