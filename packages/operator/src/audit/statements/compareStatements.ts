import type { AuditorKey } from "keyroot/auditors";
import {
  checkPlace,
  fetchRoots,
  fetchStatement,
  hashRoots,
  onePerKey,
  parseRoots,
  parseSignedStatement,
  type RootEntry,
  serializeRootEntry,
  serializeSignedNote,
  type SignedStatement,
  verifySignatures,
} from "keyroot/auditors/protocol";
import { KeyrootError } from "keyroot/errors";
import { type Finding, finding } from "../finding.ts";
import type { StatementFolder } from "./statementFolder.ts";

/** The result of a comparison with one auditor's folder. */
export interface Comparison {
  url: string;
  /** The result. `unavailable` means that the folder did not return a statement with a valid signature of a known auditor. */
  result: "agrees" | "conflict" | "unavailable";
  /** The block number of the newest statement in the folder. */
  blockNumber?: number | undefined;
  /** The keys of the auditors that signed this statement. */
  auditors: readonly string[];
  findings: readonly Finding[];
  /** The reason why the folder is unavailable. */
  message?: string | undefined;
  /** The number of signatures that were added to the auditor's own statements. */
  merged: number;
}

/** The auditor's own statements, and the settings of a comparison. */
interface Own {
  folder: StatementFolder;
  /** The newest statement in the folder, and all roots in the statement's tree. */
  latest: { signed: SignedStatement; roots: readonly RootEntry[] };
  /** The keys of known auditors. Statements of other auditors are not evidence. */
  keys: readonly AuditorKey[];
  /** Limits for requests. */
  limits: Parameters<typeof fetchStatement>[2];
}

/**
 * Compares another auditor's newest statement with this auditor's statements. The longer list of roots must begin with the
 * shorter list. Statements for the same block must be equal. The function adds the other auditor's signatures to equal
 * statements of this auditor.
 */
export async function compareStatements(url: string, own: Own): Promise<Comparison> {
  const { folder, keys, limits } = own;
  const { signed: latest } = own.latest;
  try {
    const other = parseSignedStatement(await fetchStatement(url, "latest", limits));
    checkPlace(other.statement, latest.statement);
    const auditors = [...verifySignatures(other, keys).keys()];
    const { number: blockNumber } = other.statement.block;
    if (auditors.length === 0) return unavailable(url, "No known auditor has signed the statement in this folder.");
    const same = await folder.read(String(blockNumber));
    const agrees = (same === undefined || same.text === other.text) && (await extendsKnown(url, other, own));
    const findings = agrees ? [] : [describeConflict(same ?? latest, other, auditors)];
    const merged = agrees ? (await folder.merge(withKnown(other, keys))) + (await mergeOlder(url, own)) : 0;
    return { url, result: agrees ? "agrees" : "conflict", blockNumber, auditors, findings, merged };
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    return unavailable(url, `${error.code}: ${error.message}`);
  }
}

/** Returns true if the longer list of roots begins with the shorter list. */
async function extendsKnown(url: string, other: SignedStatement, { latest, limits }: Own): Promise<boolean> {
  const { tree } = other.statement;
  const own = latest.roots.map(serializeRootEntry);
  if (tree.size <= own.length) return hashRoots(own.slice(0, tree.size)) === tree.hash;
  const theirs = parseRoots(await fetchRoots(url, limits), tree).map(serializeRootEntry);
  return hashRoots(theirs.slice(0, own.length)) === latest.signed.statement.tree.hash;
}

/**
 * Adds the other auditor's signature to this auditor's newest statement, if the other auditor has signed the same
 * statement.
 */
async function mergeOlder(url: string, { folder, latest, keys, limits }: Own): Promise<number> {
  const { number } = latest.signed.statement.block;
  try {
    const older = parseSignedStatement(await fetchStatement(url, String(number), limits));
    verifySignatures(older, keys);
    return await folder.merge(withKnown(older, keys));
  } catch (error) {
    // The other auditor may not have signed a statement for this block.
    if (error instanceof KeyrootError) return 0;
    throw error;
  }
}

/** Returns the statement with one signature per known key. Anyone can add signatures of unknown keys. */
function withKnown(signed: SignedStatement, keys: readonly AuditorKey[]): SignedStatement {
  return { ...signed, cosignatures: onePerKey(signed.cosignatures, keys) };
}

function describeConflict(own: SignedStatement, other: SignedStatement, auditors: readonly string[]): Finding {
  const names = auditors.map((key) => key.replace(/\+.*/, "")).join(", ");
  const message = `Your statement for block ${own.statement.block.number} contradicts the statement of ${names} for block ${other.statement.block.number}. One of them is false.`;
  const evidence = [own, other].map(serializeSignedNote);
  return finding("STATEMENT_CONFLICT", message, { evidence });
}

function unavailable(url: string, message: string): Comparison {
  return { url, result: "unavailable", auditors: [], findings: [], message, merged: 0 };
}
