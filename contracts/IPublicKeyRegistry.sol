// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The root of the Merkle tree that holds each user's public key, set once and for ever
/// @author Keyroot
/// @notice A user's public key is published in a Merkle tree whose values are key records. The tree itself lives off
/// chain; its root lives here, under the 20 bytes of the user's id. Whoever is handed a key can then tell whether it is
/// the published one: nobody, the owner included, can change or remove a root that a user has.
interface IPublicKeyRegistry {
    /// @notice A call gave `merkleTreeRoot` to `addedCount` users who had no root before, and `addedCount` is not zero.
    /// All events of one root count its users, and all events together count to `userCount()`.
    /// @param merkleTreeRoot The root these users now have
    /// @param addedCount How many users gained it in this call
    event MerkleTreeRootAdded(bytes32 indexed merkleTreeRoot, uint256 addedCount);

    /// @notice The zero root stands for "this user has none" and cannot be given to anybody.
    /// @param merkleTreeRoot The refused root
    error PublicKeyRegistryInvalidMerkleTreeRoot(bytes32 merkleTreeRoot);

    /// @notice Packed ids that do not end at the end of an id.
    /// @param length The length of the packed ids in bytes: not a multiple of 20
    error PublicKeyRegistryInvalidPackedLength(uint256 length);

    /// @notice A registry without an owner could never take another user, so ownership can only be handed on.
    /// @param owner The account that stays the owner
    error PublicKeyRegistryCannotRenounceOwnership(address owner);

    /// @notice Gives `merkleTreeRoot` to every listed user who has no root yet; the others keep the one they have.
    /// Only the owner may call. An empty list, or one of users who all have a root, changes nothing.
    /// @param merkleTreeRoot The root of the tree that holds the users' key records, not zero
    /// @param userIDsPacked The users' ids of 20 bytes, end to end; an id may occur more than once
    function addMerkleTreeRoot(bytes32 merkleTreeRoot, bytes calldata userIDsPacked) external;

    /// @notice The hash function that the trees are built with.
    /// @return The name of the hash function: "sha256"
    function HASH_TYPE() external view returns (string memory); // solhint-disable-line func-name-mixedcase

    /// @notice The root of the tree that holds the user's public key.
    /// @param userID The user's id
    /// @return The user's root, or zero if the user has none
    function getMerkleTreeRoot(bytes20 userID) external view returns (bytes32);

    /// @notice The block in which a root was first given to a user.
    /// @param merkleTreeRoot The root
    /// @return The block number; the block of this contract's deployment for the zero root; zero for an unknown root
    function getBlockNumber(bytes32 merkleTreeRoot) external view returns (uint256);

    /// @notice A user's root together with that root's block number.
    /// @param userID The user's id
    /// @return merkleTreeRoot The user's root, or zero if the user has none
    /// @return blockNumber The root's block number: of an unknown user, the block of this contract's deployment
    function getUserInfo(bytes20 userID) external view returns (bytes32 merkleTreeRoot, uint256 blockNumber);

    /// @notice How many users have a root.
    /// @return The number of users
    function userCount() external view returns (uint256);
}
