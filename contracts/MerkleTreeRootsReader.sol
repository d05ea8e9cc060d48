// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPublicKeyRegistry} from "./IPublicKeyRegistry.sol";

/// @title MerkleTreeRootsReader
/// @author Keyroot
/// @notice Reads the roots of many users in one `eth_call`, without being deployed. The call has no recipient and its data
/// is this contract's creation code with the constructor arguments, so the node returns what the constructor returns: the
/// users' roots. `packages/keyroot/src/registry/readMerkleTreeRoots.ts` contains the creation code.
contract MerkleTreeRootsReader {
    /// @notice Returns the ABI encoding of the roots, in the order of the ids. It begins with a zero byte, so nodes do not
    /// reject it as code that begins with 0xEF (EIP-3541).
    /// @param registry The registry to read from
    /// @param userIDs The users' ids, at most 765: the roots are returned as code, which is limited to 24,576 bytes (EIP-170)
    constructor(IPublicKeyRegistry registry, bytes20[] memory userIDs) {
        bytes32[] memory roots = new bytes32[](userIDs.length);
        for (uint256 i = 0; i < userIDs.length; ++i) roots[i] = registry.getMerkleTreeRoot(userIDs[i]);
        bytes memory encoded = abi.encode(roots);
        // solhint-disable-next-line no-inline-assembly
        assembly ("memory-safe") {
            return(add(encoded, 32), mload(encoded))
        }
    }
}
