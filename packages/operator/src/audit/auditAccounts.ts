import { VerificationError } from "keyroot/internal/errors";
import type { KeyType, UserID } from "keyroot/internal/identity";
import { parseMerkleFile } from "keyroot/internal/merkle";
import pMap from "p-map";
import { AccountIndex, type FileSource, readAccountFiles, readFileOf } from "../follow/index.ts";
import { type Finding, finding } from "./finding.ts";

const AT_ONCE = 16;

interface AccountAuditOptions {
  chainId: number;
  contract: string;
  files: FileSource;
  keyType: KeyType | undefined;
  /** The roots of files that the audit found valid. */
  roots: readonly string[];
  /** Receives the number of records whose account was looked up. */
  onProgress: (done: number, total: number) => void;
}

export interface AccountAudit {
  accounts: number;
  /** The number of keys after the first one of their account. */
  changes: number;
  findings: Finding[];
}

/**
 * Checks all records of a registry with accounts against the statements in its account files.
 *
 * Each record must belong to a slot of an account, and the slot must not be later than the slot of the account's newest
 * statement. In this newest slot, the record's key must be the key that the statement authorizes. Keys in earlier slots
 * are not compared, because account files contain only the newest statement.
 *
 * All records are kept in memory, about 300 bytes each.
 * @throws TransportError FILE_UNREADABLE, and the other errors of the file source
 */
export async function auditAccounts(options: AccountAuditOptions): Promise<AccountAudit> {
  const { files, keyType, roots, onProgress } = options;
  const records = new Map<UserID, { pubKey: string; root: string }>();
  await pMap(
    roots,
    async (root) => {
      const file = parseMerkleFile(await readFileOf(root, files), root, keyType);
      for (const { userID, pubKey } of file.records) records.set(userID, { pubKey, root });
    },
    { concurrency: AT_ONCE },
  );
  const index = new AccountIndex(options);
  const findings: Finding[] = [];
  let [accounts, done] = [0, 0];
  await pMap(
    records,
    async ([userID, { root }]) => {
      const found = await readAccountFiles(userID, files);
      accounts += found.length > 0 ? 1 : 0;
      for (const bytes of found) {
        try {
          index.add(bytes);
        } catch (error) {
          if (!(error instanceof VerificationError)) throw error;
          const message = `An account file of ${userID} is invalid: ${error.message}`;
          findings.push(finding("ACCOUNT_FILE_INVALID", message, { root, userID, detail: error.code }));
        }
      }
      onProgress(++done, records.size);
    },
    { concurrency: AT_ONCE },
  );
  let changes = 0;
  for (const [id, { pubKey, root }] of records) {
    const slot = index.slotOf(id);
    if (slot !== undefined && slot.number > 0) changes++;
    if (index.authorizes(id, pubKey)) continue;
    const where = slot === undefined ? "no known account" : `slot ${slot.number} of the account ${slot.userID}`;
    const message = `The root ${root} has a key for the id ${id} of ${where}, but no known statement authorizes the key ${pubKey}.`;
    findings.push(finding("SLOT_UNAUTHORIZED", message, { root, userID: slot?.userID ?? id }));
  }
  return { accounts, changes, findings };
}
