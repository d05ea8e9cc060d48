import { and, eq, exists, isNull, lte, not, or } from "../api/database/drizzle.ts";
import { REGIONS, type Region, type UserID } from "keyroot/internal/identity";
import type { AccountFileStore } from "@keyroot/operator/publisher";
import pMap from "p-map";
import { storeAccountFiles } from "../accounts/accountFiles.ts";
import { isAnyOf } from "../api/database/columns.ts";
import type { Author } from "../api/base/author.ts";
import type { Database, Databases } from "../api/database/database.ts";
import { recordChange } from "../auditLog/recordChange.ts";
import { batches, isOpenStatement, keyStatements, publicKeys, VOID } from "../keys/tables.ts";
import { suspensions } from "../partners/tables.ts";
import { withLease } from "../publishing/lease.ts";
import { users } from "../users/tables.ts";
import type { ChainConnection } from "./chainConnection.ts";

/**
 * The time in ms from the confirmation of a changed key on the chain until the account file is updated. In this time,
 * contacts who read an older block still verify the earlier key, and all others find the change in the next file. Light
 * clients need most of this time, because they are 13 to 19 minutes behind.
 */
export const SETTLE_MS = 30 * 60 * 1000;

const FILES_AT_ONCE = 8;

/** Stores the account files of one region's users. */
export class AccountPublisher {
  readonly #database: Database;
  readonly #region: Region;
  readonly #store: Pick<AccountFileStore, "putAccountFile">;
  readonly #now: () => number;

  constructor(
    databases: Databases,
    region: Region,
    store: Pick<AccountFileStore, "putAccountFile">,
    now: () => number,
  ) {
    this.#database = databases.regions[region];
    this.#region = region;
    this.#store = store;
    this.#now = now;
  }

  /**
   * Stores the account files of users before their keys are published. Everyone who then finds the root on the chain
   * also finds the statement.
   * @param ids the user ids and ids of slots that are about to get a root
   */
  async storeBefore(ids: readonly UserID[]): Promise<void> {
    const rows = await this.#database
      .select({ userID: publicKeys.userID, account: publicKeys.account })
      .from(publicKeys)
      .where(isAnyOf(publicKeys.userID, ids));
    const store = ({ userID, account }: (typeof rows)[number]) =>
      storeAccountFiles(this.#database, account ?? userID, this.#store);
    await pMap(rows, store, { concurrency: FILES_AT_ONCE });
  }

  /**
   * Completes the changes that are due. Published keys are due after `SETTLE_MS`. Void statements are due after their
   * hold period if their slot has a root. A void statement makes an older key valid again, so the account's other keys
   * must have time to object to it.
   * @param rootsOf reads the roots of ids at a final block, in order
   * @returns the number of completed changes
   */
  async settle(
    rootsOf: (ids: readonly UserID[]) => Promise<readonly (string | undefined)[]>,
    author: Author,
  ): Promise<number> {
    const now = this.#now();
    const open = await this.#listOpen(now);
    const voids = open.filter(({ keyID }) => keyID === VOID);
    const keys = open.filter(({ keyID }) => keyID !== VOID);
    const roots = voids.length === 0 ? [] : await rootsOf(voids.map(({ slotID }) => slotID));
    const filled = voids.filter((_, i) => roots[i] !== undefined);
    for (const { userID, bizID, number, keyID } of [...keys, ...filled]) {
      await this.#database.transaction(async (transaction) => {
        const which = and(eq(keyStatements.userID, userID), eq(keyStatements.number, number), isOpenStatement);
        const settled = await transaction.update(keyStatements).set({ settled: now }).where(which).returning();
        const change = { at: now, partner: bizID, user: userID, data: { number, key_id: keyID } };
        if (keyID === VOID && settled.length > 0)
          await recordChange(transaction, author, { action: "keyChange.published", ...change });
        // If the store fails, the statement stays open, and the next call repeats this.
        await storeAccountFiles(transaction, userID, this.#store);
      });
    }
    return keys.length + filled.length;
  }

  /** Whether there are changes that `settle` may complete now. */
  async hasOpen(): Promise<boolean> {
    return (await this.#listOpen(this.#now())).length > 0;
  }

  /** Lists the changes that are not part of the account file yet, but may become one. */
  #listOpen(now: number) {
    const { userID, number, keyID, slotID, holdEndsAt } = keyStatements;
    const isVoid = and(
      eq(keyID, VOID),
      or(isNull(holdEndsAt), lte(holdEndsAt, now)),
      isNull(users.deactivated),
      not(exists(this.#database.select().from(suspensions).where(eq(suspensions.bizID, users.bizID)))),
    );
    return this.#database
      .select({ userID, number, keyID, slotID, bizID: users.bizID })
      .from(keyStatements)
      .innerJoin(users, eq(users.userID, userID))
      .leftJoin(publicKeys, and(eq(publicKeys.userID, slotID), eq(publicKeys.keyID, keyID)))
      .leftJoin(batches, eq(batches.root, publicKeys.root))
      .where(and(isOpenStatement, eq(users.region, this.#region), or(isVoid, lte(batches.confirmed, now - SETTLE_MS))));
  }
}

/**
 * Updates the account files of all regions. Nothing is published during the update. The chain is read only if a change
 * is open.
 * @returns the number of completed changes
 * @throws ArgumentError PUBLISHER_RUNNING if a replica publishes
 */
export async function settleChanges(
  home: Database,
  connection: ChainConnection,
  accountsOf: (region: Region) => Promise<AccountPublisher>,
  author: Author,
): Promise<number> {
  let settled = 0;
  for (const region of REGIONS) {
    const accounts = await accountsOf(region);
    if (!(await accounts.hasOpen())) continue;
    settled += await withLease(home, async (_fenced, lost) => {
      const check = await connection.openCheck(await connection.connect(lost), lost);
      return accounts.settle(async (ids) => check.rootsOf(ids, await check.finalBlock()), author);
    });
  }
  return settled;
}
