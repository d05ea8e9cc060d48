import { encodeUtf8 } from "../../engine/utf8.ts";
import { KeyrootError } from "../../errors.ts";
import { isObject } from "../../input/isObject.ts";
import type { Store } from "../../store/store.ts";
import { currentSigners } from "./auditorList.ts";
import type { CountedStatement } from "./findStatement.ts";
import { parseSignedStatement, serializeStatement } from "./statement.ts";
import { acceptStatement, type AuditorPolicy, checkPlace, type StatementPlace } from "./verifyStatement.ts";

const FORMAT = "keyroot-stored-statement-v1";

export async function storeStatement(store: Store, place: StatementPlace, found: CountedStatement): Promise<void> {
  const signers = [...found.signers];
  await store.set(nameOf(place), JSON.stringify({ format: FORMAT, text: serializeStatement(found), signers }));
}

/**
 * Loads the stored statement. Does not verify the statement's signatures again.
 * @returns undefined if the stored statement is missing or unreadable, or if the policy no longer accepts the statement
 */
export async function loadStatement(
  store: Store,
  place: StatementPlace,
  policy: AuditorPolicy,
  now: number,
): Promise<CountedStatement | undefined> {
  const stored = await store.get(nameOf(place));
  if (typeof stored !== "string") return undefined;
  try {
    const entry: unknown = JSON.parse(stored);
    if (!isObject(entry) || entry["format"] !== FORMAT) return undefined;
    // The parser expects a signed file, so an empty list of signatures is added.
    const { statement } = parseSignedStatement(encodeUtf8(`${String(entry["text"])}\n`));
    checkPlace(statement, place);
    const signers = new Map(entry["signers"] as [string, number[]][]);
    return acceptAgain({ ...statement, auditors: [], signers }, policy, now);
  } catch {
    return undefined;
  }
}

/**
 * Checks whether the policy still accepts a statement. The signatures were verified earlier. @returns undefined if the
 * policy no longer accepts the statement
 */
export function acceptAgain(
  { signers, ...statement }: CountedStatement,
  policy: AuditorPolicy,
  now: number,
): CountedStatement | undefined {
  const current = currentSigners([...signers.keys()], policy);
  const known = new Map([...signers].filter(([signer]) => current.includes(signer)));
  try {
    return { ...acceptStatement(statement, known, policy, now), signers: known };
  } catch (error) {
    if (error instanceof KeyrootError) return undefined;
    throw error;
  }
}

function nameOf({ chainId, contract }: StatementPlace): string {
  return ["keyroot", "statement", chainId, contract.toLowerCase()].join(":");
}
