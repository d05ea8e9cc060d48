import { and, eq, isNull } from "../api/database/drizzle.ts";
import type { Claim } from "../users/claims.ts";
import { recordChange } from "../auditLog/recordChange.ts";
import type { Author } from "../api/base/author.ts";
import type { Databases } from "../api/database/database.ts";
import { serverTokens, userTokens } from "./tables.ts";

/**
 * Revokes a server token permanently. Repeating the call has no effect.
 * @param bizID the token's partner; undefined for the operator, who may revoke any server token
 * @returns undefined if the token does not exist
 */
export function revokeServerToken(
  databases: Databases,
  bizID: string | undefined,
  tokenID: string,
  now: number,
  author: Author,
) {
  return databases.home.transaction(async (transaction) => {
    const owned = bizID === undefined ? undefined : eq(serverTokens.bizID, bizID);
    const which = and(owned, eq(serverTokens.tokenID, tokenID));
    const [revoked] = await transaction
      .update(serverTokens)
      .set({ revoked: now, sealedToken: null })
      .where(and(which, isNull(serverTokens.revoked)))
      .returning();
    if (revoked === undefined) return (await transaction.select().from(serverTokens).where(which))[0];
    const change = { action: "serverToken.revoked", at: now, partner: revoked.bizID, token: tokenID } as const;
    await recordChange(transaction, author, change);
    return revoked;
  });
}

/**
 * Revokes a user's token permanently. Repeating the call has no effect.
 * @returns undefined if the user has no such token
 */
export function revokeUserToken(
  databases: Databases,
  { userID, region, bizID }: Claim,
  tokenID: string,
  now: number,
  author: Author,
) {
  return databases.regions[region].transaction(async (transaction) => {
    const which = and(eq(userTokens.userID, userID), eq(userTokens.tokenID, tokenID));
    const [revoked] = await transaction
      .update(userTokens)
      .set({ revoked: now, sealedToken: null })
      .where(and(which, isNull(userTokens.revoked)))
      .returning();
    if (revoked === undefined) return (await transaction.select().from(userTokens).where(which))[0];
    const change = { action: "refreshToken.revoked", at: now, partner: bizID, user: userID, token: tokenID } as const;
    await recordChange(transaction, author, change);
    return revoked;
  });
}
