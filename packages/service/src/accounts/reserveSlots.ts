import { type Account, slotIDOf } from "keyroot/account";
import type { Region } from "keyroot/internal/identity";
import { SERVICE } from "../api/base/author.ts";
import type { Databases } from "../api/database/database.ts";
import { eraseUser } from "../keys/eraseUser.ts";
import { addClaims, findClaims, giveClaim, SLOT_OWNER } from "../users/claims.ts";

/** Number of slots after the newest statement that no user id can have. */
const RESERVED_SLOTS = 8;

/**
 * Reserves the ids of the slots after a statement, so that no user can have them. Anyone who knows the account text can
 * compute these ids, and may already have created users with them. These users are erased. They have no keys, because
 * no account has such an id. The only exceptions are users whose key a publisher took before the registry had accounts;
 * these users are kept.
 * @param place.after the number of the statement
 */
export async function reserveSlots(
  databases: Databases,
  account: Pick<Account, "text" | "userID">,
  { region, after, now }: { region: Region; after: number; now: number },
): Promise<void> {
  const { home } = databases;
  const ids = Array.from({ length: RESERVED_SLOTS }, (_, i) => slotIDOf(account, after + 1 + i));
  const claims = ids.map((userID) => ({ userID, bizID: SLOT_OWNER, region }));
  await addClaims(home, claims);
  for (const { userID, bizID } of await findClaims(home, ids)) {
    if (bizID === SLOT_OWNER) continue;
    const erased = await eraseUser(databases, bizID, userID, now, SERVICE);
    if (erased?.keyRemains !== true) await giveClaim(home, { userID, bizID: SLOT_OWNER, region });
  }
}
