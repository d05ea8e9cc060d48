// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {RegistryHandler} from "./RegistryHandler.sol";
import {VM} from "./Vm.sol";

/// @notice Fuzz tests: after any calls, the registry and its twin behave as the model does.
contract PublicKeyRegistryTest is RegistryHandler {
    /// @notice Six random calls of any kind.
    function testFuzz_matchesTheModel(uint256[6] calldata seeds) public {
        for (uint256 i = 0; i < seeds.length; ++i) _randomCall(seeds[i]);
        assertMatchesModel();
    }

    /// @notice Packed ids with random bytes: each id is read at its own offset.
    function testFuzz_readsIdsOfAnyBytes(bytes32 root, bytes20[] calldata ids, bytes20 other) public {
        VM.assume(root != 0);
        _add(_account(0), root, ids, 0);
        _assertSameUser(other);
    }

    /// @notice Packed ids of any length: the call reverts unless the length is a multiple of 20.
    function testFuzz_acceptsOnlyMultiplesOf20Bytes(bytes32 root, bytes20[] calldata ids, uint256 extraBytes) public {
        _add(_account(0), root, ids, extraBytes % 20);
    }

    /// @notice Calls by any account that is not the owner revert, whatever the arguments.
    function testFuzz_rejectsOtherCallers(
        address caller,
        bytes32 root,
        bytes20[] calldata ids,
        uint256 extraBytes
    ) public {
        VM.assume(caller != _account(0));
        _add(caller, root, ids, extraBytes % 20);
    }
}

/// @notice Invariant test: the same comparison over long sequences of calls, with the whole state checked after each call.
contract PublicKeyRegistryInvariantTest {
    RegistryHandler private _handler;

    function setUp() public {
        _handler = new RegistryHandler();
    }

    /// @notice The contract whose functions the runner calls at random. They revert on the first difference.
    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_handler);
    }

    function invariant_matchesTheModel() public view {
        _handler.assertMatchesModel();
    }
}
