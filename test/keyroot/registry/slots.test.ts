import { expect } from "chai";
import { AbiCoder, id, keccak256, toBeHex } from "ethers";
import fc from "fast-check";
import hre from "hardhat";
import { userIDToHex } from "keyroot";
import { userIDFromBytes } from "keyroot/records";
import { slotOfBlockNumber, slotOfUser } from "keyroot/internal/registry";
import { USER_COUNT_SLOT, USERS_SLOT } from "../../../packages/keyroot/src/registry/slots.ts";
import { sampleUserID } from "../../support/samples.ts";
import { closedAfterEach } from "../../support/support.ts";

const ZERO = `0x${"0".repeat(64)}`;

describe("registry slots", () => {
  const closing = closedAfterEach();
  /** Deploys a registry, and adds a root for these users. */
  const registryWith = async (...users: number[]) => {
    const { ethers } = closing(await hre.network.create());
    const [owner] = await ethers.getSigners();
    const registry = await ethers.deployContract("PublicKeyRegistry", [owner]);
    await registry.addMerkleTreeRoot(id("root"), `0x${users.map((i) => userIDToHex(sampleUserID(i))).join("")}`);
    return { ethers, stored: (slot: string) => ethers.provider.getStorage(registry, slot) };
  };

  describe("slotOfUser", () => {
    it("returns Keccak-256 of the user id and the mapping's slot", () => {
      fc.assert(
        fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), fc.nat(), (bytes, usersSlot) => {
          const encoded = AbiCoder.defaultAbiCoder().encode(["bytes20", "uint256"], [bytes, usersSlot]);
          expect(slotOfUser(userIDFromBytes(bytes), usersSlot)).to.equal(keccak256(encoded));
        }),
      );
    });

    it("returns the slot of the user's root in the compiled registry", async () => {
      const { stored } = await registryWith(1);
      const [user, other] = [sampleUserID(1), sampleUserID(2)];
      expect(await stored(slotOfUser(user, USERS_SLOT))).to.equal(id("root"));
      expect(await stored(slotOfUser(other, USERS_SLOT))).to.equal(ZERO);
      expect(await stored(slotOfUser(user, USERS_SLOT + 1))).to.equal(ZERO);
    });
  });

  describe("slotOfBlockNumber", () => {
    it("returns the slot of a root's block in the compiled registry", async () => {
      const { ethers, stored } = await registryWith(1);
      const blockNumber = toBeHex(await ethers.provider.getBlockNumber(), 32);
      expect(await stored(slotOfBlockNumber(id("root").slice(2)))).to.equal(blockNumber);
    });
  });

  describe("USER_COUNT_SLOT", () => {
    it("is the slot that stores the number of users", async () => {
      const { stored } = await registryWith(1, 2, 3);
      expect(await stored(USER_COUNT_SLOT)).to.equal(toBeHex(3, 32));
    });
  });
});
