import { encodeUint } from "./words.ts";

/** The storage slot of the mapping from users to roots in `PublicKeyRegistry`. */
export const USERS_SLOT = 2;

/** The deployed predecessor `PubKeyTrust` on Ethereum's mainnet, and the slot of its mapping from users to roots. */
const PUB_KEY_TRUST = { chainId: 1, contract: "0x997715d0eb47a50d7521ed0d2d023624a4333f9a", usersSlot: 1 };

/** Returns the storage slot of a registry's mapping from users to roots. */
export function usersSlotOf({ chainId, contract }: { chainId: number; contract: string }): number {
  const isOlder = chainId === PUB_KEY_TRUST.chainId && contract.toLowerCase() === PUB_KEY_TRUST.contract;
  return isOlder ? PUB_KEY_TRUST.usersSlot : USERS_SLOT;
}

/** The storage slot of the mapping from roots to block numbers in `PublicKeyRegistry`. */
export const BLOCK_NUMBERS_SLOT = 3;

/** The storage slot of the number of users in `PublicKeyRegistry`: 0x and 64 hex digits. */
export const USER_COUNT_SLOT = `0x${encodeUint(4)}`;
