import { expect } from "chai";
import { readdir, readFile, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { hashLeaf, makeMerkleFile, parseMerkleFile } from "keyroot/merkle";
import { chunkNumber } from "../../../../packages/keyroot/src/merkle/chunkNumber.ts";
import { findInLeafChunk } from "../../../../packages/keyroot/src/merkle/findInLeafChunk.ts";
import { findStrayFiles } from "../../../../packages/operator/src/audit/fileSource.ts";
import { FolderStore } from "../../../../packages/operator/src/publisher/files/folderStore.ts";
import { BucketStore } from "../../../../packages/operator/src/publisher/files/bucketStore.ts";
import { sampleRecords, textOf } from "../../../support/samples.ts";
import { bucketEnvironment, CREDENTIALS, startBucketServer } from "../../../support/servers/bucketServer.ts";
import { closedAfterEach, never, temporaryFolder } from "../../../support/support.ts";

const file = makeMerkleFile(sampleRecords(100));
const { root } = file.tree;
/** The names of the leaf chunks, with 25 users each on average. */
const CHUNKS = ["0.bin", "1.bin", "2.bin", "3.bin"];
const BOTH = { proofs: true, brotli: true };

/** Checks that the chunks contain every leaf of the file. */
const verifyChunks = async (read: (name: string) => Promise<Uint8Array>) => {
  for (const [index, { userID }] of file.records.entries()) {
    const bytes = await read(`${root}/${chunkNumber(userID, 100)}.bin`);
    const leaf = hashLeaf(file.values[index] ?? never());
    expect(findInLeafChunk(new Uint8Array(bytes), leaf, { root, leafCount: 100 })).to.equal(index);
  }
};

describe("proofs and compressed copies of a file", () => {
  describe("in a folder", () => {
    const folder = temporaryFolder();
    const pathOf = (name: string) => join(folder.path, name);

    it("prove every record and contain the whole file", async () => {
      await new FolderStore(folder.path, BOTH).put(file);
      expect((await readdir(folder.path)).sort()).to.deep.equal([root, `${root}.json`, `${root}.json.br`].sort());
      expect((await readdir(pathOf(root))).sort()).to.deep.equal(CHUNKS);
      await verifyChunks((name) => readFile(pathOf(name)));
      const copy = await readFile(pathOf(`${root}.json.br`));
      expect(brotliDecompressSync(copy).toString()).to.equal(textOf(file));
      expect(copy.length).to.be.below(textOf(file).length / 2);
    });

    it("are stored only if requested", async () => {
      await new FolderStore(folder.path).put(file);
      expect(await readdir(folder.path)).to.deep.equal([`${root}.json`]);
      await new FolderStore(folder.path, { brotli: true }).put(file);
      expect(await readdir(folder.path)).to.have.members([`${root}.json`, `${root}.json.br`]);
    });

    it("are added to a file that is already stored", async () => {
      await new FolderStore(folder.path).put(file);
      const store = new FolderStore(folder.path, BOTH);
      await store.put(file);
      const [whole, cut] = [pathOf(`${root}/0.bin`), pathOf(`${root}/1.bin`)];
      const before = await stat(whole, { bigint: true });
      await truncate(cut, 8);
      await store.put(file);
      expect((await stat(whole, { bigint: true })).ino).to.equal(before.ino);
      await verifyChunks((name) => readFile(pathOf(name)));
    });

    it("leave the file readable, and are not stray files", async () => {
      const store = new FolderStore(folder.path, BOTH);
      await store.put(file);
      expect(parseMerkleFile(await store.get(root), root).records).to.have.lengthOf(100);
      expect(await findStrayFiles(folder.path, new Set([root]))).to.deep.equal([]);
      expect(await findStrayFiles(folder.path, new Set())).to.deep.equal([root, `${root}.json`, `${root}.json.br`]);
    });
  });

  describe("in a bucket", () => {
    const closing = closedAfterEach();
    const setEnvironment = bucketEnvironment();

    it("have the HTTP headers that clients need", async () => {
      const server = closing(await startBucketServer());
      setEnvironment({ ...CREDENTIALS, AWS_REGION: "us-east-1", AWS_ENDPOINT_URL_S3: server.url });
      const store = await BucketStore.open(`s3://${server.bucket}/keys`, {}, BOTH);
      await store.put(file);
      const get = (name: string) => fetch(`${server.url}/${server.bucket}/keys/${name}`);
      await verifyChunks(async (name) => new Uint8Array(await (await get(name)).arrayBuffer()));
      const chunk = await get(`${root}/0.bin`);
      expect(chunk.headers.get("content-type")).to.equal("application/octet-stream");
      expect(chunk.headers.get("cache-control")).to.equal("public, max-age=31536000, immutable");
      const put = server.requests.find(({ line }) => line.startsWith("PUT") && line.includes(".br"));
      expect(put?.headers).to.include({ "content-type": "application/json" });
      expect(put?.headers["content-encoding"]).to.match(/\bbr$/);
      // `fetch` decompresses the file, as in clients.
      expect(await (await get(`${root}.json.br`)).text()).to.equal(textOf(file));
    });
  });
});
