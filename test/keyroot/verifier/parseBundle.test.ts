import { expect } from "chai";
import type { KeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { makeMerkleFile } from "../../../packages/keyroot/src/merkle/file.ts";
import { VerificationError } from "../../../packages/keyroot/src/errors.ts";
import { makeMerkleProof } from "../../../packages/keyroot/src/merkle/proof.ts";
import { parseBundle, verifyBundle } from "../../../packages/keyroot/src/verifier/bundle.ts";
import { CODE_HASH, CONTRACT, plainBundle } from "../../support/data/plainBundle.ts";
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
  const query = { userID: mine.userID, chainId: 1, contract: CONTRACT };
  /** The error of `parseBundle`, which `verifyBundle` throws, too. */
  const errorOf = async (source: unknown) => {
    const error = await failure(verifyBundle(source, query, { pinned }));
    const parseError = refusalOf(() => parseBundle(source));
    expect(error).to.be.instanceOf(VerificationError);
    const { step, code } = error as VerificationError;
    expect(`${step}: ${code}`).to.equal(parseError);
    return parseError;
  };

  it("returns the bundle and the record in it, from bytes or a value", () => {
    for (const source of [good, new TextEncoder().encode(text)]) {
      expect(parseBundle(source)).to.deep.equal({ bundle: good, record: mine });
    }
  });

  it("accepts 64 kB", async () => {
    const bytes = new TextEncoder().encode(text.padEnd(2 ** 16));
    expect(parseBundle(bytes)).to.deep.include({ record: mine });
    expect(await verifyBundle(bytes, query, { pinned })).to.deep.include({ record: mine });
  });

  describe("fails with", () => {
    const malformed: [string, unknown][] = [
      ["undefined", undefined],
      ["null", null],
      ["text", JSON.stringify(good)],
      ["a list", []],
      ["an empty object", {}],
      ["a proof alone", proof],
      ["an unknown key", withChanges({ lookup: {} })],
      ["another version", withChanges({ format: "keyroot-bundle-v2" })],
      ["a chain id in hex", withChanges({ chainId: "0x1" })],
      ["an infinite chain id", withChanges({ chainId: Infinity })],
      ["a contract in upper case", withChanges({ contract: `0x${"AB".repeat(20)}` })],
      ["a contract that is too short", withChanges({ contract: CONTRACT.slice(0, -1) })],
      ["a code hash without 0x", withChanges({ codeHash: CODE_HASH.slice(2) })],
      ["a slot that is text", withChanges({ usersSlot: "2" })],
      ["a slot below zero", withChanges({ usersSlot: -1 })],
      ["a header that is a list", withChanges({ header: Object.entries(good.header) })],
      ["no header", withChanges({ header: null })],
      ["a proof that is text", withChanges({ accountProof: good.accountProof[0] })],
      [
        "a node in upper case",
        withChanges({ storageProof: good.storageProof.map((node) => `0x${node.slice(2).toUpperCase()}`) }),
      ],
      ["half a byte", withChanges({ storageProof: ["0xc"] })],
      ["an empty node", withChanges({ storageProof: ["0x"] })],
      ["a node that is null", withChanges({ storageProof: [null] })],
      ["a node of more than 1 kB", withChanges({ storageProof: [`0x${"00".repeat(1025)}`] })],
      ["more nodes than a path has", withChanges({ storageProof: new Array(66).fill("0x80") })],
    ];
    for (const key of Object.keys(good).filter((key) => key !== "proof")) {
      malformed.push([`no ${key}`, without(good, key)]);
    }
    for (const [name, bundle] of malformed) {
      it(`BUNDLE_SHAPE: ${name}`, async () => {
        expect(await errorOf(bundle)).to.equal("file: BUNDLE_SHAPE");
      });
    }

    it("the code of the malformed proof", async () => {
      expect(await errorOf(withChanges({ proof: null }))).to.equal("file: PROOF_SHAPE");
      expect(await errorOf(withChanges({ proof: { ...proof, siblings: {} } }))).to.equal("file: PROOF_SHAPE");
      expect(await errorOf(withChanges({ proof: { ...proof, value: "{}" } }))).to.equal("record: RECORD_INVALID");
    });

    for (const [name, code, content] of [
      ["an empty document", "JSON_INVALID", ""],
      ["a document without its last byte", "JSON_INVALID", text.slice(0, -1)],
      ["a byte-order mark", "JSON_FORBIDDEN_TOKEN", `\ufeff${text}`],
      ["a key twice", "JSON_DUPLICATE_KEY", text.replace('"header":{', '"header":{"number":"0x1",')],
      ["a number with an exponent", "JSON_FORBIDDEN_TOKEN", text.replace('"chainId":1', '"chainId":1e0')],
      ["a number of 400 digits", "BUNDLE_SHAPE", text.replace('"chainId":1', `"chainId":${"1".repeat(400)}`)],
      ["an inherited name as a key", "BUNDLE_SHAPE", text.replace("{", '{"__proto__":{},')],
      ["five nested arrays", "JSON_TOO_DEEP", "[".repeat(5)],
      ["bytes that are not UTF-8", "FILE_NOT_UTF8", Uint8Array.of(0x7b, 0xc0, 0x7d)],
      ["more than 64 kB", "FILE_TOO_LARGE", text.padEnd(2 ** 16 + 1)],
    ] as const) {
      it(`${code}: ${name}`, async () => {
        const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
        expect(await errorOf(bytes)).to.equal(`file: ${code}`);
      });
    }
  });
});

/** An object without one of its keys. */
function without(object: object, key: string): object {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}
