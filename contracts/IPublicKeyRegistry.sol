// SPDX-License-Identifier: MIT
// Other projects import this interface, so it compiles with any version that supports custom errors.
pragma solidity >=0.8.4; // solhint-disable-line compiler-version

/// @title IPublicKeyRegistry
/// @author Keyroot
/// @notice Maps each 20-byte user id to the root of the Merkle tree that contains the user's public key. A user's root can
/// be set once. Nobody can change or remove it afterwards, not even the owner. The trees are stored off chain, as
/// Merkle-tree files. A key is verified by its inclusion in the tree whose root is stored here for the user.
interface IPublicKeyRegistry {
    /// @notice Emitted when a call sets the root of `addedCount` users who had none. `addedCount` is never zero. Summed
    /// over all events of one root, it is the number of that root's users; summed over all events, it is `userCount()`.
    /// @param merkleTreeRoot The root that these users now have
    /// @param addedCount The number of users whose root this call set
    event MerkleTreeRootAdded(bytes32 indexed merkleTreeRoot, uint256 addedCount);

    /// @notice The root is zero. Zero means "no root" and cannot be set.
    /// @param merkleTreeRoot The rejected root
    error PublicKeyRegistryInvalidMerkleTreeRoot(bytes32 merkleTreeRoot);

    /// @notice The length of the packed ids is not a multiple of 20.
    /// @param length The length of the packed ids in bytes
    error PublicKeyRegistryInvalidPackedLength(uint256 length);

    /// @notice Ownership cannot be renounced, because a registry without an owner could never add another user.
    /// @param owner The account that remains the owner
    error PublicKeyRegistryCannotRenounceOwnership(address owner);

    /// @notice Sets `merkleTreeRoot` for every listed user who has no root. Users who have one keep it. Only the owner may
    /// call this. If no listed user is without a root, the call succeeds and changes nothing.
    /// @param merkleTreeRoot The root of the tree that contains the users' key records; not zero
    /// @param userIDsPacked The users' 20-byte ids, concatenated; an id may occur more than once
    function addMerkleTreeRoot(bytes32 merkleTreeRoot, bytes calldata userIDsPacked) external;

    /// @notice The hash function of the trees.
    /// @return The name of the hash function: "sha256"
    function HASH_TYPE() external view returns (string memory); // solhint-disable-line func-name-mixedcase

    /// @notice The root of the tree that contains a user's public key.
    /// @param userID The user's id
    /// @return The user's root, or zero if the user has none
    function getMerkleTreeRoot(bytes20 userID) external view returns (bytes32);

    /// @notice The block in which a root was first set for a user.
    /// @param merkleTreeRoot The root
    /// @return The block number. For the zero root, the block in which this contract was deployed; for an unknown root, zero
    function getBlockNumber(bytes32 merkleTreeRoot) external view returns (uint256);

    /// @notice A user's root and the block number of that root.
    /// @param userID The user's id
    /// @return merkleTreeRoot The user's root, or zero if the user has none
    /// @return blockNumber `getBlockNumber(merkleTreeRoot)`: without a root, the block in which this contract was deployed
    function getUserInfo(bytes20 userID) external view returns (bytes32 merkleTreeRoot, uint256 blockNumber);

    /// @notice The number of users who have a root.
    /// @return The number of users
    function userCount() external view returns (uint256);
}
