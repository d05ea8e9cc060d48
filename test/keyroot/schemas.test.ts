import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { expect } from "chai";
import fc from "fast-check";
import { readFileSync } from "node:fs";
import { ANY_KEY, type KeyRecord, pinnedBlock } from "keyroot";
import { makeMerkleFile, makeMerkleProof, parseMerkleProof, verifyMerkleProof } from "keyroot/merkle";
import { parseBundle, verifyBundle } from "keyroot/bundle";
import { type Change, mutation, swap } from "../support/data/mutations.ts";
import { sampleRecords } from "../support/samples.ts";
import { CONTRACT, plainBundle } from "../support/data/plainBundle.ts";

const ajv = new Ajv2020({ strict: true });
const [proofSchema, bundleSchema] = ["proof", "bundle"].map((name) => {
  const schema = readFileSync(new URL(`../../packages/keyroot/schemas/${name}.schema.json`, import.meta.url), "utf8");
  return ajv.addSchema(JSON.parse(schema) as object).getSchema(`urn:keyroot:${name}-v1`);
}) as [ValidateFunction, ValidateFunction];

describe("JSON schemas", () => {
  const file = makeMerkleFile(sampleRecords(33));
  const { root } = file.tree;
  const [mine] = file.records as [KeyRecord];
  const { userID } = mine;
  const proof = makeMerkleProof(file, userID);
  const { bundle, pinned } = plainBundle(proof);

  /** Returns all variants of a value with one removed key, added key or replaced value. */
  function* malformed(value: unknown): Generator {
    if (typeof value !== "object" || value === null) {
      for (const other of [null, true, -1, 1.5, "", "0X12", " ", [], {}]) yield other;
      if (typeof value === "string") {
        yield* [`${value} `, value.toUpperCase(), value.slice(0, -1)].filter((other) => other !== value);
      }
    } else if (Array.isArray(value)) {
      yield* [{}, "", new Array(66).fill(value[0])];
      for (const [i, item] of (value as unknown[]).entries()) {
        for (const other of malformed(item)) yield value.with(i, other);
      }
    } else {
      yield* [[], null, { ...value, more: 0 }];
      for (const [key, part] of Object.entries(value)) {
        yield Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
        for (const other of malformed(part)) yield { ...value, [key]: other };
      }
    }
  }
  const accepts = (read: () => unknown) => {
    try {
      read();
      return true;
    } catch {
      return false;
    }
  };

  it("accept the proofs and bundles that the library makes", () => {
    for (const count of [1, 2, 33]) {
      const file = makeMerkleFile(sampleRecords(count));
      for (const { userID } of file.records) {
        const proof = makeMerkleProof(file, userID);
        expect(proofSchema(proof), ajv.errorsText(proofSchema.errors)).to.be.true;
        const { bundle } = plainBundle(proof, { accountDepth: count % 9, storageDepth: 8 });
        const account = { file: "any text", storageProof: bundle.storageProof };
        for (const made of [bundle, { ...bundle, statement: "any text" }, { ...bundle, account }])
          expect(bundleSchema(made), ajv.errorsText(bundleSchema.errors)).to.be.true;
      }
    }
  });

  it("reject the malformed proofs that the verifier rejects", () => {
    let count = 0;
    for (const other of malformed(proof)) {
      const isParsed = accepts(() => parseMerkleProof(other));
      expect(isParsed && !proofSchema(other), JSON.stringify(other)).to.be.false;
      if (!isParsed) count++;
    }
    expect(count).to.be.above(100);
  });

  it("reject the malformed bundles that the verifier rejects", () => {
    let count = 0;
    for (const other of malformed(bundle)) {
      const isParsed = accepts(() => parseBundle(other));
      if (!isParsed) count++;
      if (isParsed === bundleSchema(other)) continue;
      // The schema does not describe the record. `hashHeader` checks the fields of the header.
      expect(isParsed, JSON.stringify(other)).to.equal((other as typeof bundle).proof.value === proof.value);
    }
    expect(count).to.be.above(400);
  });

  const anyChanges = (known: string) =>
    fc.array(fc.oneof(mutation(known), swap(known)), { minLength: 1, maxLength: 2 });
  const change = (value: unknown, changes: readonly Change[]): unknown => {
    try {
      return JSON.parse(changes.reduce((text, change) => change(text), JSON.stringify(value)));
    } catch {
      return value;
    }
  };

  it("accept every proof that the verifier accepts", () => {
    fc.assert(
      fc.property(anyChanges(JSON.stringify(proof)), (changes) => {
        const other = change(proof, changes);
        if (accepts(() => verifyMerkleProof(other, { userID, root, expectedPublicKey: ANY_KEY })))
          expect(proofSchema(other)).to.be.true;
      }),
    );
  });

  it("accept every bundle that the verifier accepts", async () => {
    await fc.assert(
      fc.asyncProperty(anyChanges(JSON.stringify(bundle)), async (changes) => {
        const other = change(bundle, changes);
        const verified = verifyBundle(other, {
          userID,
          chainId: 1,
          contract: CONTRACT,
          expectedPublicKey: ANY_KEY,
          trust: pinnedBlock(pinned),
        });
        if (await verified.then(Boolean, () => false)) expect(bundleSchema(other)).to.be.true;
      }),
    );
  });
});
