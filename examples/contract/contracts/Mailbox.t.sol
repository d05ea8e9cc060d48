// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {PublicKeyRegistry} from "@keyroot/contracts/PublicKeyRegistry.sol";
import {Mailbox} from "./Mailbox.sol";

contract MailboxTest {
    bytes20 private constant ALICE = bytes20(uint160(0xA11CE));
    bytes20 private constant BOB = bytes20(uint160(0xB0B));

    Mailbox private mailbox;

    function setUp() public {
        PublicKeyRegistry registry = new PublicKeyRegistry(address(this));
        registry.addMerkleTreeRoot(keccak256("a Merkle root"), abi.encodePacked(ALICE));
        mailbox = new Mailbox(registry);
    }

    function test_acceptsAMessageForAUserWithAKey() public {
        mailbox.send(ALICE, "ciphertext");
    }

    function test_refusesAMessageForAUserWithoutAKey() public {
        try mailbox.send(BOB, "ciphertext") {
            revert("accepted");
        } catch (bytes memory reason) {
            bytes memory expected = abi.encodeWithSelector(Mailbox.MailboxUserHasNoKey.selector, BOB);
            require(keccak256(reason) == keccak256(expected), "another error");
        }
    }
}
