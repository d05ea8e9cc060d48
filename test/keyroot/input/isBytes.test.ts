import { expect } from "chai";
import { runInNewContext } from "node:vm";
import { parseMerkleFile, makeMerkleFile, serializeMerkleFile } from "keyroot/merkle";
import { parseExpectedKey } from "../../../packages/keyroot/src/identity/compareKey.ts";
import { isBytes } from "../../../packages/keyroot/src/input/values.ts";
import { sampleRecords } from "../../support/samples.ts";

/** Copies bytes to another realm, as Jest's environments and other windows do. */
function inOtherRealm(bytes: Uint8Array): Uint8Array {
  return runInNewContext("new Uint8Array(bytes)", { bytes }) as Uint8Array;
}

describe("bytes of another realm", () => {
  it("are bytes", () => {
    const foreign = inOtherRealm(Uint8Array.of(1, 2));
    expect(foreign).to.not.be.instanceOf(Uint8Array);
    for (const bytes of [foreign, Buffer.alloc(1), new Uint8Array(2)]) expect(isBytes(bytes)).to.equal(true);
    for (const other of [new Int8Array(1), new DataView(new ArrayBuffer(1)), [1], "1", null, { length: 1 }])
      expect(isBytes(other)).to.equal(false);
  });

  it("are accepted as a key and as a file", () => {
    const file = makeMerkleFile(sampleRecords(2));
    const key = Buffer.alloc(105, 4);
    expect(parseExpectedKey(inOtherRealm(key))).to.deep.equal(new Uint8Array(key));
    const bytes = inOtherRealm(Buffer.from([...serializeMerkleFile(file)].join("")));
    expect(parseMerkleFile(bytes, file.tree.root).records).to.have.lengthOf(2);
  });
});
