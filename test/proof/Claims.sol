// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {RegistryTwin} from "./RegistryTwin.sol";

// What solc's model checker proves, one function a claim. Each is proved from any state of the storage, reachable or not,
// for any caller, root and ids.
//
// A call of addMerkleTreeRoot is: the checks; `_step` for one id after the other; `_finish`. The claims on `_step` and
// `_finish` know no loop, so they hold for calls of any length: what no step changes, no number of steps changes, and the
// steps together take one off the count for each id that had a root by then. The claims on whole calls follow the loop for
// as many ids as the runner says, and so show that the parts are put together as they should be.
//
// The view functions cannot write, by their mutability. What remains are the four functions named below.

contract Claims is RegistryTwin {
    constructor(address initialOwner) RegistryTwin(initialOwner) {}

    function aStepKeepsEveryRootThatIsSet(bytes20 anyUser, bytes32 root, bytes20 userID, uint256 count) public {
        bytes32 before = getMerkleTreeRoot(anyUser);
        require(before != 0);
        _step(root, userID, count);
        assert(getMerkleTreeRoot(anyUser) == before);
    }

    function aStepChangesNoUserButTheOneAskedFor(bytes20 other, bytes32 root, bytes20 userID, uint256 count) public {
        bytes32 before = getMerkleTreeRoot(other);
        require(other != userID);
        _step(root, userID, count);
        assert(getMerkleTreeRoot(other) == before);
    }

    function aStepGivesTheRootToAUserWithoutAndCountsTheOthersOut(bytes32 root, bytes20 userID, uint256 count) public {
        bytes32 before = getMerkleTreeRoot(userID);
        uint256 left = _step(root, userID, count);
        if (before == 0) assert(getMerkleTreeRoot(userID) == root && left == count);
        else assert(left == count - 1);
    }

    function aStepTouchesNothingElse(bytes32 root, bytes20 userID, uint256 count, bytes32 anyRoot) public {
        uint256 users = userCount();
        uint256 blockNumber = getBlockNumber(anyRoot);
        address owner_ = owner();
        address pending = pendingOwner();
        _step(root, userID, count);
        assert(userCount() == users && getBlockNumber(anyRoot) == blockNumber);
        assert(owner() == owner_ && pendingOwner() == pending);
    }

    function finishAddsWhatWasCountedToUserCount(bytes32 root, uint256 count) public {
        uint256 users = userCount();
        _finish(root, count);
        assert(userCount() == users + count);
    }

    function finishTouchesNoUserAndNoOwner(bytes32 root, uint256 count, bytes20 anyUser) public {
        bytes32 before = getMerkleTreeRoot(anyUser);
        address owner_ = owner();
        _finish(root, count);
        assert(getMerkleTreeRoot(anyUser) == before && owner() == owner_);
    }

    function finishNotesTheBlockOfARootOnce(bytes32 root, uint256 count, bytes32 anyRoot) public {
        uint256 before = getBlockNumber(anyRoot);
        _finish(root, count);
        if (before != 0 || anyRoot != root || count == 0) assert(getBlockNumber(anyRoot) == before);
        else assert(getBlockNumber(anyRoot) == block.number);
    }

    function aCallKeepsEveryRootThatIsSet(bytes20 anyUser, bytes32 root, bytes calldata userIDsPacked) public {
        bytes32 before = getMerkleTreeRoot(anyUser);
        require(before != 0);
        addMerkleTreeRoot(root, userIDsPacked);
        assert(getMerkleTreeRoot(anyUser) == before);
    }

    function aCallKeepsEveryBlockNumberThatIsSet(bytes32 anyRoot, bytes32 root, bytes calldata userIDsPacked) public {
        uint256 before = getBlockNumber(anyRoot);
        require(before != 0);
        addMerkleTreeRoot(root, userIDsPacked);
        assert(getBlockNumber(anyRoot) == before);
    }

    function aCallSetsNoOtherRootThanTheGivenOne(bytes20 anyUser, bytes32 root, bytes calldata userIDsPacked) public {
        bytes32 before = getMerkleTreeRoot(anyUser);
        addMerkleTreeRoot(root, userIDsPacked);
        bytes32 afterwards = getMerkleTreeRoot(anyUser);
        assert(afterwards == before || (before == 0 && afterwards == root));
    }

    function userCountNeverFalls(bytes32 root, bytes calldata userIDsPacked) public {
        uint256 before = userCount();
        addMerkleTreeRoot(root, userIDsPacked);
        assert(userCount() >= before);
    }

    function onlyTheOwnerAddsRoots(bytes32 root, bytes calldata userIDsPacked) public {
        address owner_ = owner();
        addMerkleTreeRoot(root, userIDsPacked);
        assert(msg.sender == owner_ && owner() == owner_);
    }

    function theZeroRootIsRefused(bytes32 root, bytes calldata userIDsPacked) public {
        addMerkleTreeRoot(root, userIDsPacked);
        assert(root != 0);
    }

    function ownershipIsOfferedByTheOwnerOnly(address newOwner) public {
        address before = owner();
        transferOwnership(newOwner);
        assert(msg.sender == before && owner() == before && pendingOwner() == newOwner);
    }

    function ownershipPassesToTheOneItWasOfferedToOnly() public {
        address offeredTo = pendingOwner();
        acceptOwnership();
        assert(msg.sender == offeredTo && owner() == offeredTo && pendingOwner() == address(0));
    }

    function ownershipCannotBeRenounced() public view {
        renounceOwnership();
        assert(false);
    }

    function aChangeOfOwnershipTouchesNoRoot(address newOwner, bool accept, bytes20 anyUser, bytes32 anyRoot) public {
        (bytes32 root, uint256 blockNumber, uint256 users) = (
            getMerkleTreeRoot(anyUser),
            getBlockNumber(anyRoot),
            userCount()
        );
        if (accept) acceptOwnership();
        else transferOwnership(newOwner);
        assert(getMerkleTreeRoot(anyUser) == root && getBlockNumber(anyRoot) == blockNumber && userCount() == users);
    }

    function userInfoIsTheRootAndTheBlockOfThatRoot(bytes20 anyUser) public view {
        (bytes32 root, uint256 blockNumber) = getUserInfo(anyUser);
        assert(root == getMerkleTreeRoot(anyUser) && blockNumber == getBlockNumber(root));
    }
}
