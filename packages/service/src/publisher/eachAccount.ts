import type { Region, UserID } from "keyroot/internal/identity";
import pMap from "p-map";
import type { Database } from "../api/database/database.ts";
import { and, asc, eq, gt } from "../api/database/drizzle.ts";
import { accounts } from "../keys/tables.ts";
import { users } from "../users/tables.ts";

const PAGE = 100;
const CONCURRENT_ACCOUNTS = 4;

/** Calls a function for each account of a region, for several at a time. */
export async function eachAccount(
  database: Database,
  region: Region,
  visit: (account: { userID: UserID; bizID: string; text: string }) => Promise<void>,
): Promise<void> {
  for (let after = ""; ;) {
    const found = await database
      .select({ userID: accounts.userID, bizID: users.bizID, text: accounts.text })
      .from(accounts)
      .innerJoin(users, eq(users.userID, accounts.userID))
      .where(and(eq(users.region, region), gt(accounts.userID, after)))
      .orderBy(asc(accounts.userID))
      .limit(PAGE);
    await pMap(found, visit, { concurrency: CONCURRENT_ACCOUNTS });
    const last = found.at(-1);
    if (last === undefined) return;
    after = last.userID;
  }
}
