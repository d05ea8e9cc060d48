// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {IPublicKeyRegistry} from "@keyroot/contracts/IPublicKeyRegistry.sol";

/// Encrypted messages for users whose public key is published.
contract Mailbox {
    error MailboxUserHasNoKey(bytes20 userID);

    /// `root` names the Merkle-tree file in which the sender found the user's key.
    event MessageSent(bytes20 indexed userID, bytes32 root, bytes ciphertext);

    IPublicKeyRegistry public immutable registry;

    constructor(IPublicKeyRegistry registry_) {
        registry = registry_;
    }

    /// Sends a message that was encrypted to the user's published key.
    function send(bytes20 userID, bytes calldata ciphertext) external {
        bytes32 root = registry.getMerkleTreeRoot(userID);
        if (root == 0) revert MailboxUserHasNoKey(userID);
        emit MessageSent(userID, root, ciphertext);
    }
}
