import type { AuditorKey, DamagedRoot } from "keyroot/auditors";
import {
  checkPlace,
  fetchStatement,
  parseSignedStatement,
  serializeSignedNote,
  signaturesOf,
  type SignedStatement,
  verifySignatures,
} from "keyroot/internal/auditors";
import { KeyrootError, VerificationError } from "keyroot/internal/errors";
import { type Finding, finding } from "../finding.ts";
import { contradicts, type StatementFolder } from "./statementFolder.ts";

/** The result of a comparison with one auditor's folder. */
export interface Comparison {
  url: string;
  /**
   * The result of the comparison:
   * - `agrees`: both auditors signed the same text;
   * - `differs`: only the damaged roots differ;
   * - `conflict`: the statements contradict each other;
   * - `unavailable`: the folder returned no statement of a known auditor for a block that this auditor signed.
   */
  result: "agrees" | "differs" | "conflict" | "unavailable";
  /** The number of the block that both statements describe. */
  blockNumber?: number | undefined;
  /** The keys of the auditors who signed the folder's newest statement. */
  auditors: readonly string[];
  findings: readonly Finding[];
  /** The reason why the folder is unavailable, or the damaged roots that differ. */
  message?: string | undefined;
  /** The number of signatures that were added to this auditor's own statement. */
  merged: number;
}

/** The auditor's own statements, and the settings of a comparison. */
interface Own {
  folder: StatementFolder;
  /** The newest statement in the folder. */
  latest: SignedStatement;
  /** The keys of known auditors. Statements of other auditors are not evidence. */
  keys: readonly AuditorKey[];
  limits: Parameters<typeof fetchStatement>[2];
}

/**
 * Compares another auditor's statement with this auditor's own statement for the same block. If both have the same
 * text, the other auditor's signatures are added to the own statement.
 */
export async function compareStatements(url: string, own: Own): Promise<Comparison> {
  const { folder, latest, keys } = own;
  try {
    const newest = await fetchKnown(url, "latest", own);
    const auditors = verifySignatures(newest, keys);
    const conflict = (mine: SignedStatement, theirs: SignedStatement): Comparison => {
      const findings = [describeConflict(mine, theirs, auditors)];
      return { url, result: "conflict", blockNumber: theirs.statement.block.number, auditors, findings, merged: 0 };
    };
    if (contradicts(latest.statement, newest.statement)) return conflict(latest, newest);
    const { number: blockNumber } = newest.statement.block;
    const same = await folder.read(String(blockNumber));
    const [mine, theirs] =
      same === undefined
        ? [latest, await fetchKnown(url, String(latest.statement.block.number), own)]
        : ([same, newest] as const);
    if (contradicts(mine.statement, theirs.statement)) return conflict(mine, theirs);
    const compared = { url, blockNumber: theirs.statement.block.number, auditors, findings: [] };
    if (mine.text !== theirs.text)
      return { ...compared, result: "differs", message: describeDifference(mine, theirs), merged: 0 };
    const signatures = signaturesOf(keys, theirs.signatures);
    return { ...compared, result: "agrees", merged: await folder.merge({ ...theirs, signatures }) };
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    const message = `${error.code}: ${error.message}`;
    return { url, result: "unavailable", auditors: [], findings: [], message, merged: 0 };
  }
}

/** Fetches a statement that at least one known auditor signed. @throws KeyrootError */
async function fetchKnown(url: string, name: string, { latest, keys, limits }: Own): Promise<SignedStatement> {
  const signed = parseSignedStatement(await fetchStatement(url, name, limits));
  checkPlace(signed.statement, latest.statement);
  if (verifySignatures(signed, keys).length > 0) return signed;
  const message = `No known auditor has signed ${name}.txt in this folder.`;
  throw new VerificationError("anchor", "AUDITORS_NOT_REACHED", message);
}

/** Names the roots that only one of the auditors found damaged, or that they found damaged in different ways. */
function describeDifference({ statement: mine }: SignedStatement, { statement: theirs }: SignedStatement): string {
  const only = (some: readonly DamagedRoot[], others: readonly DamagedRoot[]) =>
    some
      .filter(({ root, codes }) => !others.some((one) => one.root === root && String(one.codes) === String(codes)))
      .map(({ root, codes }) => `${root} (${codes.join(", ")})`)
      .join(", ") || "none";
  const [own, other] = [mine.damagedRoots, theirs.damagedRoots];
  return `Damaged roots only in your statement: ${only(own, other)}. Only in the other statement: ${only(other, own)}.`;
}

function describeConflict(own: SignedStatement, other: SignedStatement, auditors: readonly string[]): Finding {
  const names = auditors.map((key) => key.replace(/\+.*/, "")).join(", ");
  const message = `Your statement for block ${own.statement.block.number} contradicts the statement of ${names} for block ${other.statement.block.number}. One of them is false.`;
  const evidence = [own, other].map(serializeSignedNote);
  return finding("STATEMENT_CONFLICT", message, { evidence });
}
