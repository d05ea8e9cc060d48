import { parseAccount, parseAccountFile, verifyAccountFile } from "keyroot/account";
import { VerificationError } from "keyroot/internal/errors";
import { type Region, REGIONS } from "keyroot/internal/identity";
import type { AccountFileStore } from "@keyroot/operator/publisher";
import { accountFilesOf, namedAccountFiles } from "../accounts/accountFiles.ts";
import { readAccount } from "../accounts/statements.ts";
import type { Databases } from "../api/database/database.ts";
import { eachAccount } from "./eachAccount.ts";

/** The result of comparing the account files in all stores with the databases. */
export interface RebuiltAccountFiles {
  /** Number of account files that the stores should have. */
  accountFiles: number;
  /** The names of files that were missing, damaged or older than the databases, and were written. */
  rebuilt: string[];
  /** The names of files with a newer statement than the databases, as after a restore. They were not changed. */
  newer: string[];
}

/**
 * Compares the account files of all users with the databases' statements, and writes files that are missing or older. A
 * file with a newer statement is kept. If a database was restored from a backup, this file may be the only copy of the
 * statement.
 * @throws TransportError FILE_UNREADABLE, FILE_UNWRITABLE, and the errors of the stores
 */
export async function rebuildAccountFiles(
  databases: Databases,
  stores: Record<Region, AccountFileStore>,
): Promise<RebuiltAccountFiles> {
  const result: RebuiltAccountFiles = { accountFiles: 0, rebuilt: [], newer: [] };
  for (const region of REGIONS) {
    const [database, store] = [databases.regions[region], stores[region]];
    const rebuild = async (userID: string) => {
      const account = await readAccount(database, userID);
      const files = account && accountFilesOf(account.text, account.statements);
      if (account === undefined || files === undefined) return;
      for (const [name, text] of namedAccountFiles(userID, files)) {
        result.accountFiles++;
        const stored = await store.readAccountFile(name);
        if (stored !== undefined && Buffer.from(stored).equals(Buffer.from(text))) continue;
        if (stored !== undefined && isNewer(stored, account.text, text)) {
          result.newer.push(name);
          continue;
        }
        await store.putAccountFile(name, text);
        result.rebuilt.push(name);
      }
    };
    await eachAccount(database, region, ({ userID }) => rebuild(userID));
  }
  return result;
}

/** Checks whether a stored file is valid for the account and has a later statement than the database's file. */
function isNewer(stored: Uint8Array, accountText: string, text: string): boolean {
  const { userID, chainId, contract } = parseAccount(accountText);
  try {
    const { number, nextNumber } = verifyAccountFile(stored, userID, { chainId, contract });
    const [own, ...voids] = parseAccountFile(Buffer.from(text)).statements;
    return number > own.number || (number === own.number && nextNumber > number + 1 + voids.length);
  } catch (error) {
    if (error instanceof VerificationError) return false;
    throw error;
  }
}
