import { base64 } from "../bytes/base64.ts";
import { checkObject } from "../input/options.ts";
import { type Account, parseAccount } from "./account.ts";
import {
  type KeyStatement,
  type KeyStatementOptions,
  checkSignature,
  keyStatementText,
  invalidStatement,
  parseKeyStatement,
  type StatementSignature,
  verifySignatures,
} from "./keyStatement.ts";

const STATEMENT_ORIGIN = "keyroot/key-v1\n";
const ORIGIN = "keyroot/objection-v1\n";

/**
 * Returns the text that a recovery key signs to object to a statement before it is published. The result is the
 * statement's text with a different first line. Sign its UTF-8 bytes in the same way as a text from `keyStatementText`.
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function objectionText(account: Pick<Account, "userID">, statement: KeyStatementOptions): string {
  return ORIGIN + keyStatementText(account, statement).slice(STATEMENT_ORIGIN.length);
}

/**
 * Makes a signed objection to a change. One recovery key is enough for it, even if the account's threshold is higher.
 * To stop the change, send the objection to the service during the hold period. Verifiers ignore objections.
 * @throws ArgumentError ARGUMENT_INVALID; VerificationError KEY_STATEMENT_INVALID for a false signature
 * @example
 * const text = objectionText(account, { number: 1, publicKey });
 * const signature = ed25519.sign(new TextEncoder().encode(text), paperKey);
 * const objection = makeObjection(account, { number: 1, publicKey, signature: { keyNumber: 1, signature } });
 */
export function makeObjection(
  account: Pick<Account, "text">,
  options: KeyStatementOptions & { signature: StatementSignature },
): string {
  const { signature: given, ...statement } = checkObject("The options", options);
  const parsed = parseAccount(checkObject("The account", account).text);
  const text = objectionText(parsed, statement);
  const { keyNumber, signature } = checkSignature("signature", given, parsed.keys);
  const objection = `${text}\n— ${keyNumber} ${base64.encode(signature)}\n`;
  verifyObjection(parsed, objection);
  return objection;
}

/**
 * Verifies an objection. It may come from any source.
 * @returns the statement to which a recovery key of the account objects
 * @throws VerificationError ACCOUNT_INVALID, KEY_STATEMENT_INVALID, step "file"
 */
export function verifyObjection(account: Pick<Account, "text">, objection: string): KeyStatement {
  const parsed = parseAccount(checkObject("The account", account).text);
  if (typeof objection !== "string" || !objection.startsWith(ORIGIN))
    throw invalidStatement("An objection must begin with keyroot/objection-v1", objection);
  const signed = parseKeyStatement(STATEMENT_ORIGIN + objection.slice(ORIGIN.length));
  const { signatures, ...statement } = signed;
  if (signatures.length !== 1)
    throw invalidStatement("An objection must have the signature of one recovery key", signatures.length);
  verifySignatures({ ...parsed, threshold: 1 }, signed, objection.slice(0, objection.indexOf("\n\n") + 1));
  return statement;
}
