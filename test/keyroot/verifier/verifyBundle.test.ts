import { expect } from "chai";
import { encodeRlp, id } from "ethers";
import fc from "fast-check";
import { ArgumentError, KeyrootError, VerificationError } from "../../../packages/keyroot/src/errors.ts";
import { base64ToBytes } from "../../../packages/keyroot/src/bytes/base64.ts";
import type { KeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { makeMerkleFile } from "../../../packages/keyroot/src/merkle/file.ts";
import { makeProof } from "../../../packages/keyroot/src/merkle/proof.ts";
import { type BundleQuery, verifyBundle, parseBundle } from "../../../packages/keyroot/src/verifier/bundle.ts";
import { mutation, swap } from "../../support/mutations.ts";
import { sampleRecords } from "../../../fixtures/samples.ts";
import { failure } from "../../support/support.ts";
import {
  CODE_HASH,
  CONTRACT,
  hashOf,
  plainBundle,
  type PlainBundle,
  type PlainChain,
} from "../../../fixtures/plainBundle.ts";

const OTHER = `0x${"34".repeat(20)}`;

const bytesOf = (bundle: unknown) => new TextEncoder().encode(JSON.stringify(bundle));

describe("judgement of a bundle", () => {
  const file = makeMerkleFile(sampleRecords(700));
  const { root } = file.tree;
  const [mine, other] = file.records as [KeyRecord, KeyRecord];
  const stranger = file.records.find(({ pubKey }) => pubKey !== mine.pubKey) ?? other;
  const { userID } = mine;
  const proof = makeProof(file, userID);
  const made = plainBundle(proof);
  const good = made.bundle;

  const question: BundleQuery = { userID, chainId: 1, contract: CONTRACT };
  const judge = (bundle: unknown, asked: Partial<BundleQuery> = {}, blockHash: string | undefined = made.blockHash) =>
    verifyBundle(bundle, { ...question, ...asked }, { blockHash });
  /** The good bundle, with something in the place of something else. */
  const but = (change: object): PlainBundle => ({ ...good, ...change });
  const refusal = async (bundle: unknown, asked?: Partial<BundleQuery>, blockHash?: string) => {
    const error = await failure(judge(bundle, asked, blockHash));
    return error instanceof VerificationError ? `${error.step}: ${error.code}` : error;
  };
  /** The refusal of what was asked for of a bundle of another chain, under that chain's block. */
  const refusalOn = (chain: PlainChain, asked?: Partial<BundleQuery>) => {
    const { bundle, blockHash } = plainBundle(proof, chain);
    return refusal(bundle, asked, blockHash);
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
        block: { hash: made.blockHash, number: 24_000_000, timestamp: 1_760_617_663 },
      },
    };

    it("is the key, and what it rests on", async () => {
      expect(await judge(good)).to.deep.equal(verdict);
      expect(await judge(bytesOf(good))).to.deep.equal(verdict);
    });

    it("holds against what else the caller knows", async () => {
      for (const expectedPublicKey of [mine.pubKey, base64ToBytes(mine.pubKey)]) {
        const asked = { codeHash: CODE_HASH, usersSlot: 2, contract: CONTRACT.toUpperCase().replace("X", "x") };
        expect(await judge(good, { ...asked, expectedPublicKey })).to.deep.equal(verdict);
      }
    });

    it("holds in any order and spacing", async () => {
      const text = JSON.stringify(Object.fromEntries(Object.entries(good).reverse()), null, 2);
      expect(await judge(new TextEncoder().encode(text))).to.deep.equal(verdict);
    });

    it("holds at every depth of the tries", async () => {
      for (const [accountDepth, storageDepth] of [
        [0, 0],
        [0, 1],
        [1, 0],
        [3, 2],
        [8, 8],
        [9, 7],
        [12, 12],
      ] as const) {
        const { bundle, blockHash } = plainBundle(proof, { accountDepth, storageDepth });
        expect(await judge(bytesOf(bundle), {}, blockHash)).to.deep.include({ record: mine, root });
      }
    });

    it("holds in a contract with its users in another slot, for whoever says so", async () => {
      const { bundle, blockHash } = plainBundle(proof, { usersSlot: 1 });
      expect(await judge(bundle, { usersSlot: 1 }, blockHash)).to.deep.include({ record: mine });
      expect(await refusal(bundle, {}, blockHash)).to.equal("root: CONTRACT_MISMATCH");
    });

    it("holds for a root that begins with zeros, which storage leaves out", async () => {
      const short = makeShortRoot();
      const { bundle, blockHash } = plainBundle(short);
      const asked = { userID: (JSON.parse(short.value) as KeyRecord).userID };
      expect(await judge(bundle, asked, blockHash)).to.include({ root: short.root });
    });

    it("is not changed by a node beside the path", async () => {
      expect(await judge(but({ accountProof: [...good.accountProof, ...good.storageProof] }))).to.deep.equal(verdict);
    });

    it("takes a header of any fork", async () => {
      const fields = Object.entries(good.header);
      for (const fork of [15, 16, 17, 20, 21]) {
        const header = Object.fromEntries(fields.slice(0, fork));
        expect(await judge(but({ header }), {}, hashOf(header))).to.deep.include({ record: mine });
      }
      const header = { ...good.header, blockAccessListHash: id("list"), slotNumber: "0xb71b00" };
      expect(await judge(but({ header }), {}, hashOf(header))).to.deep.include({ record: mine });
    });

    it("has 24 kB at the most where the tries are as deep as mainnet's", () => {
      // Eight full branches hold 4.3 billion entries: accounts are fewer, and the registry's users by far.
      const { bundle } = plainBundle(proof, { accountDepth: 8, storageDepth: 8 });
      expect(bytesOf(bundle).length).to.be.within(20_000, 24_000);
    });

    it("may be read before it is judged", () => {
      expect(parseBundle(bytesOf(good))).to.deep.equal({ bundle: good, record: mine });
    });
  });

  describe("without a block that the caller trusts", () => {
    it("is that the bundle is unanchored, and names the block that somebody must vouch for", async () => {
      const error = await failure(verifyBundle(good, question));
      expect(error).to.be.an.instanceof(VerificationError);
      expect(error).to.include({ step: "anchor", code: "UNANCHORED", actual: made.blockHash });
      expect(error)
        .to.have.property("message")
        .that.matches(/^Unanchored: /);
    });

    it("is HEADER_MISMATCH under another block", async () => {
      const blockHash = id("another block");
      const error = await failure(judge(good, {}, blockHash));
      const details = { expected: blockHash, actual: made.blockHash };
      expect(error).to.include({ step: "anchor", code: "HEADER_MISMATCH", ...details });
    });
  });

  describe("of a place that the caller does not trust", () => {
    for (const [name, chain, asked, code] of [
      ["the attacker's own contract", { contract: OTHER }, {}, "CONTRACT_MISMATCH"],
      ["other code", {}, { codeHash: id("other") }, "CODE_HASH_MISMATCH"],
      [
        "other code that says it is the right one",
        { codeHash: id("evil") },
        { codeHash: CODE_HASH },
        "CODE_HASH_MISMATCH",
      ],
      ["another chain", {}, { chainId: 5 }, "CHAIN_ID_MISMATCH"],
      ["no contract", { deployed: false }, {}, "NO_CONTRACT"],
    ] as const) {
      it(`is ${code}: ${name}`, async () => {
        expect(await refusalOn(chain, asked)).to.equal(`root: ${code}`);
      });
    }

    it("is NO_CONTRACT for an account without code", async () => {
      const codeHash = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
      expect(await refusalOn({ codeHash })).to.equal("root: NO_CONTRACT");
    });
  });

  describe("of a user without a key", () => {
    it("is NOT_PUBLISHED, and tells as of which block", async () => {
      for (const storageDepth of [0, 1, 3]) {
        const { bundle, blockHash } = plainBundle(proof, { root: undefined, storageDepth });
        const error = await failure(judge(bundle, {}, blockHash));
        expect(error).to.include({ step: "root", code: "NOT_PUBLISHED" });
        expect(error).to.have.nested.property("evidence.block.hash", blockHash);
      }
    });
  });

  describe("of another root than the record's", () => {
    it("is ROOT_MISMATCH", async () => {
      expect(await refusalOn({ root: id("other").slice(2) })).to.equal("tree: ROOT_MISMATCH");
    });
  });

  describe("of another key or user", () => {
    it("is KEY_MISMATCH", async () => {
      const error = await failure(judge(good, { expectedPublicKey: stranger.pubKey }));
      const details = { expected: mine.pubKey, actual: stranger.pubKey };
      expect(error).to.include({ step: "key", code: "KEY_MISMATCH", ...details });
    });

    it("is USER_MISMATCH", async () => {
      expect(await refusal(good, { userID: other.userID })).to.equal("record: USER_MISMATCH");
      expect(await refusal(but({ proof: makeProof(file, other.userID) }))).to.equal("record: USER_MISMATCH");
    });
  });

  describe("of what was tampered with", () => {
    const alien = plainBundle(makeProof(makeMerkleFile([{ ...stranger, userID }, other]), userID)).bundle;
    const theirs = plainBundle(makeProof(file, other.userID)).bundle;
    const nodes = ["accountProof", "storageProof"] as const;

    const falsehoods: [string, string, PlainBundle, Partial<BundleQuery>?][] = [
      ["another chain id", "root: CHAIN_ID_MISMATCH", but({ chainId: 2 })],
      ["another contract", "root: CONTRACT_MISMATCH", but({ contract: CONTRACT.replace("1", "2") })],
      ["another code hash", "root: CODE_HASH_MISMATCH", but({ codeHash: id("other") })],
      ["another slot", "root: CONTRACT_MISMATCH", but({ usersSlot: 3 })],
      ["a proof of another slot", "root: PROOF_INVALID", but({ usersSlot: 3 }), { usersSlot: 3 }],
      ["a proof of another contract", "root: PROOF_INVALID", but({ contract: OTHER }), { contract: OTHER }],
      ["a proof of another user", "root: PROOF_INVALID", but({ storageProof: theirs.storageProof })],
      ["another state", "root: PROOF_INVALID", but({ accountProof: alien.accountProof })],
      ["another storage", "root: PROOF_INVALID", but({ storageProof: alien.storageProof })],
      ["another header", "anchor: HEADER_MISMATCH", but({ header: alien.header })],
      ["another record", "tree: ROOT_MISMATCH", but({ proof: alien.proof })],
      ["another record with the right root", "tree: ROOT_MISMATCH", but({ proof: { ...alien.proof, root } })],
      ["a header with an unknown field", "anchor: HEADER_INVALID", but({ header: { ...good.header, extra: "0x00" } })],
    ];
    for (const [name, expected, bundle, asked] of falsehoods) {
      it(`is ${expected.replace(/.* /, "")}: ${name}`, async () => {
        for (const form of [bundle, bytesOf(bundle)]) expect(await refusal(form, asked)).to.equal(expected);
      });
    }

    for (const name of Object.keys(good.header)) {
      it(`is HEADER_MISMATCH or HEADER_INVALID: the header's ${name} changed, or left out`, async () => {
        const hex = good.header[name] ?? "";
        for (const at of [2, hex.length - 1]) {
          const changed = hex.slice(0, at) + (hex.charAt(at) === "1" ? "2" : "1") + hex.slice(at + 1);
          const header = { ...good.header, [name]: changed };
          expect(await refusal(but({ header }))).to.equal("anchor: HEADER_MISMATCH");
        }
        const isLast = name === "requestsHash";
        expect(await refusal(but({ header: without(good.header, name) }))).to.equal(
          `anchor: HEADER_${isLast ? "MISMATCH" : "INVALID"}`,
        );
        for (const [value, expected] of [
          [hex.toUpperCase().replace("X", "x"), /[a-f]/.test(hex.slice(2)) ? "file: BUNDLE_SHAPE" : undefined],
          [hex.slice(2), "file: BUNDLE_SHAPE"],
          [7, "file: BUNDLE_SHAPE"],
          ["", "file: BUNDLE_SHAPE"],
        ] as const) {
          if (expected === undefined) continue;
          expect(await refusal(but({ header: { ...good.header, [name]: value } }))).to.equal(expected);
        }
      });
    }

    for (const trie of nodes) {
      it(`is PROOF_INVALID: a node of the ${trie} changed, cut, padded or left out`, async () => {
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
            const bundle = but({ [trie]: good[trie].toSpliced(i, 1, ...changed) });
            expect(await refusal(bundle), `${trie}[${i}] ${changed.join().slice(0, 20)}`).to.equal(
              "root: PROOF_INVALID",
            );
          }
        }
        expect(await refusal(but({ [trie]: [] }))).to.equal("root: PROOF_INVALID");
      });
    }

    it("never makes another key pass, and is never refused without a code, whatever is changed", async () => {
      const text = JSON.stringify(good);
      const known = JSON.stringify([good, alien, theirs]);
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.oneof(mutation(known), swap(known)), { minLength: 1, maxLength: 3 }),
          async (changes) => {
            const bytes = new TextEncoder().encode(changes.reduce((text, change) => change(text), text));
            const outcome: unknown = await judge(bytes).catch((error: unknown) => error);
            if (outcome instanceof VerificationError) return;
            expect(outcome).to.deep.include({ record: mine, publicKey: base64ToBytes(mine.pubKey), root });
          },
        ),
        { numRuns: 2000 },
      );
    });

    it("never makes another key pass, nor is refused without a code, whichever byte is another", async () => {
      const bytes = bytesOf(good);
      await fc.assert(
        fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(255), async (at, byte) => {
          const outcome: unknown = await judge(bytes.with(at, byte)).catch((error: unknown) => error);
          if (outcome instanceof VerificationError) return;
          expect(outcome).to.deep.include({ record: mine, root });
        }),
        { numRuns: 2000 },
      );
    });
  });

  describe("of another form", () => {
    const malformed: [string, unknown][] = [
      ["nothing", undefined],
      ["null", null],
      ["text", JSON.stringify(good)],
      ["a list", []],
      ["an empty object", {}],
      ["a proof alone", proof],
      ["a key too many", but({ lookup: {} })],
      ["another version", but({ format: "keyroot-bundle-v2" })],
      ["a chain id in hex", but({ chainId: "0x1" })],
      ["a chain id beyond all numbers", but({ chainId: Infinity })],
      ["a contract in upper case", but({ contract: `0x${"AB".repeat(20)}` })],
      ["a contract that is too short", but({ contract: CONTRACT.slice(0, -1) })],
      ["a code hash without 0x", but({ codeHash: CODE_HASH.slice(2) })],
      ["a slot that is no number", but({ usersSlot: "2" })],
      ["a slot below zero", but({ usersSlot: -1 })],
      ["a header that is a list", but({ header: Object.entries(good.header) })],
      ["no header", but({ header: null })],
      ["a proof that is a node", but({ accountProof: good.accountProof[0] })],
      [
        "a node in upper case",
        but({ storageProof: good.storageProof.map((node) => `0x${node.slice(2).toUpperCase()}`) }),
      ],
      ["half a byte", but({ storageProof: ["0xc"] })],
      ["an empty node", but({ storageProof: ["0x"] })],
      ["a node that is null", but({ storageProof: [null] })],
      ["a node of more than 1 kB", but({ storageProof: [`0x${"00".repeat(1025)}`] })],
      ["more nodes than a path has", but({ storageProof: new Array(66).fill("0x80") })],
    ];
    for (const key of Object.keys(good).filter((key) => key !== "proof")) {
      malformed.push([`no ${key}`, without(good, key)]);
    }
    for (const [name, bundle] of malformed) {
      it(`is BUNDLE_SHAPE: ${name}`, async () => {
        expect(await refusal(bundle)).to.equal("file: BUNDLE_SHAPE");
      });
    }

    it("is what is wrong with the proof in it", async () => {
      expect(await refusal(but({ proof: null }))).to.equal("file: PROOF_SHAPE");
      expect(await refusal(but({ proof: { ...proof, siblings: {} } }))).to.equal("file: PROOF_SHAPE");
      expect(await refusal(but({ proof: { ...proof, value: "{}" } }))).to.equal("record: RECORD_INVALID");
    });

    const text = JSON.stringify(good);
    for (const [name, code, content] of [
      ["no bytes", "JSON_INVALID", ""],
      ["half of it", "JSON_INVALID", text.slice(0, -1)],
      ["a byte-order mark", "JSON_FORBIDDEN_TOKEN", `\ufeff${text}`],
      ["a key twice", "JSON_DUPLICATE_KEY", text.replace('"header":{', '"header":{"number":"0x1",')],
      ["a number in the exponent", "JSON_FORBIDDEN_TOKEN", text.replace('"chainId":1', '"chainId":1e0')],
      ["a number without end", "BUNDLE_SHAPE", text.replace('"chainId":1', `"chainId":${"1".repeat(400)}`)],
      ["an inherited name for a key", "BUNDLE_SHAPE", text.replace("{", '{"__proto__":{},')],
      ["much inside each other", "JSON_TOO_DEEP", "[".repeat(5)],
      ["bytes that are not UTF-8", "FILE_NOT_UTF8", Uint8Array.of(0x7b, 0xc0, 0x7d)],
      ["more than 64 kB", "FILE_TOO_LARGE", text.padEnd(2 ** 16 + 1)],
    ] as const) {
      it(`is ${code}: ${name}`, async () => {
        const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
        expect(await refusal(bytes)).to.equal(`file: ${code}`);
      });
    }

    it("takes 64 kB", async () => {
      expect(await judge(new TextEncoder().encode(text.padEnd(2 ** 16)))).to.deep.include({ record: mine });
    });
  });

  describe("with unusable options", () => {
    const { blockHash } = made;
    for (const [code, asked, hash] of [
      ["USER_ID_INVALID", { userID: "me" }, blockHash],
      ["ARGUMENT_INVALID", { contract: "0x12" }, blockHash],
      ["ARGUMENT_INVALID", { contract: undefined as unknown as string }, blockHash],
      ["ARGUMENT_INVALID", { chainId: 0 }, blockHash],
      ["ARGUMENT_INVALID", { codeHash: CODE_HASH.toUpperCase() }, blockHash],
      ["ARGUMENT_INVALID", { usersSlot: 0.5 }, blockHash],
      ["ARGUMENT_INVALID", {}, blockHash.slice(2)],
      ["ARGUMENT_INVALID", {}, blockHash.toUpperCase()],
      ["ARGUMENT_INVALID", {}, "latest"],
      ["PUBLIC_KEY_LENGTH", { expectedPublicKey: new Uint8Array(104) }, blockHash],
    ] as const) {
      it(`throws ${code} for ${JSON.stringify({ ...asked, hash }).slice(0, 60)}`, async () => {
        for (const bundle of [good, {}]) {
          const error = await failure(judge(bundle, asked, hash));
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
    if (file.tree.root.startsWith("00")) return makeProof(file, record.userID);
  }
  throw new Error("there is none");
}
