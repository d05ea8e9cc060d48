import { LOWERCASE_HASH } from "keyroot/internal/ethereum";
import { parseJson } from "keyroot/internal/input";
import { MERKLE_ROOT } from "keyroot/internal/merkle";
import { checksumOf, type Row, type StateDatabase } from "../disk/stateDatabase.ts";
import { type Finding, finding, FINDING_CODES, type FindingCode, Findings, type Severity } from "./finding.ts";
import { checkedRow, readUserID, stateShape } from "./openStateFile.ts";
import { type AuditPart, checkPart } from "./part.ts";
import type { ContractCounts } from "./readCounts.ts";

/** The result of a part after a run that read all files of the part. The state stores the result for `mergeParts`. */
export interface PartResult extends ContractCounts {
  part: AuditPart;
  /** The folder or file host from which the audit read the part's files. */
  filesFrom: string;
  /** The time of the result in seconds since 1970. */
  endedAt: number;
  /** The number of roots that belong to the part. */
  rootCount: number;
  /** The number of files that this run did not read because an earlier run had found the files valid. */
  filesKnown: number;
  usersInFiles: number;
  straysSearched: boolean;
  /** The first findings, up to `Findings.MAX_KEPT`. */
  findings: readonly Finding[];
  /** The number of all findings, by severity. */
  count: Readonly<Record<Severity, number>>;
}

export const PART_RESULT_TABLE = `CREATE TABLE part_result (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  part_number INTEGER NOT NULL,
  part_count INTEGER NOT NULL,
  block_number INTEGER NOT NULL,
  block_hash TEXT NOT NULL,
  block_timestamp INTEGER NOT NULL,
  anchor TEXT NOT NULL,
  storage_proof INTEGER NOT NULL,
  user_count INTEGER NOT NULL,
  deployment_block INTEGER NOT NULL,
  code_hash TEXT NOT NULL,
  files_from TEXT NOT NULL,
  ended_at INTEGER NOT NULL,
  root_count INTEGER NOT NULL,
  files_known INTEGER NOT NULL,
  users_in_files INTEGER NOT NULL,
  strays_searched INTEGER NOT NULL,
  damage INTEGER NOT NULL,
  notices INTEGER NOT NULL,
  findings TEXT NOT NULL CHECK (octet_length(findings) <= 67108864),
  checksum TEXT NOT NULL CHECK (octet_length(checksum) = 64)
) STRICT`;

const FINDING_FIELDS = ["code", "root", "userID", "detail", "message"] as const;
const CODES: readonly FindingCode[] = [...FINDING_CODES.damage, ...FINDING_CODES.notice];
const ANCHOR = /^[a-z-]{1,20}$/;

export function insertPartResult(database: StateDatabase, result: PartResult): void {
  const { part, userCount, deploymentBlock, codeHash = "", evidence, filesFrom, endedAt } = result;
  const { rootCount, filesKnown, usersInFiles, straysSearched, findings, count } = result;
  const { source, storageProof, block } = evidence;
  const values = [
    ...[1, part.number, part.count, block.number, block.hash, block.timestamp, source, Number(storageProof)],
    ...[userCount, deploymentBlock, codeHash, filesFrom, endedAt],
    ...[rootCount, filesKnown, usersInFiles, Number(straysSearched), count.damage, count.notice],
    JSON.stringify(findings.map((one) => Object.fromEntries(FINDING_FIELDS.map((name) => [name, one[name]])))),
  ];
  const places = [...values, ""].map(() => "?").join(", ");
  database.run(`INSERT INTO part_result VALUES (${places})`, ...values, checksumOf(values));
}

/**
 * Reads a part's result from a state.
 * @returns undefined if the last run did not audit a part or did not read all files
 * @throws ArgumentError STATE_INVALID
 */
export function readPartResult(database: StateDatabase): PartResult | undefined {
  const stored = database.row("SELECT * FROM part_result");
  if (stored === undefined) return undefined;
  const row = checkedRow("The result", stored);
  const codeHash = stateShape.text("code_hash", row["code_hash"]);
  return {
    part: checkPart({ number: countOf(row, "part_number"), count: countOf(row, "part_count") }),
    evidence: {
      source: stateShape.text("anchor", row["anchor"], ANCHOR) as PartResult["evidence"]["source"],
      storageProof: row["storage_proof"] === 1,
      block: {
        number: countOf(row, "block_number"),
        hash: stateShape.text("block_hash", row["block_hash"], LOWERCASE_HASH),
        timestamp: countOf(row, "block_timestamp"),
      },
    },
    userCount: countOf(row, "user_count"),
    deploymentBlock: countOf(row, "deployment_block"),
    codeHash: codeHash === "" ? undefined : stateShape.text("code_hash", codeHash, LOWERCASE_HASH),
    filesFrom: stateShape.text("files_from", row["files_from"]),
    endedAt: countOf(row, "ended_at"),
    rootCount: countOf(row, "root_count"),
    filesKnown: countOf(row, "files_known"),
    usersInFiles: countOf(row, "users_in_files"),
    straysSearched: row["strays_searched"] === 1,
    findings: stateShape.list("findings", parseJson(String(row["findings"]), 2), Findings.MAX_KEPT, readFinding),
    count: { damage: countOf(row, "damage"), notice: countOf(row, "notices") },
  };
}

function countOf(row: Row, column: string): number {
  return stateShape.count(column, row[column]);
}

function readFinding(where: string, value: unknown): Finding {
  const { code, root, userID, detail, message } = stateShape.fields(where, value, FINDING_FIELDS);
  return finding(stateShape.oneOf(`${where}.code`, code, CODES), stateShape.text(`${where}.message`, message), {
    ...(root !== undefined && { root: stateShape.text(`${where}.root`, root, MERKLE_ROOT) }),
    ...(userID !== undefined && { userID: readUserID(`${where}.userID`, userID) }),
    ...(detail !== undefined && { detail: stateShape.text(`${where}.detail`, detail) }),
  });
}
