/**
 * The size limit of transactions. Nodes do not keep larger transactions in their pools, but accept them in gas
 * estimates, so the limit must be calculated. Sources: `txMaxSize` in
 * https://github.com/ethereum/go-ethereum/blob/master/core/txpool/legacypool/legacypool.go,
 * `DEFAULT_MAX_TX_INPUT_BYTES` in
 * https://github.com/paradigmxyz/reth/blob/main/crates/transaction-pool/src/validate/constants.rs.
 */
import { USER_ID_BYTES } from "keyroot/internal/identity";

/** The maximum size of a signed transaction in bytes. */
export const MAX_TRANSACTION_BYTES = 128 * 1024;

/**
 * Room for all fields of a signed transaction except calldata and storage slots, including the RLP prefixes of all
 * fields.
 */
const FIELDS_BYTES = 320;
/** The calldata of `addMerkleTreeRoot` without user ids: selector, root, offset, length, and padding to 32 bytes. */
const CALL_BYTES = 4 + 3 * 32 + 31;
/** The size of a storage slot in an access list, with its RLP prefix. */
const SLOT_BYTES = 33;

/** Returns the maximum number of users whose root one transaction can add, without or with an access list. */
export function maxUsersBySize(withAccessList: boolean): number {
  const bytesPerUser = withAccessList ? USER_ID_BYTES + SLOT_BYTES : USER_ID_BYTES;
  return Math.floor((MAX_TRANSACTION_BYTES - FIELDS_BYTES - CALL_BYTES) / bytesPerUser);
}
