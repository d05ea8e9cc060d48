import { publicKeyRegistryAbi, publicKeyRegistryBytecode } from "@keyroot/contracts";
import { expect } from "chai";
import { concat, ContractFactory, getBytes, keccak256, toBeHex, toUtf8Bytes, ZeroAddress, ZeroHash } from "ethers";
import hre from "hardhat";
import PublicKeyRegistryModule from "../../ignition/modules/PublicKeyRegistry.ts";

const { ethers, ignition, networkHelpers } = await hre.network.create();

const ROOT = keccak256(toUtf8Bytes("root"));
const OTHER_ROOT = keccak256(toUtf8Bytes("other root"));
const [ALICE, BOB, CAROL] = ["a1", "b0", "ca"].map((byte) => `0x${byte.repeat(20)}`) as [string, string, string];
const ZERO_ID = `0x${"00".repeat(20)}`;

async function fixture() {
  const [owner, other, newOwner] = await ethers.getSigners();
  if (!owner || !other || !newOwner) throw new Error("The chain has too few accounts.");
  const registry = await ethers.deployContract("PublicKeyRegistry", [owner]);
  const deploymentBlock = await ethers.provider.getBlockNumber();
  // Otherwise the deployment block would also be the block before the first call.
  await networkHelpers.mine(3);

  /** Adds the ids in one call and returns its block number. */
  async function add(root: string, ...ids: string[]): Promise<number> {
    await registry.addMerkleTreeRoot(root, concat(ids));
    return ethers.provider.getBlockNumber();
  }
  return { registry, owner, other, newOwner, deploymentBlock, add };
}

describe("PublicKeyRegistry", () => {
  describe("constructor", () => {
    it("sets the given account as the owner", async () => {
      const { owner, newOwner } = await networkHelpers.loadFixture(fixture);
      const registry = await ethers.deployContract("PublicKeyRegistry", [newOwner], owner);
      expect(await registry.owner()).to.equal(newOwner.address);
    });

    it("reverts if the owner is the zero address", async () => {
      const { registry } = await networkHelpers.loadFixture(fixture);
      await expect(ethers.deployContract("PublicKeyRegistry", [ZeroAddress]))
        .to.be.revertedWithCustomError(registry, "OwnableInvalidOwner")
        .withArgs(ZeroAddress);
    });

    it("starts without users", async () => {
      const { registry } = await networkHelpers.loadFixture(fixture);
      expect(await registry.userCount()).to.equal(0);
    });
  });

  describe("addMerkleTreeRoot", () => {
    it("sets the root of every listed user", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE, BOB, CAROL);
      for (const id of [ALICE, BOB, CAROL]) expect(await registry.getMerkleTreeRoot(id)).to.equal(ROOT);
    });

    it("sets no other user's root", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE, CAROL);
      expect(await registry.getMerkleTreeRoot(BOB)).to.equal(ZeroHash);
      expect(await registry.getMerkleTreeRoot(ZERO_ID)).to.equal(ZeroHash);
    });

    it("keeps an existing root", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE);
      await add(OTHER_ROOT, ALICE);
      expect(await registry.getMerkleTreeRoot(ALICE)).to.equal(ROOT);
    });

    it("sets the root of the users without one, at any position in the list", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, BOB);
      await add(OTHER_ROOT, ALICE, BOB, CAROL);
      expect(await registry.getMerkleTreeRoot(ALICE)).to.equal(OTHER_ROOT);
      expect(await registry.getMerkleTreeRoot(BOB)).to.equal(ROOT);
      expect(await registry.getMerkleTreeRoot(CAROL)).to.equal(OTHER_ROOT);
    });

    it("accepts a known root for more users", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE);
      await add(ROOT, BOB);
      expect(await registry.getMerkleTreeRoot(BOB)).to.equal(ROOT);
    });

    it("reads each id at its own offset, wherever the packed ids begin in the calldata", async () => {
      const { registry, owner } = await networkHelpers.loadFixture(fixture);
      for (let shift = 0; shift < 32; shift += 1) {
        const ids = [`before ${shift}`, `after ${shift}`].map((seed) => keccak256(toUtf8Bytes(seed)).slice(0, 42));
        // The ABI allows any offset, so other bytes may precede and follow the ids.
        const gap = `0x${"ff".repeat(shift)}`;
        const head = [registry.interface.getFunction("addMerkleTreeRoot").selector, ROOT, toBeHex(64 + shift, 32)];
        const data = concat([...head, gap, toBeHex(40, 32), ...ids, `0x${"ff".repeat(32)}`]);
        await owner.sendTransaction({ to: registry, data });
        for (const id of ids) expect(await registry.getMerkleTreeRoot(id), `shifted by ${shift}`).to.equal(ROOT);
      }
      expect(await registry.userCount()).to.equal(2 * 32);
    });

    it("sets no root for 20 bytes that span two listed ids", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE, BOB);
      const packed = concat([ALICE, BOB]).slice(2);
      for (let offset = 1; offset < 20; offset += 1) {
        const straddling = `0x${packed.slice(2 * offset, 2 * offset + 40)}`;
        expect(await registry.getMerkleTreeRoot(straddling), `offset ${offset}`).to.equal(ZeroHash);
      }
    });

    it("distinguishes ids that differ only in the last bit, next to ids of all ones and all zeros", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      const ones = `0x${"ff".repeat(20)}`;
      const even = `0x${"ff".repeat(19)}fe`;
      await add(ROOT, even, ones, even, ZERO_ID);
      await add(OTHER_ROOT, ones, even);
      expect(await registry.getMerkleTreeRoot(ones)).to.equal(ROOT);
      expect(await registry.getMerkleTreeRoot(even)).to.equal(ROOT);
      expect(await registry.userCount()).to.equal(3);
    });

    it("accepts and counts 700 users in one transaction", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      const ids = Array.from({ length: 700 }, (_, i) => keccak256(toBeHex(i, 32)).slice(0, 42));
      await add(ROOT, ...ids);
      for (const id of ids) expect(await registry.getMerkleTreeRoot(id)).to.equal(ROOT);
      expect(await registry.userCount()).to.equal(700);
    });

    it("accepts the zero id like any other id", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ZERO_ID);
      expect(await registry.getMerkleTreeRoot(ZERO_ID)).to.equal(ROOT);
      expect(await registry.userCount()).to.equal(1);
    });

    it("reverts if the calldata ends before the packed ids end", async () => {
      const { registry, owner } = await networkHelpers.loadFixture(fixture);
      const calldata = registry.interface.encodeFunctionData("addMerkleTreeRoot", [ROOT, concat([ALICE, BOB])]);
      const cut = calldata.slice(0, -2 * (64 - 39));
      await expect(owner.sendTransaction({ to: registry, data: cut })).to.be.revertedWithoutReason(ethers);
    });

    describe("event", () => {
      it("contains the root and the number of users whose root was set", async () => {
        const { registry } = await networkHelpers.loadFixture(fixture);
        await expect(registry.addMerkleTreeRoot(ROOT, concat([ALICE, BOB])))
          .to.emit(registry, "MerkleTreeRootAdded")
          .withArgs(ROOT, 2);
      });

      it("does not count users who already had a root", async () => {
        const { registry, add } = await networkHelpers.loadFixture(fixture);
        await add(ROOT, ALICE);
        await expect(registry.addMerkleTreeRoot(OTHER_ROOT, concat([ALICE, BOB, CAROL])))
          .to.emit(registry, "MerkleTreeRootAdded")
          .withArgs(OTHER_ROOT, 2);
      });

      it("counts a repeated id once", async () => {
        const { registry } = await networkHelpers.loadFixture(fixture);
        await expect(registry.addMerkleTreeRoot(ROOT, concat([ALICE, BOB, ALICE, ALICE])))
          .to.emit(registry, "MerkleTreeRootAdded")
          .withArgs(ROOT, 2);
      });

      it("is the only event of a call", async () => {
        const { registry } = await networkHelpers.loadFixture(fixture);
        const receipt = await (await registry.addMerkleTreeRoot(ROOT, concat([ALICE, BOB]))).wait();
        expect(receipt?.logs).to.have.length(1);
      });

      it("is not emitted if every listed user already had a root", async () => {
        const { registry, add } = await networkHelpers.loadFixture(fixture);
        await add(ROOT, ALICE, BOB);
        const receipt = await (await registry.addMerkleTreeRoot(OTHER_ROOT, concat([BOB, ALICE]))).wait();
        expect(receipt?.logs).to.have.length(0);
      });

      it("is not emitted if the list is empty", async () => {
        const { registry } = await networkHelpers.loadFixture(fixture);
        const receipt = await (await registry.addMerkleTreeRoot(ROOT, "0x")).wait();
        expect(receipt?.logs).to.have.length(0);
      });
    });

    describe("errors", () => {
      it("rejects the zero root", async () => {
        const { registry } = await networkHelpers.loadFixture(fixture);
        await expect(registry.addMerkleTreeRoot(ZeroHash, ALICE))
          .to.be.revertedWithCustomError(registry, "PublicKeyRegistryInvalidMerkleTreeRoot")
          .withArgs(ZeroHash);
      });

      it("rejects the zero root even with an empty list", async () => {
        const { registry } = await networkHelpers.loadFixture(fixture);
        await expect(registry.addMerkleTreeRoot(ZeroHash, "0x"))
          .to.be.revertedWithCustomError(registry, "PublicKeyRegistryInvalidMerkleTreeRoot")
          .withArgs(ZeroHash);
      });

      it("rejects packed ids that end with 1 to 19 extra bytes, after zero or two whole ids", async () => {
        const { registry } = await networkHelpers.loadFixture(fixture);
        for (let remainder = 1; remainder < 20; remainder += 1) {
          for (const length of [remainder, 40 + remainder]) {
            await expect(registry.addMerkleTreeRoot(ROOT, `0x${"a1".repeat(length)}`), `${length} bytes`)
              .to.be.revertedWithCustomError(registry, "PublicKeyRegistryInvalidPackedLength")
              .withArgs(length);
          }
        }
      });

      it("rejects every caller except the owner, for any arguments", async () => {
        const { registry, other } = await networkHelpers.loadFixture(fixture);
        for (const [root, packed] of [
          [ROOT, ALICE],
          [ROOT, "0x"],
          [ZeroHash, "0x01"],
        ] as const) {
          await expect(registry.connect(other).addMerkleTreeRoot(root, packed))
            .to.be.revertedWithCustomError(registry, "OwnableUnauthorizedAccount")
            .withArgs(other.address);
        }
      });
    });
  });

  describe("getMerkleTreeRoot", () => {
    /** The calldata of the specification: the selector, the 20 bytes of the id, and 12 bytes of padding. */
    const calldata = (id: string, padding: string) => concat(["0xee94c797", id, padding]);
    const ZERO_PADDING = `0x${"00".repeat(12)}`;

    it("returns the user's root", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE);
      await add(OTHER_ROOT, BOB);
      expect(await registry.getMerkleTreeRoot(ALICE)).to.equal(ROOT);
      expect(await registry.getMerkleTreeRoot(BOB)).to.equal(OTHER_ROOT);
    });

    it("returns zero for an unknown user", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      expect(await registry.getMerkleTreeRoot(BOB)).to.equal(ZeroHash);
      await add(ROOT, ALICE);
      expect(await registry.getMerkleTreeRoot(BOB)).to.equal(ZeroHash);
    });

    it("answers the specification's calldata: ee94c797, the id and 12 zero bytes", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE);
      const call = async (id: string) =>
        ethers.provider.call({ to: await registry.getAddress(), data: calldata(id, ZERO_PADDING) });
      expect(await call(ALICE)).to.equal(ROOT);
      expect(await call(BOB)).to.equal(ZeroHash);
    });

    it("reverts if any bit of the padding is set, or if the padding is missing", async () => {
      const { registry, owner, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE);
      const oneBits = Array.from({ length: 96 }, (_, bit) => toBeHex(1n << BigInt(bit), 12));
      for (const padding of [...oneBits, "0x", `0x${"00".repeat(11)}`]) {
        const call = owner.call({ to: await registry.getAddress(), data: calldata(ALICE, padding) });
        await expect(call, padding).to.be.revertedWithoutReason(ethers);
      }
    });
  });

  describe("getBlockNumber", () => {
    it("is the block in which the root was first set for a user", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      const block = await add(ROOT, ALICE);
      await networkHelpers.mine(2);
      expect(await registry.getBlockNumber(ROOT)).to.equal(block);
    });

    it("does not change when the root is set for more users", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      const block = await add(ROOT, ALICE);
      await add(ROOT, BOB);
      expect(await registry.getBlockNumber(ROOT)).to.equal(block);
    });

    it("is zero for a root that was in calls but was set for no user", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE);
      await add(OTHER_ROOT, ALICE);
      await add(OTHER_ROOT);
      expect(await registry.getBlockNumber(OTHER_ROOT)).to.equal(0);
    });

    it("is the block of the first call that set the root, not of earlier calls with it", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE);
      await add(OTHER_ROOT, ALICE);
      const block = await add(OTHER_ROOT, ALICE, BOB);
      expect(await registry.getBlockNumber(OTHER_ROOT)).to.equal(block);
    });

    it("is the deployment block for the zero root, also after users were added", async () => {
      const { registry, deploymentBlock, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE);
      expect(await registry.getBlockNumber(ZeroHash)).to.equal(deploymentBlock);
    });
  });

  describe("getUserInfo", () => {
    it("returns the user's root and its block number", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      const block = await add(ROOT, ALICE);
      await add(ROOT, BOB);
      expect(await registry.getUserInfo(BOB)).to.deep.equal([ROOT, BigInt(block)]);
    });

    it("returns the zero root and the deployment block for an unknown user", async () => {
      const { registry, deploymentBlock, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE);
      expect(await registry.getUserInfo(BOB)).to.deep.equal([ZeroHash, BigInt(deploymentBlock)]);
    });
  });

  describe("userCount", () => {
    it("is the sum of addedCount over all events", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE, ALICE);
      await add(OTHER_ROOT, ALICE, BOB);
      await add(OTHER_ROOT, BOB);
      await add(ROOT, CAROL);
      const events = await registry.queryFilter(registry.filters.MerkleTreeRootAdded());
      expect(events.map(({ args }) => [...args])).to.deep.equal([
        [ROOT, 1n],
        [OTHER_ROOT, 1n],
        [ROOT, 1n],
      ]);
      expect(await registry.userCount()).to.equal(3);
    });
  });

  describe("HASH_TYPE", () => {
    it("is sha256", async () => {
      const { registry } = await networkHelpers.loadFixture(fixture);
      expect(await registry.HASH_TYPE()).to.equal("sha256");
    });
  });

  describe("ownership", () => {
    it("is transferred in two steps", async () => {
      const { registry, owner, newOwner } = await networkHelpers.loadFixture(fixture);
      await registry.transferOwnership(newOwner);
      expect(await registry.owner()).to.equal(owner.address);
      expect(await registry.pendingOwner()).to.equal(newOwner.address);
      await registry.connect(newOwner).acceptOwnership();
      expect(await registry.owner()).to.equal(newOwner.address);
      expect(await registry.pendingOwner()).to.equal(ZeroAddress);
    });

    it("includes the right to add roots", async () => {
      const { registry, owner, newOwner } = await networkHelpers.loadFixture(fixture);
      await registry.transferOwnership(newOwner);
      await expect(registry.connect(newOwner).addMerkleTreeRoot(ROOT, ALICE))
        .to.be.revertedWithCustomError(registry, "OwnableUnauthorizedAccount")
        .withArgs(newOwner.address);
      await registry.connect(newOwner).acceptOwnership();
      await registry.connect(newOwner).addMerkleTreeRoot(ROOT, ALICE);
      await expect(registry.addMerkleTreeRoot(ROOT, BOB))
        .to.be.revertedWithCustomError(registry, "OwnableUnauthorizedAccount")
        .withArgs(owner.address);
    });

    it("does not let a new owner change existing roots", async () => {
      const { registry, newOwner, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE);
      await registry.transferOwnership(newOwner);
      await registry.connect(newOwner).acceptOwnership();
      await registry.connect(newOwner).addMerkleTreeRoot(OTHER_ROOT, ALICE);
      expect(await registry.getMerkleTreeRoot(ALICE)).to.equal(ROOT);
    });

    it("can be offered only by the owner and accepted only by the pending owner", async () => {
      const { registry, other, newOwner } = await networkHelpers.loadFixture(fixture);
      await expect(registry.connect(other).transferOwnership(other))
        .to.be.revertedWithCustomError(registry, "OwnableUnauthorizedAccount")
        .withArgs(other.address);
      await registry.transferOwnership(newOwner);
      await expect(registry.connect(other).acceptOwnership())
        .to.be.revertedWithCustomError(registry, "OwnableUnauthorizedAccount")
        .withArgs(other.address);
    });

    it("can be withdrawn until it is accepted", async () => {
      const { registry, newOwner } = await networkHelpers.loadFixture(fixture);
      await registry.transferOwnership(newOwner);
      await registry.transferOwnership(ZeroAddress);
      await expect(registry.connect(newOwner).acceptOwnership())
        .to.be.revertedWithCustomError(registry, "OwnableUnauthorizedAccount")
        .withArgs(newOwner.address);
    });

    it("cannot be renounced by any account", async () => {
      const { registry, owner, other } = await networkHelpers.loadFixture(fixture);
      const data = registry.interface.encodeFunctionData("renounceOwnership");
      for (const account of [owner, other]) {
        await expect(account.sendTransaction({ to: registry, data }))
          .to.be.revertedWithCustomError(registry, "PublicKeyRegistryCannotRenounceOwnership")
          .withArgs(owner.address);
      }
      expect(await registry.owner()).to.equal(owner.address);
    });
  });

  describe("interface", () => {
    const selectors = {
      "addMerkleTreeRoot(bytes32,bytes)": "0x12e36530",
      "getMerkleTreeRoot(bytes20)": "0xee94c797",
      "getBlockNumber(bytes32)": "0x47378145",
      "getUserInfo(bytes20)": "0x829a34c6",
      "HASH_TYPE()": "0xb01c68be",
      "userCount()": "0x07973ccf",
      "owner()": "0x8da5cb5b",
      "pendingOwner()": "0xe30c3978",
      "transferOwnership(address)": "0xf2fde38b",
      "acceptOwnership()": "0x79ba5097",
      "renounceOwnership()": "0x715018a6",
    };

    it("has exactly these functions, with these selectors", async () => {
      const { registry } = await networkHelpers.loadFixture(fixture);
      const found: Record<string, string> = {};
      registry.interface.forEachFunction((fragment) => (found[fragment.format("sighash")] = fragment.selector));
      expect(found).to.deep.equal(selectors);
    });

    it("has exactly these events", async () => {
      const { registry } = await networkHelpers.loadFixture(fixture);
      const events: string[] = [];
      registry.interface.forEachEvent((event) => events.push(event.format("minimal")));
      expect(events).to.have.members([
        "event MerkleTreeRootAdded(bytes32 indexed,uint256)",
        "event OwnershipTransferStarted(address indexed,address indexed)",
        "event OwnershipTransferred(address indexed,address indexed)",
      ]);
    });

    it("has exactly these errors", async () => {
      const { registry } = await networkHelpers.loadFixture(fixture);
      const errors: string[] = [];
      registry.interface.forEachError((error) => errors.push(error.format("sighash")));
      expect(errors).to.have.members([
        "OwnableInvalidOwner(address)",
        "OwnableUnauthorizedAccount(address)",
        "PublicKeyRegistryCannotRenounceOwnership(address)",
        "PublicKeyRegistryInvalidMerkleTreeRoot(bytes32)",
        "PublicKeyRegistryInvalidPackedLength(uint256)",
      ]);
    });

    it("names the return values of getUserInfo", async () => {
      const { registry } = await networkHelpers.loadFixture(fixture);
      expect(registry.interface.getFunction("getUserInfo").format("full")).to.equal(
        "function getUserInfo(bytes20 userID) view returns (bytes32 merkleTreeRoot, uint256 blockNumber)",
      );
    });

    it("reverts on ether, on calls without a function and on unknown functions", async () => {
      const { registry, owner } = await networkHelpers.loadFixture(fixture);
      const add = registry.interface.encodeFunctionData("addMerkleTreeRoot", [ROOT, ALICE]);
      for (const transaction of [{ value: 1 }, { data: "0x" }, { data: "0x12345678" }, { data: add, value: 1 }]) {
        await expect(owner.sendTransaction({ to: registry, ...transaction })).to.be.revertedWithoutReason(ethers);
      }
    });
  });

  describe("storage", () => {
    it("stores a user's root at keccak256(right-padded id . 2), as storage proofs expect", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE);
      const slot = keccak256(`${ALICE}${"00".repeat(12)}${"00".repeat(31)}02`);
      expect(slot).to.equal("0xff75dca2eb3c16f5776811c9257f9e4c54a40ad8ec12773e40a0b42d4841b6fe");
      expect(await ethers.provider.getStorage(registry, slot)).to.equal(ROOT);
    });

    it("stores a root's block number at keccak256(root . 3)", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      const block = await add(ROOT, ALICE);
      const slot = keccak256(`${ROOT}${"00".repeat(31)}03`);
      expect(BigInt(await ethers.provider.getStorage(registry, slot))).to.equal(BigInt(block));
    });

    it("stores the user count in slot 4", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE, BOB);
      expect(BigInt(await ethers.provider.getStorage(registry, 4))).to.equal(2n);
    });
  });

  describe("bytecode", () => {
    it("cannot call, create or destroy a contract", async () => {
      const { owner } = await networkHelpers.loadFixture(fixture);
      // Not the artifact: with --coverage, its code contains calls that record which statements ran.
      const factory = new ContractFactory(publicKeyRegistryAbi, publicKeyRegistryBytecode, owner);
      const registry = await factory.deploy(owner);
      const code = await ethers.provider.getCode(registry);
      const found = opcodesOf(code).flatMap((opcode) => EXTERNAL_OPCODES[opcode] ?? []);
      expect(found).to.deep.equal([]);
    });
  });

  describe("deployment module", () => {
    it("makes the deploying account the owner by default", async () => {
      const { owner } = await networkHelpers.loadFixture(fixture);
      const { publicKeyRegistry } = await ignition.deploy(PublicKeyRegistryModule);
      expect(await publicKeyRegistry["owner"]?.()).to.equal(owner.address);
    });

    it("makes initialOwner the owner", async () => {
      const { newOwner } = await networkHelpers.loadFixture(fixture);
      const parameters = { PublicKeyRegistry: { initialOwner: newOwner.address } };
      const { publicKeyRegistry } = await ignition.deploy(PublicKeyRegistryModule, { parameters });
      expect(await publicKeyRegistry["owner"]?.()).to.equal(newOwner.address);
    });
  });
});

/** The opcodes by which a contract can call, create or destroy a contract. */
const EXTERNAL_OPCODES: Record<number, string> = {
  0xf0: "CREATE",
  0xf1: "CALL",
  0xf2: "CALLCODE",
  0xf4: "DELEGATECALL",
  0xf5: "CREATE2",
  0xfa: "STATICCALL",
  0xff: "SELFDESTRUCT",
};

/** The opcodes of a contract's code, without the data of PUSH instructions and without the metadata at the end. */
function opcodesOf(code: string): number[] {
  const bytes = getBytes(code);
  // The last two bytes contain the length of the metadata that precedes them.
  const end = bytes.length - 2 - parseInt(code.slice(-4), 16);
  const opcodes: number[] = [];
  for (let at = 0; at < end; at += 1) {
    const opcode = bytes[at] ?? 0;
    opcodes.push(opcode);
    // PUSH1 to PUSH32 are followed by 1 to 32 bytes of data.
    if (opcode >= 0x60 && opcode <= 0x7f) at += opcode - 0x5f;
  }
  return opcodes;
}
