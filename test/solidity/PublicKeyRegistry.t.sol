// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {SameCalls} from "./SameCalls.sol";
import {VM} from "./Vm.sol";

/// @notice Whatever calls come, the registry and its twin do what the plainest thinkable model does.
contract PublicKeyRegistryTest is SameCalls {
    /// @notice Calls of every kind, in any order.
    function testFuzz_doesWhatTheModelDoes(uint256[6] calldata seeds) public {
        for (uint256 i = 0; i < seeds.length; ++i) _anyCall(seeds[i]);
        expectAllTheSame();
    }

    /// @notice Ids of any bytes, end to end: each is read at its own place.
    function testFuzz_readsIDsOfAnyBytes(bytes32 root, bytes20[] calldata ids, bytes20 other) public {
        VM.assume(root != 0);
        _add(_account(0), root, ids, 0);
        _expectSame(other);
    }

    /// @notice Packed ids of any length: whole ids are taken, all else is refused with the length.
    function testFuzz_takesWholeIDsOnly(bytes32 root, bytes20[] calldata ids, uint256 tooMany) public {
        _add(_account(0), root, ids, tooMany % 20);
    }

    /// @notice Strangers are refused whatever they bring.
    function testFuzz_refusesStrangers(address stranger, bytes32 root, bytes20[] calldata ids, uint256 tooMany) public {
        VM.assume(stranger != _account(0));
        _add(stranger, root, ids, tooMany % 20);
    }
}

/// @notice The same over long histories, looked at as a whole after every call.
contract PublicKeyRegistryInvariantTest {
    SameCalls private _calls;

    function setUp() public {
        _calls = new SameCalls();
    }

    /// @notice The calls to make at random: those of SameCalls, which fail on the first difference.
    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_calls);
    }

    function invariant_saysWhatTheModelSays() public view {
        _calls.expectAllTheSame();
    }
}
