// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;
interface IPublicKeyRegistry {
    event MerkleTreeRootAdded(bytes32 indexed merkleTreeRoot, uint256 addedCount);
    error PublicKeyRegistryZeroRoot(bytes32 merkleTreeRoot);
    error PublicKeyRegistryInvalidPackedLength(uint256 length);
    error PublicKeyRegistryCannotRenounceOwnership(address owner);
}
