// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPublicKeyRegistry} from "../../contracts/IPublicKeyRegistry.sol";
import {PublicKeyRegistry} from "../../contracts/PublicKeyRegistry.sol";
import {RegistryTwin} from "../proof/RegistryTwin.sol";
import {Model} from "./Model.sol";
import {Vm, VM} from "./Vm.sol";

/// @notice Makes the same call to the registry and to the twin that the proof is about, and insists that both do what the
/// model says: the same success, the same error, the same events, the same state afterwards.
contract SameCalls {
    struct Answer {
        bool done;
        bytes returned;
        Vm.Log[] logs;
    }

    uint256 private constant FEW_IDS = 40;
    uint256 private constant MANY_IDS = 1500;
    /// @dev What a transaction of 2^24 gas (EIP-7825) just about holds.
    uint256 private constant MOST_USERS = 740;

    PublicKeyRegistry private immutable _REGISTRY;
    RegistryTwin private immutable _TWIN;
    Model private immutable _MODEL;
    // Counted here: within a transaction, the optimizer takes block.number for a constant.
    uint256 private _block = 100;

    constructor() {
        VM.roll(_block);
        _REGISTRY = new PublicKeyRegistry(_account(0));
        _TWIN = new RegistryTwin(_account(0));
        _MODEL = new Model(_account(0), _block);
    }

    /// @notice Any ids, by the owner mostly, whole ids mostly, a root that is not zero mostly.
    function add(uint256 seed) public {
        bytes32 root = _pick(seed, "zero root", 16) == 0 ? bytes32(0) : _root(_pick(seed, "root", 5));
        uint256 tooMany = _pick(seed, "whole ids", 4) == 0 ? _pick(seed, "remainder", 20) : 0;
        _add(_sender(seed), root, _ids(seed), tooMany);
        _expectSame(_id(_pick(seed, "any id", MANY_IDS)));
        _expectSame(_fewIDs(_pick(seed, "any of the few", FEW_IDS)));
    }

    /// @notice Offers the ownership to one of the accounts, or to nobody.
    function offer(uint256 seed) public {
        address sender = _sender(seed);
        address to = _pick(seed, "nobody", 4) == 0 ? address(0) : _account(_pick(seed, "to", 4));
        (address owner, bytes memory refusal) = (_MODEL.owner(), _MODEL.transferOwnership(sender, to));
        Answer memory answer = _call(sender, abi.encodeCall(_REGISTRY.transferOwnership, (to)), refusal);
        if (answer.done) _expectOwners(answer, "OwnershipTransferStarted(address,address)", owner, to);
    }

    /// @notice Accepts the ownership, or tries to.
    function accept(uint256 seed) public {
        address pending = _MODEL.pendingOwner();
        address sender = _pick(seed, "the right one", 2) == 0 && pending != address(0) ? pending : _sender(seed);
        (address owner, bytes memory refusal) = (_MODEL.owner(), _MODEL.acceptOwnership(sender));
        Answer memory answer = _call(sender, abi.encodeCall(_REGISTRY.acceptOwnership, ()), refusal);
        if (answer.done) _expectOwners(answer, "OwnershipTransferred(address,address)", owner, sender);
    }

    /// @notice Tries to renounce the ownership.
    function renounce(uint256 seed) public {
        Answer memory answer = _call(
            _sender(seed),
            abi.encodeCall(_REGISTRY.renounceOwnership, ()),
            _MODEL.renounceOwnership()
        );
        require(!answer.done, "renounced");
    }

    /// @notice Every id and every root that may have been in a call.
    function expectAllTheSame() public view {
        uint256 users = 0;
        for (uint256 i = 0; i < FEW_IDS; ++i) {
            _expectSame(_fewIDs(i));
            if (_REGISTRY.getMerkleTreeRoot(_fewIDs(i)) != 0) ++users;
        }
        require(users <= _REGISTRY.userCount(), "more users than are counted");
        for (uint256 i = 0; i < 5; ++i) _expectSameBlock(_root(i));
        _expectSameBlock(0);
        _expectSameWhole();
    }

    /// @notice One call of any kind.
    function _anyCall(uint256 seed) internal {
        uint256 kind = _pick(seed, "kind", 8);
        if (kind == 0) offer(seed);
        else if (kind == 1) accept(seed);
        else if (kind == 2) renounce(seed);
        else add(seed);
    }

    function _add(address sender, bytes32 root, bytes20[] memory ids, uint256 tooMany) internal {
        bytes memory packed = _pack(ids, tooMany);
        VM.roll(++_block);
        (bytes memory refusal, uint256 added) = _MODEL.add(sender, _block, root, ids, packed.length);
        Answer memory answer = _call(sender, abi.encodeCall(_REGISTRY.addMerkleTreeRoot, (root, packed)), refusal);
        require(answer.logs.length == (added == 0 ? 0 : 1), "events");
        if (added != 0) {
            Vm.Log memory log = answer.logs[0];
            require(log.topics.length == 2 && log.topics[1] == root, "event's root");
            require(log.topics[0] == IPublicKeyRegistry.MerkleTreeRootAdded.selector, "event");
            require(keccak256(log.data) == keccak256(abi.encode(added)), "event's count");
        }
        for (uint256 i = 0; i < ids.length; ++i) _expectSame(ids[i]);
        _expectSameBlock(root);
    }

    function _expectSame(bytes20 id) internal view {
        bytes32 root = _MODEL.roots(id);
        _expectSameInfo(_REGISTRY, id, root);
        _expectSameInfo(_TWIN, id, root);
    }

    /// @dev One of 40; neighbours differ in the first or in the last byte only, and zero is among them.
    function _fewIDs(uint256 choice) internal pure returns (bytes20) {
        uint160 n = uint160(choice % FEW_IDS);
        return bytes20(n % 2 == 0 ? n << 152 : n);
    }

    function _account(uint256 i) internal pure returns (address) {
        return address(uint160(0xacc0 + i));
    }

    /// @dev The same call to both, which must end as the model's did.
    function _call(address sender, bytes memory data, bytes memory refusal) private returns (Answer memory answer) {
        answer = _callOne(address(_REGISTRY), sender, data);
        Answer memory twin = _callOne(address(_TWIN), sender, data);
        require(answer.done == (refusal.length == 0), "done and refused");
        require(keccak256(answer.returned) == keccak256(refusal), "another error");
        require(twin.done == answer.done && keccak256(twin.returned) == keccak256(answer.returned), "twin");
        require(twin.logs.length == answer.logs.length, "twin's events");
        for (uint256 i = 0; i < twin.logs.length; ++i) {
            Vm.Log memory log = answer.logs[i];
            require(log.emitter == address(_REGISTRY) && twin.logs[i].emitter == address(_TWIN), "emitter");
            bytes memory topics = abi.encode(log.topics, log.data);
            require(keccak256(topics) == keccak256(abi.encode(twin.logs[i].topics, twin.logs[i].data)), "twin's event");
        }
        _expectSameWhole();
    }

    function _callOne(address to, address sender, bytes memory data) private returns (Answer memory answer) {
        VM.recordLogs();
        VM.prank(sender);
        (answer.done, answer.returned) = to.call(data);
        answer.logs = VM.getRecordedLogs();
    }

    function _expectSameInfo(IPublicKeyRegistry registry, bytes20 id, bytes32 expected) private view {
        (bytes32 root, uint256 blockNumber) = registry.getUserInfo(id);
        require(root == expected, "root");
        require(blockNumber == _MODEL.blocks(expected), "block");
        require(registry.getMerkleTreeRoot(id) == root, "root alone");
    }

    function _expectSameBlock(bytes32 root) private view {
        uint256 expected = _MODEL.blocks(root);
        require(_REGISTRY.getBlockNumber(root) == expected && _TWIN.getBlockNumber(root) == expected, "root's block");
    }

    function _expectSameWhole() private view {
        uint256 count = _MODEL.count();
        require(_REGISTRY.userCount() == count && _TWIN.userCount() == count, "count of users");
        address owner = _MODEL.owner();
        require(_REGISTRY.owner() == owner && _TWIN.owner() == owner, "owner");
        address pending = _MODEL.pendingOwner();
        require(_REGISTRY.pendingOwner() == pending && _TWIN.pendingOwner() == pending, "pending owner");
    }

    function _expectOwners(Answer memory answer, string memory name, address from, address to) private pure {
        require(answer.logs.length == 1 && answer.logs[0].topics.length == 3, "event of ownership");
        bytes32[] memory topics = answer.logs[0].topics;
        require(topics[0] == keccak256(bytes(name)), "name of the event of ownership");
        require(topics[1] == _word(from) && topics[2] == _word(to), "accounts of the event of ownership");
    }

    /// @dev The owner in three of four calls.
    function _sender(uint256 seed) private view returns (address) {
        return _pick(seed, "owner", 4) != 0 ? _MODEL.owner() : _account(_pick(seed, "sender", 4));
    }

    /// @dev Up to 24 of the few or of the many, which so come again within and across calls; rarely up to 740.
    function _ids(uint256 seed) private pure returns (bytes20[] memory ids) {
        bool isLarge = _pick(seed, "large", 1024) == 0;
        ids = new bytes20[](isLarge ? 1 + _pick(seed, "users", MOST_USERS) : _pick(seed, "ids", 25));
        bool few = _pick(seed, "few", 2) == 0 && !isLarge;
        for (uint256 i = 0; i < ids.length; ++i) {
            uint256 choice = uint256(keccak256(abi.encode(seed, i)));
            ids[i] = few ? _fewIDs(choice) : _id(choice % MANY_IDS);
        }
    }

    function _id(uint256 n) private pure returns (bytes20) {
        return bytes20(keccak256(abi.encode(n)));
    }

    function _root(uint256 n) private pure returns (bytes32) {
        return n == 4 ? bytes32(type(uint256).max) : bytes32(n + 1);
    }

    function _word(address account) private pure returns (bytes32) {
        return bytes32(uint256(uint160(account)));
    }

    /// @dev The ids end to end, and as many zero bytes.
    function _pack(bytes20[] memory ids, uint256 tooMany) private pure returns (bytes memory packed) {
        // Space for the word that the last id is written with, too.
        packed = new bytes(ids.length * 20 + 32);
        for (uint256 i = 0; i < ids.length; ++i) {
            bytes20 id = ids[i];
            assembly ("memory-safe") {
                mstore(add(packed, add(32, mul(20, i))), id)
            }
        }
        uint256 length = ids.length * 20 + tooMany;
        assembly ("memory-safe") {
            mstore(packed, length)
        }
    }

    /// @dev A number below `below`, as good as random, another one for each purpose.
    function _pick(uint256 seed, string memory purpose, uint256 below) private pure returns (uint256) {
        return uint256(keccak256(abi.encode(seed, purpose))) % below;
    }
}
