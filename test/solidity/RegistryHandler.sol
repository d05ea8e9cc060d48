// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPublicKeyRegistry} from "../../contracts/IPublicKeyRegistry.sol";
import {PublicKeyRegistry} from "../../contracts/PublicKeyRegistry.sol";
import {RegistryTwin} from "../formal/RegistryTwin.sol";
import {Model} from "./Model.sol";
import {Vm, VM} from "./Vm.sol";

/// @notice Sends the same calls to the registry and to the twin that the proof is about, and requires that both match the
/// model: same success, same error data, same events, same state afterwards. Reverts on the first difference.
contract RegistryHandler {
    struct Result {
        bool success;
        bytes returned;
        Vm.Log[] logs;
    }

    uint256 private constant FEW_IDS = 40;
    uint256 private constant MANY_IDS = 1500;
    /// @dev About the most users that fit in a transaction of 2^24 gas (EIP-7825).
    uint256 private constant MOST_USERS = 740;

    PublicKeyRegistry private immutable _REGISTRY;
    RegistryTwin private immutable _TWIN;
    Model private immutable _MODEL;
    // Counted here, because the optimizer treats block.number as constant within a transaction.
    uint256 private _block = 100;

    constructor() {
        VM.roll(_block);
        _REGISTRY = new PublicKeyRegistry(_account(0));
        _TWIN = new RegistryTwin(_account(0));
        _MODEL = new Model(_account(0), _block);
    }

    /// @notice Adds random ids. Usually the sender is the owner, the length a multiple of 20 and the root not zero.
    function add(uint256 seed) public {
        bytes32 root = _pick(seed, "zero root", 16) == 0 ? bytes32(0) : _root(_pick(seed, "root", 5));
        uint256 extraBytes = _pick(seed, "whole ids", 4) == 0 ? _pick(seed, "remainder", 20) : 0;
        _add(_sender(seed), root, _ids(seed), extraBytes);
        _assertSameUser(_id(_pick(seed, "any id", MANY_IDS)));
        _assertSameUser(_fewIDs(_pick(seed, "any of the few", FEW_IDS)));
    }

    /// @notice Starts an ownership transfer to one of the accounts, or to the zero address.
    function transferOwnership(uint256 seed) public {
        address sender = _sender(seed);
        address to = _pick(seed, "zero address", 4) == 0 ? address(0) : _account(_pick(seed, "to", 4));
        (address owner, bytes memory errorData) = (_MODEL.owner(), _MODEL.transferOwnership(sender, to));
        Result memory result = _call(sender, abi.encodeCall(_REGISTRY.transferOwnership, (to)), errorData);
        if (result.success) _requireOwnerEvent(result, "OwnershipTransferStarted(address,address)", owner, to);
    }

    /// @notice Calls `acceptOwnership`, in about half of the calls as the pending owner.
    function acceptOwnership(uint256 seed) public {
        address pending = _MODEL.pendingOwner();
        address sender = _pick(seed, "pending owner", 2) == 0 && pending != address(0) ? pending : _sender(seed);
        (address owner, bytes memory errorData) = (_MODEL.owner(), _MODEL.acceptOwnership(sender));
        Result memory result = _call(sender, abi.encodeCall(_REGISTRY.acceptOwnership, ()), errorData);
        if (result.success) _requireOwnerEvent(result, "OwnershipTransferred(address,address)", owner, sender);
    }

    /// @notice Calls `renounceOwnership`, which must revert.
    function renounceOwnership(uint256 seed) public {
        Result memory result = _call(
            _sender(seed),
            abi.encodeCall(_REGISTRY.renounceOwnership, ()),
            _MODEL.renounceOwnership()
        );
        require(!result.success, "renounced");
    }

    /// @notice Compares the 40 frequent ids, all roots, the counts and the owners.
    function assertMatchesModel() public view {
        uint256 users = 0;
        for (uint256 i = 0; i < FEW_IDS; ++i) {
            _assertSameUser(_fewIDs(i));
            if (_REGISTRY.getMerkleTreeRoot(_fewIDs(i)) != 0) ++users;
        }
        require(users <= _REGISTRY.userCount(), "more users than are counted");
        for (uint256 i = 0; i < 5; ++i) _assertSameBlock(_root(i));
        _assertSameBlock(0);
        _assertSameTotals();
    }

    /// @notice One call of a random kind.
    function _randomCall(uint256 seed) internal {
        uint256 kind = _pick(seed, "kind", 8);
        if (kind == 0) transferOwnership(seed);
        else if (kind == 1) acceptOwnership(seed);
        else if (kind == 2) renounceOwnership(seed);
        else add(seed);
    }

    function _add(address sender, bytes32 root, bytes20[] memory ids, uint256 extraBytes) internal {
        bytes memory packed = _pack(ids, extraBytes);
        VM.roll(++_block);
        (bytes memory errorData, uint256 added) = _MODEL.add(sender, _block, root, ids, packed.length);
        Result memory result = _call(sender, abi.encodeCall(_REGISTRY.addMerkleTreeRoot, (root, packed)), errorData);
        require(result.logs.length == (added == 0 ? 0 : 1), "number of events");
        if (added != 0) {
            Vm.Log memory log = result.logs[0];
            require(log.topics.length == 2 && log.topics[1] == root, "root of the event");
            require(log.topics[0] == IPublicKeyRegistry.MerkleTreeRootAdded.selector, "name of the event");
            require(keccak256(log.data) == keccak256(abi.encode(added)), "count of the event");
        }
        for (uint256 i = 0; i < ids.length; ++i) _assertSameUser(ids[i]);
        _assertSameBlock(root);
    }

    function _assertSameUser(bytes20 id) internal view {
        bytes32 root = _MODEL.roots(id);
        uint256 blockNumber = _MODEL.blocks(root);
        _assertUserHasRoot(_REGISTRY, id, root, blockNumber);
        _assertUserHasRoot(_TWIN, id, root, blockNumber);
    }

    /// @dev One of 40 ids. Neighbors differ only in the first or in the last byte; the zero id is one of them.
    function _fewIDs(uint256 choice) internal pure returns (bytes20) {
        uint160 n = uint160(choice % FEW_IDS);
        return bytes20(n % 2 == 0 ? n << 152 : n);
    }

    function _account(uint256 i) internal pure returns (address) {
        return address(uint160(0xacc0 + i));
    }

    /// @dev Sends the same call to both contracts. Both must end as the model did.
    function _call(address sender, bytes memory data, bytes memory errorData) private returns (Result memory result) {
        result = _callOne(address(_REGISTRY), sender, data);
        Result memory twin = _callOne(address(_TWIN), sender, data);
        require(result.success == (errorData.length == 0), "success");
        require(keccak256(result.returned) == keccak256(errorData), "error data");
        require(twin.success == result.success && keccak256(twin.returned) == keccak256(result.returned), "twin");
        require(twin.logs.length == result.logs.length, "twin: number of events");
        for (uint256 i = 0; i < twin.logs.length; ++i) {
            Vm.Log memory log = result.logs[i];
            require(log.emitter == address(_REGISTRY) && twin.logs[i].emitter == address(_TWIN), "emitter");
            bytes memory encoded = abi.encode(log.topics, log.data);
            require(keccak256(encoded) == keccak256(abi.encode(twin.logs[i].topics, twin.logs[i].data)), "twin: event");
        }
        _assertSameTotals();
    }

    function _callOne(address to, address sender, bytes memory data) private returns (Result memory result) {
        VM.recordLogs();
        VM.prank(sender);
        (result.success, result.returned) = to.call(data);
        result.logs = VM.getRecordedLogs();
    }

    function _assertUserHasRoot(
        IPublicKeyRegistry registry,
        bytes20 id,
        bytes32 expectedRoot,
        uint256 expectedBlock
    ) private view {
        (bytes32 root, uint256 blockNumber) = registry.getUserInfo(id);
        require(root == expectedRoot, "getUserInfo: root");
        require(blockNumber == expectedBlock, "getUserInfo: block number");
        require(registry.getMerkleTreeRoot(id) == root, "getMerkleTreeRoot");
    }

    function _assertSameBlock(bytes32 root) private view {
        uint256 expected = _MODEL.blocks(root);
        require(_REGISTRY.getBlockNumber(root) == expected && _TWIN.getBlockNumber(root) == expected, "getBlockNumber");
    }

    function _assertSameTotals() private view {
        uint256 count = _MODEL.count();
        require(_REGISTRY.userCount() == count && _TWIN.userCount() == count, "userCount");
        address owner = _MODEL.owner();
        require(_REGISTRY.owner() == owner && _TWIN.owner() == owner, "owner");
        address pending = _MODEL.pendingOwner();
        require(_REGISTRY.pendingOwner() == pending && _TWIN.pendingOwner() == pending, "pendingOwner");
    }

    function _requireOwnerEvent(Result memory result, string memory name, address from, address to) private pure {
        require(result.logs.length == 1 && result.logs[0].topics.length == 3, "ownership: number of events");
        bytes32[] memory topics = result.logs[0].topics;
        require(topics[0] == keccak256(bytes(name)), "ownership: name of the event");
        require(topics[1] == _word(from) && topics[2] == _word(to), "ownership: accounts of the event");
    }

    /// @dev The owner in at least three of four calls.
    function _sender(uint256 seed) private view returns (address) {
        return _pick(seed, "owner", 4) != 0 ? _MODEL.owner() : _account(_pick(seed, "sender", 4));
    }

    /// @dev Up to 24 ids of the 40 or of the 1,500, so that they repeat within and across calls; rarely up to 740.
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

    /// @dev The concatenated ids, followed by `extraBytes` zero bytes.
    function _pack(bytes20[] memory ids, uint256 extraBytes) private pure returns (bytes memory packed) {
        // 32 more bytes, because mstore writes a whole word for the last id.
        packed = new bytes(ids.length * 20 + 32);
        for (uint256 i = 0; i < ids.length; ++i) {
            bytes20 id = ids[i];
            assembly ("memory-safe") {
                mstore(add(packed, add(32, mul(20, i))), id)
            }
        }
        uint256 length = ids.length * 20 + extraBytes;
        assembly ("memory-safe") {
            mstore(packed, length)
        }
    }

    /// @dev A pseudorandom number below `below`, independent for each purpose.
    function _pick(uint256 seed, string memory purpose, uint256 below) private pure returns (uint256) {
        return uint256(keccak256(abi.encode(seed, purpose))) % below;
    }
}
