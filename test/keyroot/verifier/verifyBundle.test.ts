import { expect } from "chai";
import { encodeRlp, id } from "ethers";
import fc from "fast-check";
import { ArgumentError, KeyrootError, VerificationError } from "../../../packages/keyroot/src/errors.ts";
import { base64ToBytes } from "../../../packages/keyroot/src/bytes/base64.ts";
import type { KeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { makeMerkleFile } from "../../../packages/keyroot/src/merkle/file.ts";
import { makeMerkleProof } from "../../../packages/keyroot/src/merkle/proof.ts";
import { type BundleQuery, verifyBundle, parseBundle } from "../../../packages/keyroot/src/verifier/bundle.ts";
import { mutation, swap } from "../../support/data/mutations.ts";
import { sampleRecords } from "../../support/samples.ts";
import { failure } from "../../support/support.ts";
import {
  CODE_HASH,
  CONTRACT,
  hashOf,
  plainBundle,
  type PlainBundle,
  type PlainChain,
} from "../../support/data/plainBundle.ts";

const OTHER = `0x${"34".repeat(20)}`;

const bytesOf = (bundle: unknown) => new TextEncoder().encode(JSON.stringify(bundle));

describe("verifyBundle", () => {
  const file = makeMerkleFile(sampleRecords(700));
  const { root } = file.tree;
  const [mine, other] = file.records as [KeyRecord, KeyRecord];
  const stranger = file.records.find(({ pubKey }) => pubKey !== mine.pubKey) ?? other;
  const { userID } = mine;
  const proof = makeMerkleProof(file, userID);
  const made = plainBundle(proof);
  const good = made.bundle;

  const query: BundleQuery = { userID, chainId: 1, contract: CONTRACT };
  const verify = (bundle: unknown, changes: Partial<BundleQuery> = {}, pinned: string | undefined = made.pinned) =>
    verifyBundle(bundle, { ...query, ...changes }, { pinned });
  /** The good bundle with changes. */
  const withChanges = (change: object): PlainBundle => ({ ...good, ...change });
  const errorOf = async (bundle: unknown, changes?: Partial<BundleQuery>, pinned?: string) => {
    const error = await failure(verify(bundle, changes, pinned));
    return error instanceof VerificationError ? `${error.step}: ${error.code}` : error;
  };
  /** The error for a bundle of another chain, under that chain's block. */
  const errorOn = (chain: PlainChain, changes?: Partial<BundleQuery>) => {
    const { bundle, pinned } = plainBundle(proof, chain);
    return errorOf(bundle, changes, pinned);
  };

  describe("of a published key", () => {
    const verdict = {
      record: mine,
      publicKey: base64ToBytes(mine.pubKey),
      root,
      uniqueness: "unchecked",
      ...{ contract: CONTRACT, chainId: 1, codeHash: CODE_HASH },
      evidence: {
        anchor: "pinned",
        storageProof: true,
        block: { hash: made.pinned, number: 24_000_000, timestamp: 1_760_617_663 },
      },
    };

    it("returns the key and its evidence", async () => {
      expect(await verify(good)).to.deep.equal(verdict);
      expect(await verify(bytesOf(good))).to.deep.equal(verdict);
    });

    it("accepts what else the caller expects", async () => {
      for (const expectedPublicKey of [mine.pubKey, base64ToBytes(mine.pubKey)]) {
        const expected = { codeHash: CODE_HASH, usersSlot: 2, contract: CONTRACT.toUpperCase().replace("X", "x") };
        expect(await verify(good, { ...expected, expectedPublicKey })).to.deep.equal(verdict);
      }
    });

    it("accepts JSON in any order and spacing", async () => {
      const text = JSON.stringify(Object.fromEntries(Object.entries(good).reverse()), null, 2);
      expect(await verify(new TextEncoder().encode(text))).to.deep.equal(verdict);
    });

    it("accepts tries of any depth", async () => {
      for (const [accountDepth, storageDepth] of [
        [0, 0],
        [0, 1],
        [1, 0],
        [3, 2],
        [8, 8],
        [9, 7],
        [12, 12],
      ] as const) {
        const { bundle, pinned } = plainBundle(proof, { accountDepth, storageDepth });
        expect(await verify(bytesOf(bundle), {}, pinned)).to.deep.include({ record: mine, root });
      }
    });

    it("accepts users in another slot if the caller names it", async () => {
      const { bundle, pinned } = plainBundle(proof, { usersSlot: 1 });
      expect(await verify(bundle, { usersSlot: 1 }, pinned)).to.deep.include({ record: mine });
      expect(await errorOf(bundle, {}, pinned)).to.equal("root: CONTRACT_MISMATCH");
    });

    it("accepts a root that begins with zeros, which storage leaves out", async () => {
      const short = makeShortRoot();
      const { bundle, pinned } = plainBundle(short);
      const expected = { userID: (JSON.parse(short.value) as KeyRecord).userID };
      expect(await verify(bundle, expected, pinned)).to.include({ root: short.root });
    });

    it("ignores a node beside the path", async () => {
      expect(await verify(withChanges({ accountProof: [...good.accountProof, ...good.storageProof] }))).to.deep.equal(
        verdict,
      );
    });

    it("accepts a header of any fork", async () => {
      const fields = Object.entries(good.header);
      for (const fork of [15, 16, 17, 20, 21]) {
        const header = Object.fromEntries(fields.slice(0, fork));
        expect(await verify(withChanges({ header }), {}, hashOf(header))).to.deep.include({ record: mine });
      }
      const header = { ...good.header, blockAccessListHash: id("list"), slotNumber: "0xb71b00" };
      expect(await verify(withChanges({ header }), {}, hashOf(header))).to.deep.include({ record: mine });
    });

    it("verifies at most 24 kB if the tries are as deep as mainnet's", () => {
      // Eight full branches hold 4.3 billion entries: accounts are fewer, and the registry's users by far.
      const { bundle } = plainBundle(proof, { accountDepth: 8, storageDepth: 8 });
      expect(bytesOf(bundle).length).to.be.within(20_000, 24_000);
    });

    it("can be parsed before it is verified", () => {
      expect(parseBundle(bytesOf(good))).to.deep.equal({ bundle: good, record: mine });
    });
  });

  describe("without a block that the caller trusts", () => {
    it("fails with UNANCHORED and names the block", async () => {
      const error = await failure(verifyBundle(good, query));
      expect(error).to.be.an.instanceof(VerificationError);
      expect(error).to.include({ step: "anchor", code: "UNANCHORED", actual: made.pinned });
      expect(error)
        .to.have.property("message")
        .that.matches(/^Unanchored: /);
    });

    it("fails with HEADER_MISMATCH under another block", async () => {
      const pinned = id("another block");
      const error = await failure(verify(good, {}, pinned));
      const details = { expected: pinned, actual: made.pinned };
      expect(error).to.include({ step: "anchor", code: "HEADER_MISMATCH", ...details });
    });
  });

  describe("of a chain, contract or code that the caller does not trust", () => {
    for (const [name, chain, changes, code] of [
      ["the attacker's own contract", { contract: OTHER }, {}, "CONTRACT_MISMATCH"],
      ["other code", {}, { codeHash: id("other") }, "CODE_HASH_MISMATCH"],
      [
        "other code with the right hash in the bundle",
        { codeHash: id("evil") },
        { codeHash: CODE_HASH },
        "CODE_HASH_MISMATCH",
      ],
      ["another chain", {}, { chainId: 5 }, "CHAIN_ID_MISMATCH"],
      ["no contract", { deployed: false }, {}, "NO_CONTRACT"],
    ] as const) {
      it(`fails with ${code}: ${name}`, async () => {
        expect(await errorOn(chain, changes)).to.equal(`root: ${code}`);
      });
    }

    it("fails with NO_CONTRACT for an account without code", async () => {
      const codeHash = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
      expect(await errorOn({ codeHash })).to.equal("root: NO_CONTRACT");
    });
  });

  describe("of a user without a key", () => {
    it("fails with NOT_PUBLISHED as of the block", async () => {
      for (const storageDepth of [0, 1, 3]) {
        const { bundle, pinned } = plainBundle(proof, { root: undefined, storageDepth });
        const error = await failure(verify(bundle, {}, pinned));
        expect(error).to.include({ step: "root", code: "NOT_PUBLISHED" });
        expect(error).to.have.nested.property("evidence.block.hash", pinned);
      }
    });
  });

  describe("of another root than that of the record", () => {
    it("fails with ROOT_MISMATCH", async () => {
      expect(await errorOn({ root: id("other").slice(2) })).to.equal("tree: ROOT_MISMATCH");
    });
  });

  describe("of another key or user", () => {
    it("fails with KEY_MISMATCH", async () => {
      const error = await failure(verify(good, { expectedPublicKey: stranger.pubKey }));
      const details = { expected: mine.pubKey, actual: stranger.pubKey };
      expect(error).to.include({ step: "key", code: "KEY_MISMATCH", ...details });
    });

    it("fails with USER_MISMATCH", async () => {
      expect(await errorOf(good, { userID: other.userID })).to.equal("record: USER_MISMATCH");
      expect(await errorOf(withChanges({ proof: makeMerkleProof(file, other.userID) }))).to.equal(
        "record: USER_MISMATCH",
      );
    });
  });

  describe("of a changed bundle", () => {
    const alien = plainBundle(makeMerkleProof(makeMerkleFile([{ ...stranger, userID }, other]), userID)).bundle;
    const theirs = plainBundle(makeMerkleProof(file, other.userID)).bundle;
    const nodes = ["accountProof", "storageProof"] as const;

    const falsehoods: [string, string, PlainBundle, Partial<BundleQuery>?][] = [
      ["another chain id", "root: CHAIN_ID_MISMATCH", withChanges({ chainId: 2 })],
      ["another contract", "root: CONTRACT_MISMATCH", withChanges({ contract: CONTRACT.replace("1", "2") })],
      ["another code hash", "root: CODE_HASH_MISMATCH", withChanges({ codeHash: id("other") })],
      ["another slot", "root: CONTRACT_MISMATCH", withChanges({ usersSlot: 3 })],
      ["a proof of another slot", "root: PROOF_INVALID", withChanges({ usersSlot: 3 }), { usersSlot: 3 }],
      ["a proof of another contract", "root: PROOF_INVALID", withChanges({ contract: OTHER }), { contract: OTHER }],
      ["a proof of another user", "root: PROOF_INVALID", withChanges({ storageProof: theirs.storageProof })],
      ["another state", "root: PROOF_INVALID", withChanges({ accountProof: alien.accountProof })],
      ["another storage", "root: PROOF_INVALID", withChanges({ storageProof: alien.storageProof })],
      ["another header", "anchor: HEADER_MISMATCH", withChanges({ header: alien.header })],
      ["another record", "tree: ROOT_MISMATCH", withChanges({ proof: alien.proof })],
      ["another record with the right root", "tree: ROOT_MISMATCH", withChanges({ proof: { ...alien.proof, root } })],
      [
        "a header with an unknown field",
        "anchor: HEADER_INVALID",
        withChanges({ header: { ...good.header, extra: "0x00" } }),
      ],
    ];
    for (const [name, expected, bundle, changes] of falsehoods) {
      it(`fails with ${expected.replace(/.* /, "")}: ${name}`, async () => {
        for (const form of [bundle, bytesOf(bundle)]) expect(await errorOf(form, changes)).to.equal(expected);
      });
    }

    for (const name of Object.keys(good.header)) {
      it(`fails with HEADER_MISMATCH or HEADER_INVALID: the header's ${name} changed or left out`, async () => {
        const hex = good.header[name] ?? "";
        for (const at of [2, hex.length - 1]) {
          const changed = hex.slice(0, at) + (hex.charAt(at) === "1" ? "2" : "1") + hex.slice(at + 1);
          const header = { ...good.header, [name]: changed };
          expect(await errorOf(withChanges({ header }))).to.equal("anchor: HEADER_MISMATCH");
        }
        const isLast = name === "requestsHash";
        expect(await errorOf(withChanges({ header: without(good.header, name) }))).to.equal(
          `anchor: HEADER_${isLast ? "MISMATCH" : "INVALID"}`,
        );
        for (const [value, expected] of [
          [hex.toUpperCase().replace("X", "x"), /[a-f]/.test(hex.slice(2)) ? "file: BUNDLE_SHAPE" : undefined],
          [hex.slice(2), "file: BUNDLE_SHAPE"],
          [7, "file: BUNDLE_SHAPE"],
          ["", "file: BUNDLE_SHAPE"],
        ] as const) {
          if (expected === undefined) continue;
          expect(await errorOf(withChanges({ header: { ...good.header, [name]: value } }))).to.equal(expected);
        }
      });
    }

    for (const trie of nodes) {
      it(`fails with PROOF_INVALID: a node of the ${trie} changed, cut, padded or left out`, async () => {
        for (const [i, node] of good[trie].entries()) {
          const middle = node.length >> 1;
          for (const changed of [
            [node.slice(0, middle) + (node.charAt(middle) === "0" ? "1" : "0") + node.slice(middle + 1)],
            [node.slice(0, -2)],
            [`0x${node.slice(4)}`],
            [`${node}00`],
            [`0x00${node.slice(2)}`],
            [encodeRlp(node)],
            ["0xc0"],
            ["0x80"],
            [],
          ]) {
            const bundle = withChanges({ [trie]: good[trie].toSpliced(i, 1, ...changed) });
            expect(await errorOf(bundle), `${trie}[${i}] ${changed.join().slice(0, 20)}`).to.equal(
              "root: PROOF_INVALID",
            );
          }
        }
        expect(await errorOf(withChanges({ [trie]: [] }))).to.equal("root: PROOF_INVALID");
      });
    }

    it("never accepts another key and never fails without a code, whatever changes", async () => {
      const text = JSON.stringify(good);
      const known = JSON.stringify([good, alien, theirs]);
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.oneof(mutation(known), swap(known)), { minLength: 1, maxLength: 3 }),
          async (changes) => {
            const bytes = new TextEncoder().encode(changes.reduce((text, change) => change(text), text));
            const outcome: unknown = await verify(bytes).catch((error: unknown) => error);
            if (outcome instanceof VerificationError) return;
            expect(outcome).to.deep.include({ record: mine, publicKey: base64ToBytes(mine.pubKey), root });
          },
        ),
        { numRuns: 2000 },
      );
    });

    it("never accepts another key and never fails without a code, whichever byte changes", async () => {
      const bytes = bytesOf(good);
      await fc.assert(
        fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(255), async (at, byte) => {
          const outcome: unknown = await verify(bytes.with(at, byte)).catch((error: unknown) => error);
          if (outcome instanceof VerificationError) return;
          expect(outcome).to.deep.include({ record: mine, root });
        }),
        { numRuns: 2000 },
      );
    });
  });

  describe("with invalid options", () => {
    const { pinned } = made;
    for (const [code, changes, hash] of [
      ["USER_ID_INVALID", { userID: "me" }, pinned],
      ["ARGUMENT_INVALID", { contract: "0x12" }, pinned],
      ["ARGUMENT_INVALID", { contract: undefined as unknown as string }, pinned],
      ["ARGUMENT_INVALID", { chainId: 0 }, pinned],
      ["ARGUMENT_INVALID", { codeHash: CODE_HASH.toUpperCase() }, pinned],
      ["ARGUMENT_INVALID", { usersSlot: 0.5 }, pinned],
      ["ARGUMENT_INVALID", {}, pinned.slice(2)],
      ["ARGUMENT_INVALID", {}, pinned.toUpperCase()],
      ["ARGUMENT_INVALID", {}, "latest"],
      ["PUBLIC_KEY_LENGTH", { expectedPublicKey: new Uint8Array(104) }, pinned],
    ] as const) {
      it(`throws ${code} for ${JSON.stringify({ ...changes, hash }).slice(0, 60)}`, async () => {
        for (const bundle of [good, {}]) {
          const error = await failure(verify(bundle, changes, hash));
          expect(error).to.be.an.instanceof(ArgumentError).and.an.instanceof(KeyrootError).and.include({ code });
        }
      });
    }
  });
});

/** An object without one of its keys. */
function without(object: object, key: string): object {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}

/** A proof under a root whose first byte is zero, of one record alone. */
function makeShortRoot() {
  for (const record of sampleRecords(5000, 3)) {
    const file = makeMerkleFile([record]);
    if (file.tree.root.startsWith("00")) return makeMerkleProof(file, record.userID);
  }
  throw new Error("No sample has such a root.");
}
