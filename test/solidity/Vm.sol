// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice The few cheat codes used here.
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

/// @dev Where every runner of Foundry-style tests answers them.
Vm constant VM = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
