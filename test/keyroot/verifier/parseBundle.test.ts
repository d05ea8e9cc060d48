import { expect } from "chai";
import { ANY_KEY, type KeyRecord, VerificationError, pinnedBlock } from "keyroot";
import { makeMerkleFile, makeMerkleProof } from "keyroot/merkle";
import { parseBundle, verifyBundle } from "keyroot/bundle";
import { CONTRACT, plainBundle } from "../../support/data/plainBundle.ts";
import { sampleRecords } from "../../support/samples.ts";
import { refusalOf } from "../../support/refusalOf.ts";
import { failure } from "../../support/support.ts";

describe("parseBundle", () => {
  const file = makeMerkleFile(sampleRecords(3));
  const [mine] = file.records as [KeyRecord];
  const proof = makeMerkleProof(file, mine.userID);
  const { bundle: good, pinned } = plainBundle(proof);
  const text = JSON.stringify(good);
  const withChanges = (change: object): object => ({ ...good, ...change });
  const query = {
    userID: mine.userID,
    chainId: 1,
    contract: CONTRACT,
    expectedPublicKey: ANY_KEY,
    trust: pinnedBlock(pinned),
  };
  /** Returns the error of `parseBundle`. `verifyBundle` must throw the same error. */
  const errorOf = async (source: unknown) => {
    const error = await failure(verifyBundle(source, query));
    const parseError = refusalOf(parseBundle, source);
    expect(error).to.be.instanceOf(VerificationError);
    const { step, code } = error as VerificationError;
    expect(`${step}: ${code}`).to.equal(parseError);
    return parseError;
  };

  it("returns the bundle and its record", () => {
    for (const source of [good, new TextEncoder().encode(text)]) {
      expect(parseBundle(source)).to.deep.equal({ bundle: good, record: mine });
    }
  });

  it("accepts a bundle of 64 kB", async () => {
    const bytes = new TextEncoder().encode(text.padEnd(2 ** 16));
    expect(parseBundle(bytes)).to.deep.include({ record: mine });
    expect(await verifyBundle(bytes, query)).to.deep.include({ record: mine });
  });

  describe("with a malformed bundle", () => {
    const malformed: [string, unknown][] = [
      ["undefined", undefined],
      ["null", null],
      ["text", JSON.stringify(good)],
      ["a list", []],
      ["an empty object", {}],
    ];
    for (const [name, bundle] of malformed) {
      it(`throws BUNDLE_SHAPE for ${name}`, async () => {
        expect(await errorOf(bundle)).to.equal("file: BUNDLE_SHAPE");
      });
    }

    it("throws the error code of a malformed proof", async () => {
      expect(await errorOf(withChanges({ proof: null }))).to.equal("file: PROOF_SHAPE");
      expect(await errorOf(withChanges({ proof: { ...proof, siblings: {} } }))).to.equal("file: PROOF_SHAPE");
      expect(await errorOf(withChanges({ proof: { ...proof, value: "{}" } }))).to.equal("record: RECORD_INVALID");
    });
  });
});
