import { and, eq, isNotNull, isNull } from "../api/database/drizzle.ts";
import type { KeyRecord, Region, UserID } from "keyroot/internal/identity";
import type { Author } from "../api/base/author.ts";
import { recordChange } from "../auditLog/recordChange.ts";
import { countShares } from "./batches.ts";
import type { Database } from "../api/database/database.ts";
import { isAnyOf } from "../api/database/columns.ts";
import { batches, conflictingKeys, keyStatements, publicKeys } from "../keys/tables.ts";
import { users } from "../users/tables.ts";

/** The users of a comparison of stored keys with published keys, by result. */
export interface Adopted {
  /** Users with a stored key that was not marked as published. */
  recorded: UserID[];
  /** Users with a different stored key. */
  replaced: UserID[];
  /** Users without a stored key. */
  added: UserID[];
  /** Users with a key that the database already records as published under this root. */
  unchanged: UserID[];
}

/**
 * Replaces users' stored keys with the published keys, because a published key cannot change. A replaced key becomes a
 * conflicting key. If another key is published in an account's slot, the slot is marked as taken instead, because only
 * the owner can authorize a key for it.
 *
 * Users who are erased or missing in the database are skipped. The caller marks the keys as published.
 * @param transaction a transaction in the region
 * @param records all records of the root's file whose users have this root on the chain
 */
export async function adoptPublished(
  transaction: Database,
  region: Region,
  root: string,
  records: readonly KeyRecord[],
  now: number,
  author: Author,
): Promise<Adopted> {
  const ids = records.map(({ userID }) => userID);
  const present = await transaction
    .select({ userID: users.userID, bizID: users.bizID })
    .from(users)
    .where(and(isAnyOf(users.userID, ids), isNull(users.erased)))
    .for("share");
  const found = await transaction.select().from(publicKeys).where(isAnyOf(publicKeys.userID, ids)).for("update");
  const [batch] = await transaction
    .select()
    .from(batches)
    .where(and(eq(batches.root, root), isNotNull(batches.blockNumber)));
  const keyOf = new Map(found.map((row) => [row.userID, row]));
  const partnerOf = new Map(present.map(({ userID, bizID }) => [userID, bizID]));
  const adopted: Adopted = { recorded: [], replaced: [], added: [], unchanged: [] };
  for (const { userID, pubKey, keyID } of records) {
    const known = keyOf.get(userID);
    if (known?.account && known.pubKey !== pubKey) {
      await giveUpSlot(transaction, { ...known, account: known.account }, now, author);
      continue;
    }
    // An erased user has a key only if it was already submitted.
    const bizID = partnerOf.get(userID) ?? (known?.pubKey === pubKey ? known.bizID : undefined);
    if (bizID === undefined) continue;
    if (known === undefined) {
      adopted.added.push(userID);
      await transaction
        .insert(publicKeys)
        .values({ userID, bizID, region, pubKey, keyID, registered: now, possession: "unproven", submitted: now });
    } else if (known.pubKey !== pubKey) {
      adopted.replaced.push(userID);
      await transaction
        .update(publicKeys)
        .set({ pubKey, keyID, possession: "unproven", submitted: now, root: null })
        .where(eq(publicKeys.userID, userID));
      await transaction
        .insert(conflictingKeys)
        .values({ userID, keyID: known.keyID, pubKey: known.pubKey, offered: known.registered, withdrawn: false })
        .onConflictDoNothing();
      if (known.root !== null) await countShares(transaction, [known.root]);
    } else {
      adopted[known.root !== root || batch === undefined ? "recorded" : "unchanged"].push(userID);
    }
  }
  return adopted;
}

/**
 * Records that a slot holds a different key than its account authorized. The owner must then sign a statement with the
 * next number.
 */
async function giveUpSlot(
  transaction: Database,
  { userID: slotID, account, bizID, number, keyID, root }: typeof publicKeys.$inferSelect & { account: UserID },
  now: number,
  author: Author,
): Promise<void> {
  await transaction.delete(publicKeys).where(eq(publicKeys.userID, slotID));
  if (root !== null) await countShares(transaction, [root]);
  await transaction
    .update(keyStatements)
    .set({ taken: now })
    .where(and(eq(keyStatements.slotID, slotID), eq(keyStatements.keyID, keyID)));
  const data = { number, key_id: keyID };
  await recordChange(transaction, author, { action: "keyChange.taken", at: now, partner: bizID, user: account, data });
}
