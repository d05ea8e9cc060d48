import type { Region } from "../../../packages/keyroot/src/identity/region.ts";
import type { KeyRecord } from "../../../packages/keyroot/src/identity/serializedRecord.ts";
import { SERVICE } from "../../../packages/service/src/api/base/author.ts";
import type { Databases } from "../../../packages/service/src/api/database/database.ts";
import { PublicKeyStore } from "../../../packages/service/src/keys/publicKeys.ts";
import { UserCreation } from "../../../packages/service/src/users/createUser.ts";

/**
 * Creates users with these keys, whose hold periods have ended.
 * @param ownerOf the partner and region of each user
 */
export async function registerKeys(
  databases: Databases,
  records: readonly KeyRecord[],
  ownerOf: (index: number) => { bizID: string; region: Region },
): Promise<void> {
  const users = new UserCreation(databases, "test");
  const keys = new PublicKeyStore(databases);
  for (const [i, record] of records.entries()) {
    const user = { userID: record.userID, ...ownerOf(i) };
    await users.create(user.bizID, user.userID, user.region, 1, SERVICE);
    const registration = { registered: 1, holdEndsAt: 1, possession: "proven" } as const;
    await keys.add(databases.regions[user.region], user, record, registration, SERVICE);
  }
}
