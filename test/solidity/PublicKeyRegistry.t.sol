// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PublicKeyRegistry} from "../../contracts/PublicKeyRegistry.sol";

/// @notice The few cheat codes used here.
interface Vm {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    function assume(bool condition) external pure;
    function getRecordedLogs() external returns (Log[] memory);
    function recordLogs() external;
    function roll(uint256 blockNumber) external;
}

/// @notice Whatever calls come, the registry says what the plainest thinkable model says.
contract PublicKeyRegistryTest {
    Vm private constant VM = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    PublicKeyRegistry private _registry;

    mapping(bytes20 userID => bytes32) private _modelRoots;
    mapping(bytes32 root => uint256) private _modelBlocks;
    uint256 private _modelCount;
    // Counted here: within a transaction, the optimizer takes block.number for a constant.
    uint256 private _block = 100;

    function setUp() public {
        VM.roll(_block);
        _registry = new PublicKeyRegistry(address(this));
        _modelBlocks[0] = _block;
    }

    /// @notice Few ids and few roots, so that they come again within and across calls.
    function testFuzz_saysWhatTheModelSays(bytes[6] memory calls) public {
        for (uint256 i = 0; i < calls.length; ++i) {
            bytes20[] memory ids = new bytes20[](calls[i].length % 32);
            for (uint256 j = 0; j < ids.length; ++j) ids[j] = _fewIDs(calls[i][j]);
            _add(bytes32(1 + (calls[i].length % 4)), ids);
        }
        for (uint256 b = 0; b < 40; ++b) _expectSame(_fewIDs(bytes1(uint8(b))));
    }

    /// @notice Ids of any bytes, end to end: each is read at its own place.
    function testFuzz_readsIDsOfAnyBytes(bytes32 root, bytes20[] memory ids, bytes20 other) public {
        VM.assume(root != 0);
        _add(root, ids);
        for (uint256 i = 0; i < ids.length; ++i) _expectSame(ids[i]);
        _expectSame(other);
    }

    /// @notice Packed bytes of any length: whole ids are taken, all else is refused with the length.
    function testFuzz_takesWholeIDsOnly(bytes32 root, bytes memory packed) public {
        VM.assume(root != 0);
        try _registry.addMerkleTreeRoot(root, packed) {
            require(packed.length % 20 == 0, "took a part of an id");
        } catch (bytes memory reason) {
            require(packed.length % 20 != 0, "refused whole ids");
            bytes memory expected = abi.encodeWithSignature(
                "PublicKeyRegistryInvalidPackedLength(uint256)",
                packed.length
            );
            require(keccak256(reason) == keccak256(expected), "another error");
        }
    }

    /// @notice The last byte of `choice` picks one of 40 ids; neighbours differ in the first or in the last byte only.
    function _fewIDs(bytes1 choice) private pure returns (bytes20) {
        uint160 n = uint160(uint8(choice)) % 40;
        return bytes20(n % 2 == 0 ? n << 152 : n);
    }

    function _add(bytes32 root, bytes20[] memory ids) private {
        bytes memory packed;
        uint256 added = 0;
        for (uint256 i = 0; i < ids.length; ++i) {
            packed = bytes.concat(packed, ids[i]);
            if (_modelRoots[ids[i]] != 0) continue;
            _modelRoots[ids[i]] = root;
            ++added;
        }
        VM.roll(++_block);
        if (added != 0 && _modelBlocks[root] == 0) _modelBlocks[root] = _block;
        _modelCount += added;

        VM.recordLogs();
        _registry.addMerkleTreeRoot(root, packed);
        Vm.Log[] memory logs = VM.getRecordedLogs();

        require(logs.length == (added == 0 ? 0 : 1), "events");
        if (added != 0) {
            require(logs[0].topics[1] == root, "event's root");
            require(abi.decode(logs[0].data, (uint256)) == added, "event's count");
        }
        require(_registry.userCount() == _modelCount, "count of users");
        require(_registry.getBlockNumber(root) == _modelBlocks[root], "root's block");
    }

    function _expectSame(bytes20 id) private view {
        (bytes32 root, uint256 blockNumber) = _registry.getUserInfo(id);
        require(root == _modelRoots[id], "root");
        require(blockNumber == _modelBlocks[root], "block");
        require(_registry.getMerkleTreeRoot(id) == root, "root alone");
    }
}
