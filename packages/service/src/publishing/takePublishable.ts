import { and, count, eq, isNotNull, isNull, or, sql } from "../api/database/drizzle.ts";
import { type KeyRecord, REGIONS, type Region } from "keyroot/internal/identity";
import type { Databases } from "../api/database/database.ts";
import { isPublishable, type PublishableOptions, timeOf } from "../keys/holdPeriod.ts";
import { isInOpenBatch, publicKeys } from "../keys/tables.ts";

const RECORD = { userID: publicKeys.userID, pubKey: publicKeys.pubKey, keyID: publicKeys.keyID };

/** The condition that a publisher took a key, and that the key is in no batch yet. */
const isTaken = and(isNull(publicKeys.root), isNotNull(publicKeys.submitted));

/**
 * Takes the region's publishable keys, which can then no longer be withdrawn.
 * @returns all taken keys that are not on the chain yet, including those of earlier calls
 */
export async function takePublishable(
  { regions }: Databases,
  region: Region,
  options: PublishableOptions = {},
): Promise<KeyRecord[]> {
  const database = regions[region];
  // A withdrawal deletes the row under the same condition, so only one of two concurrent statements succeeds.
  await database
    .update(publicKeys)
    .set({ submitted: timeOf(options) })
    .where(and(eq(publicKeys.region, region), isNull(publicKeys.root), isPublishable(options)));
  return database
    .select(RECORD)
    .from(publicKeys)
    .where(and(eq(publicKeys.region, region), or(isTaken, isInOpenBatch(publicKeys.root))));
}

/**
 * Counts the keys that `takePublishable` would return in all regions.
 * @param overdueSeconds counts only keys whose hold period ended at least this many seconds ago
 */
export async function countPublishable(
  { regions }: Databases,
  options: PublishableOptions = {},
  overdueSeconds?: number,
): Promise<number> {
  const isOverdue =
    overdueSeconds === undefined
      ? undefined
      : sql`${publicKeys.holdEndsAt} <= ${timeOf(options)} - ${overdueSeconds * 1000}`;
  let keys = 0;
  for (const region of REGIONS) {
    const [row] = await regions[region]
      .select({ keys: count() })
      .from(publicKeys)
      .where(
        // All conditions concern keys without a batch, so that a single index scan finds the keys.
        and(
          eq(publicKeys.region, region),
          or(
            and(isNull(publicKeys.root), or(isNotNull(publicKeys.submitted), isPublishable(options))),
            isInOpenBatch(publicKeys.root),
          ),
          isOverdue,
        ),
      );
    keys += row?.keys ?? 0;
  }
  return keys;
}
