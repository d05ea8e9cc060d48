// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPublicKeyRegistry} from "./IPublicKeyRegistry.sol";

/// @title Reads the roots of many users in a single call
/// @author Keyroot
/// @notice Never deployed: `eth_call` runs its creation code and answers what the constructor returns, which is the list
/// of the users' roots. `src/registry/readMerkleTreeRoots.ts` holds the code.
contract MerkleTreeRootsReader {
    /// @notice Returns the ABI encoding of the roots in the order of the ids. Its first byte is 0, not the 0xEF with
    /// which no code may begin (EIP-3541).
    /// @param registry Where the roots are
    /// @param userIDs At most 765: their roots are returned as code, whose 24,576 bytes are the limit (EIP-170)
    constructor(IPublicKeyRegistry registry, bytes20[] memory userIDs) {
        bytes32[] memory roots = new bytes32[](userIDs.length);
        for (uint256 i = 0; i < userIDs.length; ++i) roots[i] = registry.getMerkleTreeRoot(userIDs[i]);
        bytes memory answer = abi.encode(roots);
        // solhint-disable-next-line no-inline-assembly
        assembly ("memory-safe") {
            return(add(answer, 32), mload(answer))
        }
    }
}
