import { encodeUint } from "./words.ts";

/** The storage slot of the mapping from users to roots in `PublicKeyRegistry`. `PubKeyTrust` uses slot 1. */
export const USERS_SLOT = 2;

/** The storage slot of the mapping from roots to block numbers in `PublicKeyRegistry`. */
export const BLOCK_NUMBERS_SLOT = 3;

/** The storage slot of the number of users in `PublicKeyRegistry`: 0x and 64 hex digits. */
export const USER_COUNT_SLOT = `0x${encodeUint(4)}`;
