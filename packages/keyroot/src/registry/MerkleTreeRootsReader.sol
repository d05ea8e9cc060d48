// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPublicKeyRegistry} from "@keyroot/contracts/IPublicKeyRegistry.sol";

/// @title MerkleTreeRootsReader
/// @author Keyroot
/// @notice Reads the roots of many users in one `eth_call`, without being deployed. The call has no recipient and its data
/// is this contract's creation code with the constructor arguments, so the node returns what the constructor returns: the
/// users' roots. `readMerkleTreeRoots.ts` contains the creation code.
contract MerkleTreeRootsReader {
    /// @notice Returns the roots in the order of the ids, each once for all users in a row that have it: 2 bytes for the number
    /// of these users, and the 32 bytes of the root. So the answer does not begin with 0xEF, with which no code may begin
    /// (EIP-3541).
    /// @param registry The registry to read from
    /// @param userIDs The users' ids, 20 bytes each, in a row. At most 722: the roots are returned as code, which is limited to
    /// 24,576 bytes (EIP-170)
    constructor(IPublicKeyRegistry registry, bytes memory userIDs) {
        bytes memory answer = new bytes((userIDs.length / 20) * 34);
        uint256 size;
        uint256 users;
        bytes32 last;
        for (uint256 i = 0; i + 20 <= userIDs.length; i += 20) {
            bytes20 userID;
            // solhint-disable-next-line no-inline-assembly
            assembly ("memory-safe") {
                userID := shl(96, shr(96, mload(add(add(userIDs, 32), i))))
            }
            bytes32 root = registry.getMerkleTreeRoot(userID);
            if (users == 0 || root != last) {
                size += 34;
                users = 0;
                last = root;
            }
            ++users;
            // solhint-disable-next-line no-inline-assembly
            assembly ("memory-safe") {
                let run := sub(add(add(answer, 32), size), 34)
                mstore(run, shl(240, users))
                mstore(add(run, 2), root)
            }
        }
        // solhint-disable-next-line no-inline-assembly
        assembly ("memory-safe") {
            return(add(answer, 32), size)
        }
    }
}
