import { RLP } from "@ethereumjs/rlp";
import { expect } from "chai";
import { getBytes, hexlify, keccak256, toBeArray, toBeHex } from "ethers";
import fc from "fast-check";
import {
  extractProof,
  type StorageProof,
  verifyStorageProof,
} from "../../../packages/keyroot/src/ethereum/storageProof.ts";
import { accountOf, trieOf } from "../../support/chain/tries.ts";
import { refusalOf } from "../../support/refusalOf.ts";

const CODE_HASH = keccak256("0x6000");
const NO_CODE_HASH = keccak256("0x");

/** Values of a contract's storage slots by slot number. A value of zero has no entry. */
type Storage = Map<number, bigint>;

describe("storage proofs", () => {
  describe("verifyStorageProof", () => {
    const contracts = Array.from({ length: 40 }, (_, i): Storage => {
      return new Map(Array.from({ length: i }, (_, slot) => [slot, 2n ** BigInt(6 * slot)]));
    });
    let state: State;
    let proof: StorageProof;
    const prove = (changed: Partial<StorageProof>) =>
      verifyStorageProof(state.root, addressOf(39), slotOf(3), { ...proof, ...changed });

    before(async () => {
      state = await stateOf(contracts);
      proof = await state.prove(39, 3);
    });

    it("returns the value of any slot of any contract", async () => {
      const storage = fc.array(fc.tuple(fc.nat(9), fc.bigInt(1n, 2n ** 256n - 1n)), { maxLength: 9 });
      await fc.assert(
        fc.asyncProperty(
          fc.array(storage, { minLength: 1, maxLength: 9 }),
          fc.nat(9),
          fc.nat(9),
          async (entries, i, j) => {
            const contracts = entries.map((slots): Storage => new Map(slots));
            const { root, prove } = await stateOf(contracts);
            const expected = contracts[i] && { codeHash: CODE_HASH, value: toBeHex(contracts[i].get(j) ?? 0n, 32) };
            expect(verifyStorageProof(root, addressOf(i), slotOf(j), await prove(i, j))).to.deep.equal(expected);
          },
        ),
      );
    });

    it("treats an account without code as a missing contract", async () => {
      const account = RLP.encode([1n, 1n, getBytes(keccak256("0x80")), getBytes(NO_CODE_HASH)]);
      const accounts = await trieOf([[addressOf(0), account]]);
      const proof = { accountProof: await accounts.prove(addressOf(0)), storageProof: [] };
      expect(verifyStorageProof(accounts.root, addressOf(0), slotOf(0), proof)).to.equal(undefined);
    });

    it("accepts a contract's address in upper and lower case", () => {
      const upper = addressOf(39).toUpperCase().replace("0X", "0x");
      expect(verifyStorageProof(state.root, upper, slotOf(3), proof)).to.have.property("value", toBeHex(2n ** 18n, 32));
    });

    it("ignores additional nodes and the order of lower nodes", () => {
      const [root, ...below] = proof.storageProof as [string, ...string[]];
      const storageProof = [root, ...proof.accountProof, ...below.reverse(), ...below];
      expect(prove({ storageProof })).to.deep.equal(prove({}));
    });

    it("reads a short node that is stored inside its parent", async () => {
      // The paths of the two slots have a long common prefix, so their leaves are shorter than a hash.
      const path = keccak256(slotOf(3)).slice(2);
      const leaf = [packed("3", path.slice(61)), Uint8Array.of(7)];
      const branch = Array.from({ length: 17 }, (_, i): unknown => (i === parseInt(path.charAt(60), 16) ? leaf : []));
      const extension = [packed("00", path.slice(0, 60)), keccak(RLP.encode(branch as never))];
      for (const [slot, value] of [
        [3, 7n],
        [4, 0n],
      ] as const) {
        const storageProof = [extension, branch].map((node) => hexlify(RLP.encode(node as never)));
        const { root, proof } = await stateWith(keccak256(storageProof[0] ?? ""), storageProof);
        expect(verifyStorageProof(root, addressOf(0), slotOf(slot), proof)).to.have.property(
          "value",
          toBeHex(value, 32),
        );
      }
    });

    const forgeries: [string, () => Partial<StorageProof> | Promise<Partial<StorageProof>>][] = [
      ["a missing last node of the account", () => ({ accountProof: proof.accountProof.slice(0, -1) })],
      [
        "a missing last node of the slot, as for an empty slot",
        () => ({ storageProof: proof.storageProof.slice(0, -1) }),
      ],
      ["another account's proof", async () => ({ accountProof: (await state.prove(38, 3)).accountProof })],
      [
        "a proof that an account does not exist",
        async () => ({ accountProof: (await state.prove(99, 0)).accountProof }),
      ],
      ["another slot's proof", async () => ({ storageProof: (await state.prove(39, 4)).storageProof })],
      ["a proof that a slot is empty", async () => ({ storageProof: (await state.prove(39, 99)).storageProof })],
      [
        "the proof of the same slot in another contract",
        async () => ({ storageProof: (await state.prove(38, 3)).storageProof }),
      ],
      ["the proof of the same slot in another block", async () => (await stateOf(contracts.slice(1))).prove(38, 3)],
    ];
    for (const [name, forge] of forgeries) {
      it(`throws PROOF_INVALID for ${name}`, async () => {
        const forged = await forge();
        expect(refusalOf(prove, forged)).to.equal("root: PROOF_INVALID");
      });
    }

    it("returns only the true value after random changes to nodes", () => {
      const honest = prove({});
      const half = fc.constantFrom("accountProof", "storageProof");
      const place = fc.nat(9);
      fc.assert(
        fc.property(half, place, place, fc.nat(), fc.integer({ min: 0, max: 255 }), (half, at, other, offset, byte) => {
          const nodes = proof[half].map((node) => getBytes(node));
          const node = nodes[at % nodes.length] as Uint8Array<ArrayBuffer>;
          node[offset % node.length] = byte;
          nodes.splice(other % nodes.length, offset % 2, node);
          const shown: unknown[] = [];
          const code = refusalOf(() => shown.push(prove({ [half]: nodes.map((node) => hexlify(node)) })));
          expect(code).to.be.oneOf([undefined, "root: PROOF_INVALID"]);
          expect(shown).to.deep.equal(code === undefined ? [honest] : []);
        }),
        { numRuns: 300 },
      );
    });
  });

  describe("extractProof", () => {
    it("returns the nodes of the account and of the slot", () => {
      const answer = {
        balance: "0x0",
        accountProof: ["0x01"],
        storageProof: [{ key: "0x0", proof: ["0x02", "0x03"] }],
      };
      expect(extractProof(answer)).to.deep.equal({ accountProof: ["0x01"], storageProof: ["0x02", "0x03"] });
    });

    for (const answer of [null, "0x", [], {}, { storageProof: [] }, { accountProof: [], storageProof: [null] }]) {
      it(`throws PROOF_INVALID for ${JSON.stringify(answer)}`, () => {
        expect(refusalOf(extractProof, answer)).to.equal("root: PROOF_INVALID");
      });
    }

    it("accepts the maximum number and size of nodes", () => {
      const nodes = Array.from({ length: 65 }, () => `0x${"fF".repeat(1024)}`);
      const answer = { accountProof: nodes, storageProof: [{ proof: [] }] };
      expect(extractProof(answer)).to.deep.equal({ accountProof: nodes, storageProof: [] });
    });

    const nodes: [string, unknown][] = [
      ["a string", "0x00"],
      ["a list of numbers", [1]],
      ["too many nodes", new Array(66).fill("0x00")],
      ["a node that is too large", [`0x${"00".repeat(1025)}`]],
      ["an empty node", ["0x"]],
      ["an odd number of digits", ["0x0"]],
      ["hex without 0x", ["00"]],
      ["characters that are not hex", ["0x0g"]],
      ["a line break", ["0x0\n"]],
    ];
    for (const [name, list] of nodes) {
      it(`throws PROOF_INVALID for ${name}`, () => {
        for (const [accountProof, proof] of [
          [list, []],
          [[], list],
        ])
          expect(refusalOf(extractProof, { accountProof, storageProof: [{ proof }] })).to.equal("root: PROOF_INVALID");
      });
    }
  });
});

interface State {
  root: string;
  /** Creates the proof of a contract's slot, both given as numbers. Neither of them has to exist. */
  prove: (contract: number, slot: number) => Promise<StorageProof>;
}

const addressOf = (contract: number) => toBeHex(contract + 1, 20);
const slotOf = (slot: number) => toBeHex(slot, 32);
const keccak = (bytes: Uint8Array) => getBytes(keccak256(bytes));

/** The encoded path of a node: its flag and its nibbles (Yellow Paper, appendix C). */
const packed = (kind: string, nibbles: string) => getBytes(`0x${kind}${nibbles}`);

/** Creates the state of a chain that has these contracts. */
async function stateOf(contracts: Storage[]): Promise<State> {
  const storages = await Promise.all(
    contracts.map((slots) => trieOf([...slots].map(([slot, value]) => [slotOf(slot), RLP.encode(toBeArray(value))]))),
  );
  const accounts = await trieOf(storages.map(({ root }, i) => [addressOf(i), accountOf(root, CODE_HASH)]));
  const prove = async (contract: number, slot: number) => ({
    accountProof: await accounts.prove(addressOf(contract)),
    storageProof: (await storages[contract]?.prove(slotOf(slot))) ?? [],
  });
  return { root: accounts.root, prove };
}

/** Creates the state of a chain with a single contract, which has this storage root. */
async function stateWith(storageRoot: string, storageProof: string[]) {
  const accounts = await trieOf([[addressOf(0), accountOf(storageRoot, CODE_HASH)]]);
  return { root: accounts.root, proof: { accountProof: await accounts.prove(addressOf(0)), storageProof } };
}
