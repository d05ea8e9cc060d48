import { expect } from "chai";
import { concat, getBytes, keccak256, toBeHex, toUtf8Bytes, ZeroAddress, ZeroHash } from "ethers";
import hre from "hardhat";
import PublicKeyRegistryModule from "../../ignition/modules/PublicKeyRegistry.ts";

const { ethers, ignition, networkHelpers } = await hre.network.create();

const ROOT = keccak256(toUtf8Bytes("root"));
const OTHER_ROOT = keccak256(toUtf8Bytes("other root"));
const [ALICE, BOB, CAROL] = ["a1", "b0", "ca"].map((byte) => `0x${byte.repeat(20)}`) as [string, string, string];
const ZERO_ID = `0x${"00".repeat(20)}`;

async function fixture() {
  const [owner, stranger, newOwner] = await ethers.getSigners();
  if (!owner || !stranger || !newOwner) throw new Error("The chain has too few accounts.");
  const registry = await ethers.deployContract("PublicKeyRegistry", [owner]);
  const deploymentBlock = await ethers.provider.getBlockNumber();
  // So that "the block of the deployment" is not also "the block before".
  await networkHelpers.mine(3);

  /** Adds the ids in one call and tells the block of it. */
  async function add(root: string, ...ids: string[]): Promise<number> {
    await registry.addMerkleTreeRoot(root, concat(ids));
    return ethers.provider.getBlockNumber();
  }
  return { registry, owner, stranger, newOwner, deploymentBlock, add };
}

describe("PublicKeyRegistry", () => {
  describe("constructor", () => {
    it("makes the given account the owner", async () => {
      const { owner, newOwner } = await networkHelpers.loadFixture(fixture);
      const registry = await ethers.deployContract("PublicKeyRegistry", [newOwner], owner);
      expect(await registry.owner()).to.equal(newOwner.address);
    });

    it("refuses the zero address as owner", async () => {
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
    it("gives the root to every listed user", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE, BOB, CAROL);
      for (const id of [ALICE, BOB, CAROL]) expect(await registry.getMerkleTreeRoot(id)).to.equal(ROOT);
    });

    it("gives nobody else a root", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE, CAROL);
      expect(await registry.getMerkleTreeRoot(BOB)).to.equal(ZeroHash);
      expect(await registry.getMerkleTreeRoot(ZERO_ID)).to.equal(ZeroHash);
    });

    it("keeps the root a user already has", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE);
      await add(OTHER_ROOT, ALICE);
      expect(await registry.getMerkleTreeRoot(ALICE)).to.equal(ROOT);
    });

    it("fills in those who have no root among those who have one, wherever they stand", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, BOB);
      await add(OTHER_ROOT, ALICE, BOB, CAROL);
      expect(await registry.getMerkleTreeRoot(ALICE)).to.equal(OTHER_ROOT);
      expect(await registry.getMerkleTreeRoot(BOB)).to.equal(ROOT);
      expect(await registry.getMerkleTreeRoot(CAROL)).to.equal(OTHER_ROOT);
    });

    it("takes a root again, for further users", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE);
      await add(ROOT, BOB);
      expect(await registry.getMerkleTreeRoot(BOB)).to.equal(ROOT);
    });

    it("reads each id at its own place, wherever the packed ids begin in the calldata", async () => {
      const { registry, owner } = await networkHelpers.loadFixture(fixture);
      for (let shift = 0; shift < 32; shift += 1) {
        const ids = [`before ${shift}`, `after ${shift}`].map((seed) => keccak256(toUtf8Bytes(seed)).slice(0, 42));
        // Any offset is good ABI, and so bytes that nobody asked for may stand before the ids and after them.
        const gap = `0x${"ff".repeat(shift)}`;
        const head = [registry.interface.getFunction("addMerkleTreeRoot").selector, ROOT, toBeHex(64 + shift, 32)];
        const data = concat([...head, gap, toBeHex(40, 32), ...ids, `0x${"ff".repeat(32)}`]);
        await owner.sendTransaction({ to: registry, data });
        for (const id of ids) expect(await registry.getMerkleTreeRoot(id), `shifted by ${shift}`).to.equal(ROOT);
      }
      expect(await registry.userCount()).to.equal(2 * 32);
    });

    it("gives no root to ids that straddle two listed ones", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE, BOB);
      const packed = concat([ALICE, BOB]).slice(2);
      for (let offset = 1; offset < 20; offset += 1) {
        const straddling = `0x${packed.slice(2 * offset, 2 * offset + 40)}`;
        expect(await registry.getMerkleTreeRoot(straddling), `offset ${offset}`).to.equal(ZeroHash);
      }
    });

    it("tells ids apart that differ in their last bit only, before ids of all ones and all zeros", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      const ones = `0x${"ff".repeat(20)}`;
      const even = `0x${"ff".repeat(19)}fe`;
      await add(ROOT, even, ones, even, ZERO_ID);
      await add(OTHER_ROOT, ones, even);
      expect(await registry.getMerkleTreeRoot(ones)).to.equal(ROOT);
      expect(await registry.getMerkleTreeRoot(even)).to.equal(ROOT);
      expect(await registry.userCount()).to.equal(3);
    });

    it("takes and counts as many as fit in a transaction", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      const ids = Array.from({ length: 700 }, (_, i) => keccak256(toBeHex(i, 32)).slice(0, 42));
      await add(ROOT, ...ids);
      for (const id of ids) expect(await registry.getMerkleTreeRoot(id)).to.equal(ROOT);
      expect(await registry.userCount()).to.equal(700);
    });

    it("takes the zero id like any other", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ZERO_ID);
      expect(await registry.getMerkleTreeRoot(ZERO_ID)).to.equal(ROOT);
      expect(await registry.userCount()).to.equal(1);
    });

    it("refuses calldata that ends before the packed ids do", async () => {
      const { registry, owner } = await networkHelpers.loadFixture(fixture);
      const calldata = registry.interface.encodeFunctionData("addMerkleTreeRoot", [ROOT, concat([ALICE, BOB])]);
      const cut = calldata.slice(0, -2 * (64 - 39));
      await expect(owner.sendTransaction({ to: registry, data: cut })).to.be.revertedWithoutReason(ethers);
    });

    describe("event", () => {
      it("tells the root and how many users gained it", async () => {
        const { registry } = await networkHelpers.loadFixture(fixture);
        await expect(registry.addMerkleTreeRoot(ROOT, concat([ALICE, BOB])))
          .to.emit(registry, "MerkleTreeRootAdded")
          .withArgs(ROOT, 2);
      });

      it("leaves out those who had a root", async () => {
        const { registry, add } = await networkHelpers.loadFixture(fixture);
        await add(ROOT, ALICE);
        await expect(registry.addMerkleTreeRoot(OTHER_ROOT, concat([ALICE, BOB, CAROL])))
          .to.emit(registry, "MerkleTreeRootAdded")
          .withArgs(OTHER_ROOT, 2);
      });

      it("counts an id once that occurs more than once", async () => {
        const { registry } = await networkHelpers.loadFixture(fixture);
        await expect(registry.addMerkleTreeRoot(ROOT, concat([ALICE, BOB, ALICE, ALICE])))
          .to.emit(registry, "MerkleTreeRootAdded")
          .withArgs(ROOT, 2);
      });

      it("comes once a call, and nothing else does", async () => {
        const { registry } = await networkHelpers.loadFixture(fixture);
        const receipt = await (await registry.addMerkleTreeRoot(ROOT, concat([ALICE, BOB]))).wait();
        expect(receipt?.logs).to.have.length(1);
      });

      it("does not come when every listed user had a root", async () => {
        const { registry, add } = await networkHelpers.loadFixture(fixture);
        await add(ROOT, ALICE, BOB);
        const receipt = await (await registry.addMerkleTreeRoot(OTHER_ROOT, concat([BOB, ALICE]))).wait();
        expect(receipt?.logs).to.have.length(0);
      });

      it("does not come when nobody is listed", async () => {
        const { registry } = await networkHelpers.loadFixture(fixture);
        const receipt = await (await registry.addMerkleTreeRoot(ROOT, "0x")).wait();
        expect(receipt?.logs).to.have.length(0);
      });
    });

    describe("refusals", () => {
      it("the zero root", async () => {
        const { registry } = await networkHelpers.loadFixture(fixture);
        await expect(registry.addMerkleTreeRoot(ZeroHash, ALICE))
          .to.be.revertedWithCustomError(registry, "PublicKeyRegistryInvalidMerkleTreeRoot")
          .withArgs(ZeroHash);
      });

      it("the zero root even for nobody", async () => {
        const { registry } = await networkHelpers.loadFixture(fixture);
        await expect(registry.addMerkleTreeRoot(ZeroHash, "0x"))
          .to.be.revertedWithCustomError(registry, "PublicKeyRegistryInvalidMerkleTreeRoot")
          .withArgs(ZeroHash);
      });

      for (let remainder = 1; remainder < 20; remainder += 1) {
        it(`packed ids with ${remainder} bytes too many, after none or two whole ids`, async () => {
          const { registry } = await networkHelpers.loadFixture(fixture);
          for (const whole of [0, 40]) {
            const length = whole + remainder;
            await expect(registry.addMerkleTreeRoot(ROOT, `0x${"a1".repeat(length)}`))
              .to.be.revertedWithCustomError(registry, "PublicKeyRegistryInvalidPackedLength")
              .withArgs(length);
          }
        });
      }

      it("strangers, whatever they bring", async () => {
        const { registry, stranger } = await networkHelpers.loadFixture(fixture);
        for (const [root, packed] of [
          [ROOT, ALICE],
          [ROOT, "0x"],
          [ZeroHash, "0x01"],
        ] as const) {
          await expect(registry.connect(stranger).addMerkleTreeRoot(root, packed))
            .to.be.revertedWithCustomError(registry, "OwnableUnauthorizedAccount")
            .withArgs(stranger.address);
        }
      });
    });
  });

  describe("getBlockNumber", () => {
    it("is the block in which the root first gained a user", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      const block = await add(ROOT, ALICE);
      await networkHelpers.mine(2);
      expect(await registry.getBlockNumber(ROOT)).to.equal(block);
    });

    it("stays when the root gains further users", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      const block = await add(ROOT, ALICE);
      await add(ROOT, BOB);
      expect(await registry.getBlockNumber(ROOT)).to.equal(block);
    });

    it("is zero while nobody gained the root, though it was in calls", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE);
      await add(OTHER_ROOT, ALICE);
      await add(OTHER_ROOT);
      expect(await registry.getBlockNumber(OTHER_ROOT)).to.equal(0);
    });

    it("counts from the call that gave the root its first user, not from earlier ones", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE);
      await add(OTHER_ROOT, ALICE);
      const block = await add(OTHER_ROOT, ALICE, BOB);
      expect(await registry.getBlockNumber(OTHER_ROOT)).to.equal(block);
    });

    it("of the zero root is the block of the deployment, also after users were added", async () => {
      const { registry, deploymentBlock, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE);
      expect(await registry.getBlockNumber(ZeroHash)).to.equal(deploymentBlock);
    });
  });

  describe("getUserInfo", () => {
    it("is the user's root and its block", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      const block = await add(ROOT, ALICE);
      await add(ROOT, BOB);
      expect(await registry.getUserInfo(BOB)).to.deep.equal([ROOT, BigInt(block)]);
    });

    it("of an unknown user is the zero root and the block of the deployment", async () => {
      const { registry, deploymentBlock, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE);
      expect(await registry.getUserInfo(BOB)).to.deep.equal([ZeroHash, BigInt(deploymentBlock)]);
    });
  });

  describe("userCount", () => {
    it("is the sum of all events", async () => {
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
    it("passes in two steps: offered, then accepted", async () => {
      const { registry, owner, newOwner } = await networkHelpers.loadFixture(fixture);
      await registry.transferOwnership(newOwner);
      expect(await registry.owner()).to.equal(owner.address);
      expect(await registry.pendingOwner()).to.equal(newOwner.address);
      await registry.connect(newOwner).acceptOwnership();
      expect(await registry.owner()).to.equal(newOwner.address);
      expect(await registry.pendingOwner()).to.equal(ZeroAddress);
    });

    it("takes the right to add roots along", async () => {
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

    it("gives a new owner no power over set roots", async () => {
      const { registry, newOwner, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE);
      await registry.transferOwnership(newOwner);
      await registry.connect(newOwner).acceptOwnership();
      await registry.connect(newOwner).addMerkleTreeRoot(OTHER_ROOT, ALICE);
      expect(await registry.getMerkleTreeRoot(ALICE)).to.equal(ROOT);
    });

    it("can be offered by the owner only, and accepted by the one it was offered to only", async () => {
      const { registry, stranger, newOwner } = await networkHelpers.loadFixture(fixture);
      await expect(registry.connect(stranger).transferOwnership(stranger))
        .to.be.revertedWithCustomError(registry, "OwnableUnauthorizedAccount")
        .withArgs(stranger.address);
      await registry.transferOwnership(newOwner);
      await expect(registry.connect(stranger).acceptOwnership())
        .to.be.revertedWithCustomError(registry, "OwnableUnauthorizedAccount")
        .withArgs(stranger.address);
    });

    it("can be withdrawn while it is on offer", async () => {
      const { registry, newOwner } = await networkHelpers.loadFixture(fixture);
      await registry.transferOwnership(newOwner);
      await registry.transferOwnership(ZeroAddress);
      await expect(registry.connect(newOwner).acceptOwnership())
        .to.be.revertedWithCustomError(registry, "OwnableUnauthorizedAccount")
        .withArgs(newOwner.address);
    });

    it("cannot be renounced, by the owner or anybody else", async () => {
      const { registry, owner, stranger } = await networkHelpers.loadFixture(fixture);
      const data = registry.interface.encodeFunctionData("renounceOwnership");
      for (const account of [owner, stranger]) {
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

    it("has these functions and no more, under these selectors", async () => {
      const { registry } = await networkHelpers.loadFixture(fixture);
      const found: Record<string, string> = {};
      registry.interface.forEachFunction((fragment) => (found[fragment.format("sighash")] = fragment.selector));
      expect(found).to.deep.equal(selectors);
    });

    it("has these events and no more", async () => {
      const { registry } = await networkHelpers.loadFixture(fixture);
      const events: string[] = [];
      registry.interface.forEachEvent((event) => events.push(event.format("minimal")));
      expect(events).to.have.members([
        "event MerkleTreeRootAdded(bytes32 indexed,uint256)",
        "event OwnershipTransferStarted(address indexed,address indexed)",
        "event OwnershipTransferred(address indexed,address indexed)",
      ]);
    });

    it("has these errors and no more", async () => {
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

    it("names what getUserInfo returns", async () => {
      const { registry } = await networkHelpers.loadFixture(fixture);
      expect(registry.interface.getFunction("getUserInfo").format("full")).to.equal(
        "function getUserInfo(bytes20 userID) view returns (bytes32 merkleTreeRoot, uint256 blockNumber)",
      );
    });

    it("refuses ether, calls without a function and unknown functions", async () => {
      const { registry, owner } = await networkHelpers.loadFixture(fixture);
      const add = registry.interface.encodeFunctionData("addMerkleTreeRoot", [ROOT, ALICE]);
      for (const transaction of [{ value: 1 }, { data: "0x" }, { data: "0x12345678" }, { data: add, value: 1 }]) {
        await expect(owner.sendTransaction({ to: registry, ...transaction })).to.be.revertedWithoutReason(ethers);
      }
    });
  });

  describe("storage", () => {
    it("keeps a user's root at keccak256(id padded on the right . 2), where storage proofs look for it", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE);
      const slot = keccak256(`${ALICE}${"00".repeat(12)}${"00".repeat(31)}02`);
      expect(slot).to.equal("0xff75dca2eb3c16f5776811c9257f9e4c54a40ad8ec12773e40a0b42d4841b6fe");
      expect(await ethers.provider.getStorage(registry, slot)).to.equal(ROOT);
    });

    it("keeps a root's block at keccak256(root . 3)", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      const block = await add(ROOT, ALICE);
      const slot = keccak256(`${ROOT}${"00".repeat(31)}03`);
      expect(BigInt(await ethers.provider.getStorage(registry, slot))).to.equal(BigInt(block));
    });

    it("keeps the count of users in slot 4", async () => {
      const { registry, add } = await networkHelpers.loadFixture(fixture);
      await add(ROOT, ALICE, BOB);
      expect(BigInt(await ethers.provider.getStorage(registry, 4))).to.equal(2n);
    });
  });

  describe("bytecode", () => {
    it("calls, creates and destroys no contract: so nothing can stand behind it, replace it or re-enter it", async () => {
      const { registry } = await networkHelpers.loadFixture(fixture);
      const code = await ethers.provider.getCode(registry);
      const found = opcodesOf(code).flatMap((opcode) => REACHING_OUT[opcode] ?? []);
      expect(found).to.deep.equal([]);
    });
  });

  describe("deployment module", () => {
    it("makes the deploying account the owner unless told otherwise", async () => {
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

const REACHING_OUT: Record<number, string> = {
  0xf0: "CREATE",
  0xf1: "CALL",
  0xf2: "CALLCODE",
  0xf4: "DELEGATECALL",
  0xf5: "CREATE2",
  0xfa: "STATICCALL",
  0xff: "SELFDESTRUCT",
};

/** The opcodes of a contract's code, without the data of PUSH instructions and the metadata at the end. */
function opcodesOf(code: string): number[] {
  const bytes = getBytes(code);
  // The last two bytes are the length of the metadata before them.
  const end = bytes.length - 2 - parseInt(code.slice(-4), 16);
  const opcodes: number[] = [];
  for (let at = 0; at < end; at += 1) {
    const opcode = bytes[at] ?? 0;
    opcodes.push(opcode);
    // PUSH1 to PUSH32 carry 1 to 32 bytes of data.
    if (opcode >= 0x60 && opcode <= 0x7f) at += opcode - 0x5f;
  }
  return opcodes;
}
