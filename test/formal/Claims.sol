// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {RegistryTwin} from "./RegistryTwin.sol";

// The claims that solc's model checker proves, one function per claim. Each is proved from every storage state, reachable or
// not, and for every caller, root and id.
//
// A call of addMerkleTreeRoot performs the checks, then `_step` for each id, then `_finish`. The claims about `_step` and
// `_finish` contain no loop, so they hold for calls of any length: what no step changes, no number of steps changes, and all
// steps together decrement the count once for each id that already has a root. The claims about whole calls unroll the loop
// for the number of ids set in prove.ts, and so check that the call combines the parts correctly.
//
// View functions cannot write to storage. The only other functions are the four that the claims below call:
// addMerkleTreeRoot, transferOwnership, acceptOwnership and renounceOwnership.

contract Claims is RegistryTwin {
    constructor(address initialOwner) RegistryTwin(initialOwner) {}

    function stepKeepsEveryExistingRoot(bytes20 anyUser, bytes32 root, bytes20 userID, uint256 count) public {
        bytes32 before = getMerkleTreeRoot(anyUser);
        require(before != 0);
        _step(root, userID, count);
        assert(getMerkleTreeRoot(anyUser) == before);
    }

    function stepChangesNoOtherUser(bytes20 other, bytes32 root, bytes20 userID, uint256 count) public {
        bytes32 before = getMerkleTreeRoot(other);
        require(other != userID);
        _step(root, userID, count);
        assert(getMerkleTreeRoot(other) == before);
    }

    function stepSetsTheRootOrDecrementsTheCount(bytes32 root, bytes20 userID, uint256 count) public {
        bytes32 before = getMerkleTreeRoot(userID);
        uint256 remaining = _step(root, userID, count);
        if (before == 0) assert(getMerkleTreeRoot(userID) == root && remaining == count);
        else assert(remaining == count - 1);
    }

    function stepChangesNoOtherState(bytes32 root, bytes20 userID, uint256 count, bytes32 anyRoot) public {
        uint256 users = userCount();
        uint256 blockNumber = getBlockNumber(anyRoot);
        address owner_ = owner();
        address pending = pendingOwner();
        _step(root, userID, count);
        assert(userCount() == users && getBlockNumber(anyRoot) == blockNumber);
        assert(owner() == owner_ && pendingOwner() == pending);
    }

    function finishAddsTheCountToUserCount(bytes32 root, uint256 count) public {
        uint256 users = userCount();
        _finish(root, count);
        assert(userCount() == users + count);
    }

    function finishChangesNoUserAndNoOwner(bytes32 root, uint256 count, bytes20 anyUser) public {
        bytes32 before = getMerkleTreeRoot(anyUser);
        address owner_ = owner();
        _finish(root, count);
        assert(getMerkleTreeRoot(anyUser) == before && owner() == owner_);
    }

    function finishSetsTheBlockNumberOfARootOnce(bytes32 root, uint256 count, bytes32 anyRoot) public {
        uint256 before = getBlockNumber(anyRoot);
        _finish(root, count);
        if (before != 0 || anyRoot != root || count == 0) assert(getBlockNumber(anyRoot) == before);
        else assert(getBlockNumber(anyRoot) == block.number);
    }

    function callKeepsEveryExistingRoot(bytes20 anyUser, bytes32 root, bytes calldata userIDsPacked) public {
        bytes32 before = getMerkleTreeRoot(anyUser);
        require(before != 0);
        addMerkleTreeRoot(root, userIDsPacked);
        assert(getMerkleTreeRoot(anyUser) == before);
    }

    function callKeepsEveryExistingBlockNumber(bytes32 anyRoot, bytes32 root, bytes calldata userIDsPacked) public {
        uint256 before = getBlockNumber(anyRoot);
        require(before != 0);
        addMerkleTreeRoot(root, userIDsPacked);
        assert(getBlockNumber(anyRoot) == before);
    }

    function callSetsNoRootButTheGivenOne(bytes20 anyUser, bytes32 root, bytes calldata userIDsPacked) public {
        bytes32 before = getMerkleTreeRoot(anyUser);
        addMerkleTreeRoot(root, userIDsPacked);
        bytes32 afterwards = getMerkleTreeRoot(anyUser);
        assert(afterwards == before || (before == 0 && afterwards == root));
    }

    function userCountNeverDecreases(bytes32 root, bytes calldata userIDsPacked) public {
        uint256 before = userCount();
        addMerkleTreeRoot(root, userIDsPacked);
        assert(userCount() >= before);
    }

    function onlyTheOwnerAddsRoots(bytes32 root, bytes calldata userIDsPacked) public {
        address owner_ = owner();
        addMerkleTreeRoot(root, userIDsPacked);
        assert(msg.sender == owner_ && owner() == owner_);
    }

    function zeroRootIsRejected(bytes32 root, bytes calldata userIDsPacked) public {
        addMerkleTreeRoot(root, userIDsPacked);
        assert(root != 0);
    }

    function onlyTheOwnerStartsATransfer(address newOwner) public {
        address before = owner();
        transferOwnership(newOwner);
        assert(msg.sender == before && owner() == before && pendingOwner() == newOwner);
    }

    function onlyThePendingOwnerBecomesOwner() public {
        address pending = pendingOwner();
        acceptOwnership();
        assert(msg.sender == pending && owner() == pending && pendingOwner() == address(0));
    }

    function ownershipCannotBeRenounced() public view {
        renounceOwnership();
        assert(false);
    }

    function ownershipTransferChangesNoRoot(address newOwner, bool accept, bytes20 anyUser, bytes32 anyRoot) public {
        (bytes32 root, uint256 blockNumber, uint256 users) = (
            getMerkleTreeRoot(anyUser),
            getBlockNumber(anyRoot),
            userCount()
        );
        if (accept) acceptOwnership();
        else transferOwnership(newOwner);
        assert(getMerkleTreeRoot(anyUser) == root && getBlockNumber(anyRoot) == blockNumber && userCount() == users);
    }

    function userInfoIsTheRootAndItsBlockNumber(bytes20 anyUser) public view {
        (bytes32 root, uint256 blockNumber) = getUserInfo(anyUser);
        assert(root == getMerkleTreeRoot(anyUser) && blockNumber == getBlockNumber(root));
    }
}
