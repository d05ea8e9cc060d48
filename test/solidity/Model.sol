// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice The simplest possible registry, as the reference for the fuzz tests. Sender, block number and ids are plain
/// arguments. Each function returns the error data with which the same call to the registry must revert, or nothing.
contract Model {
    mapping(bytes20 userID => bytes32) public roots;
    mapping(bytes32 root => uint256) public blocks;
    uint256 public count;
    address public owner;
    address public pendingOwner;

    constructor(address initialOwner, uint256 blockNumber) {
        owner = initialOwner;
        blocks[0] = blockNumber;
    }

    function add(
        address sender,
        uint256 blockNumber,
        bytes32 root,
        bytes20[] calldata ids,
        uint256 length
    ) external returns (bytes memory errorData, uint256 added) {
        if (sender != owner) return (_unauthorized(sender), 0);
        if (root == 0) {
            return (abi.encodeCall(Errors.PublicKeyRegistryInvalidMerkleTreeRoot, (root)), 0);
        }
        if (length != ids.length * 20) {
            return (abi.encodeCall(Errors.PublicKeyRegistryInvalidPackedLength, (length)), 0);
        }
        for (uint256 i = 0; i < ids.length; ++i) {
            if (roots[ids[i]] != 0) continue;
            roots[ids[i]] = root;
            added = added + 1;
        }
        if (added != 0 && blocks[root] == 0) blocks[root] = blockNumber;
        count = count + added;
    }

    function transferOwnership(address sender, address to) external returns (bytes memory errorData) {
        if (sender != owner) return _unauthorized(sender);
        pendingOwner = to;
    }

    function acceptOwnership(address sender) external returns (bytes memory errorData) {
        if (sender != pendingOwner) return _unauthorized(sender);
        owner = sender;
        pendingOwner = address(0);
    }

    function renounceOwnership() external view returns (bytes memory errorData) {
        return abi.encodeCall(Errors.PublicKeyRegistryCannotRenounceOwnership, (owner));
    }

    function _unauthorized(address sender) private pure returns (bytes memory) {
        return abi.encodeCall(Errors.OwnableUnauthorizedAccount, (sender));
    }
}

/// @notice The registry's errors, declared as functions: `abi.encodeCall` then checks the argument types.
interface Errors {
    function PublicKeyRegistryInvalidMerkleTreeRoot(bytes32 root) external;
    function PublicKeyRegistryInvalidPackedLength(uint256 length) external;
    function PublicKeyRegistryCannotRenounceOwnership(address owner) external;
    function OwnableUnauthorizedAccount(address account) external;
}
