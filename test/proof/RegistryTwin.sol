// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {IPublicKeyRegistry} from "../../contracts/IPublicKeyRegistry.sol";

/// @title RegistryTwin
/// @author Keyroot
/// @notice Written by twin.ts from PublicKeyRegistry.sol, which says what it is for: change that, never this.
contract RegistryTwin is IPublicKeyRegistry, Ownable2Step {
    struct User {
        bytes32 merkleTreeRoot;
    }

    /// @inheritdoc IPublicKeyRegistry
    string public constant HASH_TYPE = "sha256";

    mapping(bytes20 userID => User) private _users;
    mapping(bytes32 merkleTreeRoot => uint256 blockNumber) private _blockNumbers;
    uint256 private _userCount;

    /// @notice Starts without users, at the block that stands for "no root".
    /// @param initialOwner The account that may add roots, until it hands the ownership on
    constructor(address initialOwner) Ownable(initialOwner) {
        _blockNumbers[0] = block.number;
    }

    /// @inheritdoc IPublicKeyRegistry
    function addMerkleTreeRoot(bytes32 merkleTreeRoot, bytes calldata userIDsPacked) public onlyOwner {
        if (merkleTreeRoot == 0) revert PublicKeyRegistryInvalidMerkleTreeRoot(merkleTreeRoot);
        if (userIDsPacked.length % 20 != 0) revert PublicKeyRegistryInvalidPackedLength(userIDsPacked.length);

        uint256 addedCount = userIDsPacked.length / 20;
        bytes calldata rest = userIDsPacked;
        // Written this way round, the optimizer sees that the slices below check the same: 20 gas less for each user.
        while (20 <= rest.length) {
            bytes20 userID = bytes20(rest[:20]);
            rest = rest[20:];
            addedCount = _step(merkleTreeRoot, userID, addedCount);
        }
        _finish(merkleTreeRoot, addedCount);
    }

    function _step(bytes32 merkleTreeRoot, bytes20 userID, uint256 addedCount) internal returns (uint256) {
        if (_users[userID].merkleTreeRoot == 0) _users[userID].merkleTreeRoot = merkleTreeRoot;
        else --addedCount;
        return addedCount;
    }

    function _finish(bytes32 merkleTreeRoot, uint256 addedCount) internal {
        if (addedCount == 0) return;

        if (_blockNumbers[merkleTreeRoot] == 0) _blockNumbers[merkleTreeRoot] = block.number;
        _userCount += addedCount;
        emit MerkleTreeRootAdded(merkleTreeRoot, addedCount);
    }

    /// @notice Refused, whoever asks: a registry without an owner could never take another user.
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
