import { type Account, parseAccount, parseAccountFile, slotIDOf, verifyAccountFile } from "keyroot/account";
import { serializeKeyStatement } from "keyroot/internal/account";
import { VerificationError } from "keyroot/internal/errors";
import { type KeyType, type Region, REGIONS, type UserID, userIDToHex } from "keyroot/internal/identity";
import type { AccountFileStore } from "@keyroot/operator/publisher";
import { storeAccountFiles } from "../accounts/accountFiles.ts";
import { reserveSlots } from "../accounts/reserveSlots.ts";
import { keyIDOfStatement, readAccount } from "../accounts/statements.ts";
import type { Databases } from "../api/database/database.ts";
import { eq } from "../api/database/drizzle.ts";
import { keyStatements, publicKeys } from "../keys/tables.ts";
import { users } from "../users/tables.ts";
import { eachAccount } from "./eachAccount.ts";

export interface ImportOptions {
  databases: Databases;
  stores: Record<Region, Pick<AccountFileStore, "readAccountFile" | "putAccountFile">>;
  keyType: KeyType;
  /** Reads the roots of ids at a final block, in order. */
  rootsOf: (ids: readonly UserID[]) => Promise<readonly (string | undefined)[]>;
  now: () => number;
}

/**
 * Adds statements that the database does not have but the account files do, for example after a backup was restored.
 * Without these statements, the key in a slot would look like somebody else's. In addition, a thief of a recovery key
 * could declare the slot void.
 *
 * It adds only statements that the account's recovery keys signed and whose slots have a root on the chain. All other
 * statements must be submitted again.
 * @returns the slots of the added statements, with their roots
 */
export async function importStatements(options: ImportOptions): Promise<Map<UserID, string>> {
  const { databases, stores, now } = options;
  const added = new Map<UserID, string>();
  for (const region of REGIONS)
    await eachAccount(databases.regions[region], region, async ({ userID, bizID, text }) => {
      const account = parseAccount(text);
      for (const suffix of ["", ".next"]) {
        const file = await stores[region].readAccountFile(`accounts/${userIDToHex(userID)}${suffix}.txt`);
        if (file === undefined) continue;
        const missing = await findMissing(options, region, account, file);
        const [first] = missing;
        if (first === undefined) continue;
        await reserveSlots(databases, account, { region, after: first.number - 1, now: now() });
        await addStatements(options, { userID, bizID, region }, missing);
        for (const { slotID, root } of missing) added.set(slotID, root);
      }
    });
  return added;
}

/**
 * Returns the statements of a file that the database does not have and whose slots have a root, in order. An invalid
 * file has no statements.
 */
async function findMissing(
  { databases, keyType, rootsOf }: ImportOptions,
  region: Region,
  account: Account,
  file: Uint8Array,
) {
  const statements = statementsOf(account, file);
  const { statements: known = [] } = (await readAccount(databases.regions[region], account.userID)) ?? {};
  const unknown = statements
    .map(({ number, publicKey, statement }) => {
      const keyID = keyIDOfStatement(publicKey, keyType);
      return { number, publicKey, statement, keyID, slotID: slotIDOf(account, number) };
    })
    .filter(({ number, keyID }) => !known.some((one) => one.number === number && one.keyID === keyID));
  const roots = unknown.length === 0 ? [] : await rootsOf(unknown.map(({ slotID }) => slotID));
  return unknown.flatMap((one, i) => {
    const root = roots[i];
    return root === undefined ? [] : [{ ...one, root }];
  });
}

function statementsOf(account: Account, file: Uint8Array) {
  try {
    verifyAccountFile(file, account.userID, account);
    return parseAccountFile(file).statements.map((signed) => ({ ...signed, statement: serializeKeyStatement(signed) }));
  } catch (error) {
    if (error instanceof VerificationError) return [];
    throw error;
  }
}

/** Adds statements of a user, and stores the account file again, which then has them. */
async function addStatements(
  { databases, stores, now }: ImportOptions,
  { userID, bizID, region }: { userID: UserID; bizID: string; region: Region },
  missing: Awaited<ReturnType<typeof findMissing>>,
): Promise<void> {
  const time = now();
  await databases.regions[region].transaction(async (transaction) => {
    // A user who is erased meanwhile gets no statements.
    const [user] = await transaction.select().from(users).where(eq(users.userID, userID)).for("update");
    if (user?.erased !== null) return;
    for (const { number, keyID, publicKey, slotID, statement } of missing) {
      const row = { userID, number, keyID, slotID, statement, possession: "unproven", submitted: time } as const;
      await transaction.insert(keyStatements).values({ ...row, settled: time });
      if (publicKey === undefined || number === 0) continue;
      const key = { userID: slotID, account: userID, number, region, bizID, pubKey: publicKey, keyID };
      await transaction
        .insert(publicKeys)
        .values({ ...key, registered: time, possession: "unproven", submitted: time })
        .onConflictDoNothing();
    }
    await storeAccountFiles(transaction, userID, stores[region]);
  });
}
