import { expect } from "chai";
import { readdir, readFile, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { makeMerkleFile, parseMerkleFile } from "keyroot/internal/merkle";
import { findStrayFiles } from "../../../../packages/operator/src/follow/index.ts";
import { FolderStore } from "../../../../packages/operator/src/publisher/files/folderStore.ts";
import { BucketStore } from "../../../../packages/operator/src/publisher/files/bucketStore.ts";
import { sampleRecords, textOf } from "../../../support/samples.ts";
import { bucketEnvironment, CREDENTIALS, startBucketServer } from "../../../support/servers/bucketServer.ts";
import { closedAfterEach, temporaryFolder } from "../../../support/support.ts";

const file = makeMerkleFile(sampleRecords(100));
const { root } = file.tree;
const BROTLI = { brotli: true };

describe("compressed copies of a file", () => {
  describe("in a folder", () => {
    const folder = temporaryFolder();
    const pathOf = (name: string) => join(folder.path, name);

    it("contain the whole file", async () => {
      await new FolderStore(folder.path, BROTLI).put(file);
      expect(await readdir(folder.path)).to.have.members([`${root}.json`, `${root}.json.br`]);
      const copy = await readFile(pathOf(`${root}.json.br`));
      expect(brotliDecompressSync(copy).toString()).to.equal(textOf(file));
      expect(copy.length).to.be.below(textOf(file).length / 2);
    });

    it("are stored only if requested", async () => {
      await new FolderStore(folder.path).put(file);
      expect(await readdir(folder.path)).to.deep.equal([`${root}.json`]);
    });

    it("are added to a file that is already stored", async () => {
      await new FolderStore(folder.path).put(file);
      const store = new FolderStore(folder.path, BROTLI);
      await store.put(file);
      const copy = pathOf(`${root}.json.br`);
      const before = await stat(copy, { bigint: true });
      await store.put(file);
      expect((await stat(copy, { bigint: true })).ino).to.equal(before.ino);
      await truncate(copy, 8);
      await store.put(file);
      expect(brotliDecompressSync(await readFile(copy)).toString()).to.equal(textOf(file));
    });

    it("leave the file readable, and are not stray files", async () => {
      const store = new FolderStore(folder.path, BROTLI);
      await store.put(file);
      expect(parseMerkleFile(await store.get(root), root).records).to.have.lengthOf(100);
      expect(await findStrayFiles(folder.path, new Set([root]))).to.deep.equal([]);
      expect(await findStrayFiles(folder.path, new Set())).to.deep.equal([`${root}.json`, `${root}.json.br`]);
    });
  });

  describe("in a bucket", () => {
    const closing = closedAfterEach();
    const setEnvironment = bucketEnvironment();

    it("have the HTTP headers that clients need", async () => {
      const server = closing(await startBucketServer());
      setEnvironment({ ...CREDENTIALS, AWS_REGION: "us-east-1", AWS_ENDPOINT_URL_S3: server.url });
      const store = await BucketStore.open(`s3://${server.bucket}/keys`, {}, BROTLI);
      await store.put(file);
      const get = (name: string) => fetch(`${server.url}/${server.bucket}/keys/${name}`);
      const copy = await get(`${root}.json.br`);
      expect(copy.headers.get("cache-control")).to.equal("public, max-age=31536000, immutable");
      const put = server.requests.find(({ line }) => line.startsWith("PUT") && line.includes(".br"));
      expect(put?.headers).to.include({ "content-type": "application/json" });
      expect(put?.headers["content-encoding"]).to.match(/\bbr$/);
      // `fetch` decompresses the file, as in clients.
      expect(await copy.text()).to.equal(textOf(file));
    });
  });
});
