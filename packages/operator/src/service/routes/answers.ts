import type { RegisteredKey } from "../store/publicKeys.ts";
import type { User } from "../store/users.ts";

/** A user as the API tells of it (specification, "Shadow user"). */
export function userAnswer({ userID, bucket, region, salt, created }: User, stage: string) {
  return { user_id: userID, bucket, region, stage, salt, created };
}

/** A registered key as the API tells of it. */
export function keyAnswer({ pubKey, keyID, state, root, transaction }: RegisteredKey) {
  return {
    pubKey,
    keyID,
    state,
    ...(root !== undefined && { root }),
    ...(transaction !== undefined && { transaction }),
  };
}
