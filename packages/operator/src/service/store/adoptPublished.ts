import { and, eq, isNotNull, isNull } from "drizzle-orm";
import type { KeyRecord, Region, UserID } from "keyroot/identity";
import { countShares } from "./batches.ts";
import type { Database } from "./database.ts";
import { isAnyOf } from "./isAnyOf.ts";
import { batches, offeredKeys, publicKeys, users } from "./tables.ts";

/** How the database differed from published records. Users whose key it knew as published are in none of them. */
export interface Adopted {
  /** Users whose key the database had, but not as published. */
  recorded: UserID[];
  /** Users who had another key. */
  replaced: UserID[];
  /** Users who had no key. */
  added: UserID[];
}

/**
 * Makes users' keys those that are on the chain, where they cannot change. A key that is replaced becomes an offered one. The
 * caller marks the keys as published. Erased users, and users that the database does not have, are left out.
 * @param transaction of the region
 * @param records all those of the root's file whose users have this root on the chain
 * @param now milliseconds since 1970
 */
export async function adoptPublished(
  transaction: Database,
  region: Region,
  root: string,
  records: readonly KeyRecord[],
  now: number,
): Promise<Adopted> {
  const ids = records.map(({ userID }) => userID);
  const present = await transaction
    .select({ userID: users.userID })
    .from(users)
    .where(and(isAnyOf(users.userID, ids), isNull(users.erased)))
    .for("share");
  const found = await transaction.select().from(publicKeys).where(isAnyOf(publicKeys.userID, ids)).for("update");
  const [batch] = await transaction
    .select()
    .from(batches)
    .where(and(eq(batches.root, root), isNotNull(batches.blockNumber)));
  const keyOf = new Map(found.map((row) => [row.userID, row]));
  const isPresent = new Set(present.map(({ userID }) => userID));
  const adopted: Adopted = { recorded: [], replaced: [], added: [] };
  for (const { userID, pubKey, keyID } of records.filter((one) => isPresent.has(one.userID))) {
    const known = keyOf.get(userID);
    if (known === undefined) {
      adopted.added.push(userID);
      await transaction
        .insert(publicKeys)
        .values({ userID, region, pubKey, keyID, registered: now, possession: "unproven", submitted: now });
    } else if (known.pubKey !== pubKey) {
      adopted.replaced.push(userID);
      await transaction
        .update(publicKeys)
        .set({ pubKey, keyID, possession: "unproven", submitted: now, root: null })
        .where(eq(publicKeys.userID, userID));
      await transaction
        .insert(offeredKeys)
        .values({ userID, keyID: known.keyID, pubKey: known.pubKey, offered: known.registered, withdrawn: false })
        .onConflictDoNothing();
      if (known.root !== null) await countShares(transaction, [known.root]);
    } else if (known.root !== root || batch === undefined) {
      adopted.recorded.push(userID);
    }
  }
  return adopted;
}
