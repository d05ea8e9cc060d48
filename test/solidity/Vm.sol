// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice The cheat codes that these tests use. Declared here, so the tests need no forge-std.
interface Vm {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    function assume(bool condition) external pure;
    function getRecordedLogs() external returns (Log[] memory);
    function prank(address sender) external;
    function recordLogs() external;
    function roll(uint256 blockNumber) external;
}

/// @dev The address at which runners of Foundry-style tests provide the cheat codes.
Vm constant VM = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
