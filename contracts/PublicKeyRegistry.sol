// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {IPublicKeyRegistry} from "./IPublicKeyRegistry.sol";

contract PublicKeyRegistry is IPublicKeyRegistry, Ownable2Step {
    struct User { bytes32 merkleTreeRoot; }
    mapping(bytes20 userID => User) private _users;
    mapping(bytes32 merkleTreeRoot => uint256) private _blockNumbers;
    uint256 private _userCount;

    constructor(address initialOwner) Ownable(initialOwner) {
        _blockNumbers[0] = block.number;
    }

    function addMerkleTreeRoot(bytes32 merkleTreeRoot, bytes calldata userIDsPacked) external onlyOwner {
        if (merkleTreeRoot == 0) revert PublicKeyRegistryZeroRoot(merkleTreeRoot);
        if (userIDsPacked.length % 20 != 0) revert PublicKeyRegistryInvalidPackedLength(userIDsPacked.length);
        uint256 addedCount = 0;
        unchecked {
            for (uint256 i = 0; i < userIDsPacked.length; i += 20) {
                bytes20 userID;
                assembly ("memory-safe") { userID := calldataload(add(userIDsPacked.offset, i)) }
                User storage user = _users[userID];
                if (user.merkleTreeRoot == 0) {
                    user.merkleTreeRoot = merkleTreeRoot;
                    ++addedCount;
                }
            }
        }
        if (addedCount == 0) return;
        if (_blockNumbers[merkleTreeRoot] == 0) _blockNumbers[merkleTreeRoot] = block.number;
        _userCount += addedCount;
        emit MerkleTreeRootAdded(merkleTreeRoot, addedCount);
    }
    function getMerkleTreeRoot(bytes20 userID) external view returns (bytes32) { return _users[userID].merkleTreeRoot; }
}
