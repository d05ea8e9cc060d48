import { expect } from "chai";
import { id } from "ethers";
import fc from "fast-check";
import {
  ANY_KEY,
  ArgumentError,
  type KeyRecord,
  KeyrootError,
  VerificationError,
  endpoints,
  oneEndpoint,
  ownNode,
  pinnedBlock,
} from "keyroot";
import { makeMerkleFile, makeMerkleProof } from "keyroot/merkle";
import { base64ToBytes } from "keyroot/internal/bytes";
import { type BundleQuery, parseBundle, verifyBundle } from "keyroot/bundle";
import { mutation, swap } from "../../support/data/mutations.ts";
import { sampleRecords } from "../../support/samples.ts";
import { failure } from "../../support/support.ts";
import { CODE_HASH, CONTRACT, plainBundle, type PlainBundle } from "../../support/data/plainBundle.ts";

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

  const query: Omit<BundleQuery, "trust"> = { userID, chainId: 1, contract: CONTRACT, expectedPublicKey: ANY_KEY };
  const verify = async (bundle: unknown, changes: Partial<BundleQuery> = {}, pinned: string = made.pinned) =>
    verifyBundle(bundle, { ...query, trust: pinnedBlock(pinned), ...changes });
  /** Returns the valid bundle with these changes. */
  const withChanges = (change: object): PlainBundle => ({ ...good, ...change });

  describe("for a published key", () => {
    const verdict = {
      record: mine,
      publicKey: base64ToBytes(mine.pubKey),
      root,
      uniqueness: "unchecked",
      ...{ contract: CONTRACT, chainId: 1, codeHash: CODE_HASH },
      evidence: {
        source: "pinned-block",
        storageProof: true,
        block: { hash: made.pinned, number: 24_000_000, timestamp: 1_760_617_663 },
      },
    };

    it("returns the key and its evidence", async () => {
      expect(await verify(good)).to.deep.equal(verdict);
      expect(await verify(bytesOf(good))).to.deep.equal(verdict);
    });

    it("accepts options that match the bundle", async () => {
      for (const expectedPublicKey of [mine.pubKey, base64ToBytes(mine.pubKey)]) {
        const expected = { codeHash: CODE_HASH, contract: CONTRACT.toUpperCase().replace("X", "x") };
        expect(await verify(good, { ...expected, expectedPublicKey })).to.deep.equal(verdict);
      }
    });

    it("accepts a root that begins with zeros", async () => {
      const short = makeShortRoot();
      const { bundle, pinned } = plainBundle(short);
      const expected = { userID: (JSON.parse(short.value) as KeyRecord).userID };
      expect(await verify(bundle, expected, pinned)).to.include({ root: short.root });
    });

    it("ignores proof nodes outside the path", async () => {
      expect(await verify(withChanges({ accountProof: [...good.accountProof, ...good.storageProof] }))).to.deep.equal(
        verdict,
      );
    });

    it("needs a bundle of at most 24 kB on mainnet", () => {
      // Eight full branches have room for 4.3 billion entries. Mainnet has fewer accounts, and the registry has far
      // fewer users.
      const { bundle } = plainBundle(proof, { accountDepth: 8, storageDepth: 8 });
      expect(bytesOf(bundle).length).to.be.within(20_000, 24_000);
    });

    it("accepts the same bytes as parseBundle", () => {
      expect(parseBundle(bytesOf(good))).to.deep.equal({ bundle: good, record: mine });
    });
  });

  describe("without a trusted block", () => {
    it("throws UNANCHORED with the hash of the block", async () => {
      const needingNetwork = [oneEndpoint(), ownNode(), endpoints({ required: 2 })];
      for (const trust of needingNetwork)
        expect(await failure(verify(good, { trust }))).to.include({ code: "UNANCHORED" });
      const error = await failure(verify(good, { trust: oneEndpoint() }));
      expect(error).to.be.an.instanceof(VerificationError);
      expect(error).to.include({ step: "anchor", code: "UNANCHORED", actual: made.pinned });
      expect(error)
        .to.have.property("message")
        .that.matches(/^The bundle is for the untrusted block /);
    });

    it("throws HEADER_MISMATCH for another block", async () => {
      const pinned = id("another block");
      const error = await failure(verify(good, {}, pinned));
      const details = { expected: pinned, actual: made.pinned };
      expect(error).to.include({ step: "anchor", code: "HEADER_MISMATCH", ...details });
    });
  });

  describe("for a user without a key", () => {
    it("throws NOT_PUBLISHED with the hash of the block", async () => {
      for (const storageDepth of [0, 1, 3]) {
        const { bundle, pinned } = plainBundle(proof, { root: undefined, storageDepth });
        const error = await failure(verify(bundle, {}, pinned));
        expect(error).to.include({ step: "root", code: "NOT_PUBLISHED" });
        expect(error).to.have.nested.property("evidence.block.hash", pinned);
      }
    });
  });

  describe("for another key", () => {
    it("throws KEY_MISMATCH", async () => {
      const error = await failure(verify(good, { expectedPublicKey: stranger.pubKey }));
      const details = { expected: mine.pubKey, actual: stranger.pubKey };
      expect(error).to.include({ step: "key", code: "KEY_MISMATCH", ...details });
    });
  });

  describe("for a changed bundle", () => {
    const alien = plainBundle(makeMerkleProof(makeMerkleFile([{ ...stranger, userID }, other]), userID)).bundle;
    const theirs = plainBundle(makeMerkleProof(file, other.userID)).bundle;

    it("accepts only the published key after random changes", async () => {
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

    it("accepts only the published key after a change of any byte", async () => {
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
      ["ARGUMENT_INVALID", { trust: undefined as never }, pinned],
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

/** Creates a proof for a single record with a root whose first byte is zero. */
function makeShortRoot() {
  for (const record of sampleRecords(5000, 3)) {
    const file = makeMerkleFile([record]);
    if (file.tree.root.startsWith("00")) return makeMerkleProof(file, record.userID);
  }
  throw new Error("No sample has a root that begins with a zero byte.");
}
