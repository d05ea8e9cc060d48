import { expect } from "chai";
import { VerificationError } from "keyroot/internal/errors";
import { makeMerkleFile } from "keyroot/internal/merkle";
import type { MerkleFileStore } from "../../../../packages/operator/src/publisher/files/merkleFileStore.ts";
import { storeFile } from "../../../../packages/operator/src/publisher/files/storeFile.ts";
import { sampleRecords, sha256, textOf } from "../../../support/samples.ts";
import { failure } from "../../../support/support.ts";

describe("storeFile", () => {
  const file = makeMerkleFile(sampleRecords(3));

  /** A store that stores and serves this text instead of the file. */
  const storing = (text: string): MerkleFileStore => ({
    put: () => Promise.resolve({ where: "", bytes: text.length, sha256: sha256(text) }),
    get: () => Promise.resolve(Buffer.from(text)),
  });
  const store = (stored: string, served = stored) =>
    storeFile(file, storing(stored), (root) => storing(served).get(root));

  it("returns the file's location, size and hash", async () => {
    const text = textOf(file);
    expect(await store(text)).to.deep.equal({ where: "", bytes: text.length, sha256: sha256(text) });
  });

  it("rejects a file whose served bytes differ from the stored bytes", async () => {
    const error = await failure(store(textOf(file), `${textOf(file)} `));
    expect(error).to.be.instanceOf(VerificationError).with.property("code", "FILE_CONFLICT");
  });

  it("names the file host in the error if the host does not serve the stored file", async () => {
    const missing = () => Promise.reject(new VerificationError("file", "FILE_NOT_FOUND", "The host has no file."));
    const error = (await failure(storeFile(file, storing(textOf(file)), missing))) as Error;
    expect(error).to.be.instanceOf(VerificationError).with.property("code", "FILE_NOT_FOUND");
    expect(error.message).to.match(/^The host has no file\. .* check that the file host serves the store\.$/);
  });

  it("rejects stored bytes that clients reject", async () => {
    for (const [text, code] of [
      [textOf(makeMerkleFile(sampleRecords(3, 2))), "ROOT_MISMATCH"],
      [textOf(file).replace('"levels":3', '"levels":4'), "TREE_MISMATCH"],
    ] as const) {
      expect(await failure(store(text)))
        .to.be.instanceOf(VerificationError)
        .with.property("code", code);
    }
  });
});
