import { expect } from "chai";
import { AbiCoder, id, keccak256, toBeHex } from "ethers";
import fc from "fast-check";
import hre from "hardhat";
import { userIDFromBytes, userIDToHex } from "../../../packages/keyroot/src/identity/userID.ts";
import { slotOfBlockNumber, slotOfUser } from "../../../packages/keyroot/src/registry/slotOfUser.ts";
import { USER_COUNT_SLOT, USERS_SLOT } from "../../../packages/keyroot/src/registry/slots.ts";
import { sampleUserID } from "../../support/samples.ts";
import { closedAfterEach } from "../../support/support.ts";

const ZERO = `0x${"0".repeat(64)}`;

describe("registry slots", () => {
  const closing = closedAfterEach();

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
      const { ethers } = closing(await hre.network.create());
      const [owner] = await ethers.getSigners();
      const registry = await ethers.deployContract("PublicKeyRegistry", [owner]);
      const [user, other] = [sampleUserID(1), sampleUserID(2)];
      await registry.addMerkleTreeRoot(id("root"), `0x${userIDToHex(user)}`);
      const stored = (slot: string) => ethers.provider.getStorage(registry, slot);
      expect(await stored(slotOfUser(user, USERS_SLOT))).to.equal(id("root"));
      expect(await stored(slotOfUser(other, USERS_SLOT))).to.equal(ZERO);
      expect(await stored(slotOfUser(user, USERS_SLOT + 1))).to.equal(ZERO);
    });
  });

  describe("slotOfBlockNumber", () => {
    it("returns the slot of a root's block in the compiled registry", async () => {
      const { ethers } = closing(await hre.network.create());
      const [owner] = await ethers.getSigners();
      const registry = await ethers.deployContract("PublicKeyRegistry", [owner]);
      await registry.addMerkleTreeRoot(id("root"), `0x${userIDToHex(sampleUserID(1))}`);
      const stored = await ethers.provider.getStorage(registry, slotOfBlockNumber(id("root").slice(2)));
      expect(stored).to.equal(toBeHex(await ethers.provider.getBlockNumber(), 32));
    });
  });

  describe("USER_COUNT_SLOT", () => {
    it("is the slot of the number of users", async () => {
      const { ethers } = closing(await hre.network.create());
      const [owner] = await ethers.getSigners();
      const registry = await ethers.deployContract("PublicKeyRegistry", [owner]);
      await registry.addMerkleTreeRoot(id("root"), `0x${[1, 2, 3].map((i) => userIDToHex(sampleUserID(i))).join("")}`);
      expect(await ethers.provider.getStorage(registry, USER_COUNT_SLOT)).to.equal(toBeHex(3, 32));
    });
  });
});
