// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {IPublicKeyRegistry} from "./IPublicKeyRegistry.sol";

/// @title PublicKeyRegistry
/// @author Keyroot
/// @notice Implements `IPublicKeyRegistry`. Only one statement writes a user's root, and only if that root is zero.
contract PublicKeyRegistry is IPublicKeyRegistry, Ownable2Step {
    struct User {
        bytes32 merkleTreeRoot;
    }

    /// @inheritdoc IPublicKeyRegistry
    string public constant HASH_TYPE = "sha256";

    mapping(bytes20 userID => User) private _users;
    mapping(bytes32 merkleTreeRoot => uint256 blockNumber) private _blockNumbers;
    uint256 private _userCount;

    /// @notice Creates a registry without users and records the current block as the block number of the zero root.
    /// @param initialOwner The account that may add roots until it transfers the ownership; not zero
    constructor(address initialOwner) Ownable(initialOwner) {
        _blockNumbers[0] = block.number;
    }

    /// @inheritdoc IPublicKeyRegistry
    function addMerkleTreeRoot(bytes32 merkleTreeRoot, bytes calldata userIDsPacked) public onlyOwner {
        if (merkleTreeRoot == 0) revert PublicKeyRegistryInvalidMerkleTreeRoot(merkleTreeRoot);
        if (userIDsPacked.length % 20 != 0) revert PublicKeyRegistryInvalidPackedLength(userIDsPacked.length);

        uint256 addedCount = userIDsPacked.length / 20;
        bytes calldata rest = userIDsPacked;
        // In this operand order, the optimizer removes the bounds checks of the slices below: saves 20 gas per user.
        while (20 <= rest.length) {
            // With a pointer, the slot is computed once for the read and the write: saves 60 gas per user.
            User storage user = _users[bytes20(rest[:20])];
            rest = rest[20:];
            if (user.merkleTreeRoot == 0) user.merkleTreeRoot = merkleTreeRoot;
            else --addedCount;
        }
        if (addedCount == 0) return;

        if (_blockNumbers[merkleTreeRoot] == 0) _blockNumbers[merkleTreeRoot] = block.number;
        _userCount += addedCount;
        emit MerkleTreeRootAdded(merkleTreeRoot, addedCount);
    }

    /// @notice Always reverts, because a registry without an owner could never add another user.
    function renounceOwnership() public view override {
        revert PublicKeyRegistryCannotRenounceOwnership(owner());
    }

    /// @inheritdoc IPublicKeyRegistry
    function getMerkleTreeRoot(bytes20 userID) public view returns (bytes32) {
        return _users[userID].merkleTreeRoot;
    }

    /// @inheritdoc IPublicKeyRegistry
    function getBlockNumber(bytes32 merkleTreeRoot) public view returns (uint256) {
        return _blockNumbers[merkleTreeRoot];
    }

    /// @inheritdoc IPublicKeyRegistry
    function getUserInfo(bytes20 userID) public view returns (bytes32 merkleTreeRoot, uint256 blockNumber) {
        merkleTreeRoot = _users[userID].merkleTreeRoot;
        blockNumber = _blockNumbers[merkleTreeRoot];
    }

    /// @inheritdoc IPublicKeyRegistry
    function userCount() public view returns (uint256) {
        return _userCount;
    }
}
