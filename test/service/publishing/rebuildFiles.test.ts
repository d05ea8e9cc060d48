import { expect } from "chai";
import { eq } from "drizzle-orm";
import { readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { KeyRecord } from "../../../packages/keyroot/src/identity/serializedRecord.ts";
import { type Region, REGIONS } from "../../../packages/keyroot/src/identity/region.ts";
import { makeMerkleFile } from "../../../packages/keyroot/src/merkle/file.ts";
import { FolderStore } from "../../../packages/operator/src/publisher/files/folderStore.ts";
import { SERVICE } from "../../../packages/service/src/api/base/author.ts";
import { type Databases, openDatabases } from "../../../packages/service/src/api/database/database.ts";
import { publicKeys } from "../../../packages/service/src/keys/tables.ts";
import { PublicationStore } from "../../../packages/service/src/publishing/publications.ts";
import { rebuildFiles } from "../../../packages/service/src/publisher/rebuildFiles.ts";
import { eraseUser } from "../../../packages/service/src/keys/eraseUser.ts";
import { program } from "../../support/processes/commandLine.ts";
import { sampleRecords, textOf } from "../../support/samples.ts";
import { markPublished } from "../../support/service/markPublished.ts";
import { registerKeys } from "../../support/service/registerKeys.ts";
import { freshDatabaseUrl, serviceVariables } from "../../support/service/support.ts";
import { never, temporaryFolder } from "../../support/support.ts";
import { testAll } from "../../support/testSize.ts";

const NONE = { missing: [], damaged: [], lost: [] };
const REGION = "us-west-2";

for (const [name, findUrl] of [
  ["PostgreSQL", freshDatabaseUrl],
  ...(testAll ? [["PGlite", () => Promise.resolve(undefined)] as const] : []),
] as const)
  describe(`the files of published keys, on ${name}`, () => {
    const folder = temporaryFolder();
    let url: string | undefined;
    let databases: Databases;
    beforeEach(async () => {
      url = await findUrl();
      databases = await openDatabases({ url });
      await databases.migrate();
    });
    afterEach(() => databases[Symbol.asyncDispose]());

    const pathOf = (root: string, region: Region = REGION) => join(folder.path, region, `${root}.json`);
    const storeOf = (region: Region) => new FolderStore(join(folder.path, region));
    const rebuild = () =>
      rebuildFiles(databases, { "us-west-2": storeOf("us-west-2"), "eu-west-1": storeOf("eu-west-1") });

    /** Registers keys in a region, and records them as published in one file. */
    const publish = async (records: readonly KeyRecord[], region: Region = REGION) => {
      await registerKeys(databases, records, () => ({ bizID: "biz_test", region }));
      const file = makeMerkleFile(records);
      const { root } = file.tree;
      await markPublished(databases, { region, root, userIDs: records.map(({ userID }) => userID) });
      await storeOf(region).put(file);
      return { root, text: textOf(file) };
    };

    /** Removes a published key from its file, as far as the database shows. */
    const removeKey = ({ userID }: KeyRecord = never()) =>
      databases.home.update(publicKeys).set({ root: null }).where(eq(publicKeys.userID, userID));

    it("are rebuilt byte for byte only if they are missing or wrong", async () => {
      const files = [];
      for (let seed = 1; seed <= 5; seed++) files.push(await publish(sampleRecords(5, seed)));
      const [lost = never(), truncated = never(), swapped = never(), changed = never(), valid = never()] = files;
      const before = await stat(pathOf(valid.root), { bigint: true });
      expect(await rebuild()).to.deep.equal({ files: 5, ...NONE });

      await rm(pathOf(lost.root));
      await truncate(pathOf(truncated.root), 1_000);
      await writeFile(pathOf(swapped.root), valid.text);
      await writeFile(pathOf(changed.root), changed.text.replace('"level":1', '"level":2'));
      const rebuilt = await rebuild();
      expect(rebuilt)
        .to.include({ files: 5 })
        .and.deep.include({ missing: [lost.root], lost: [] });
      expect(rebuilt.damaged).to.have.members([truncated.root, swapped.root, changed.root]);
      for (const { root, text } of files) expect(await readFile(pathOf(root), "utf8")).to.equal(text);
      const after = await stat(pathOf(valid.root), { bigint: true });
      expect([after.ino, after.mtimeNs]).to.deep.equal([before.ino, before.mtimeNs]);
      expect(await readdir(join(folder.path, REGION))).to.have.length(5);
      expect(await rebuild()).to.deep.equal({ files: 5, ...NONE });
    });

    it("are rebuilt in each region's store", async () => {
      const records = sampleRecords(4);
      const [first = never()] = records;
      const files = [];
      for (const [i, region] of REGIONS.entries())
        files.push({ region, ...(await publish(records.slice(2 * i, 2 * i + 2), region)) });
      expect(await eraseUser(databases, "biz_test", first.userID, 2, SERVICE)).to.include({ keyRemains: true });
      for (const { root, region } of files) await rm(pathOf(root, region));
      const missing = files.map(({ root }) => root);
      expect(await rebuild()).to.deep.equal({ ...NONE, files: 2, missing });
      for (const { root, region, text } of files) expect(await readFile(pathOf(root, region), "utf8")).to.equal(text);
    });

    it("are read in pages", async () => {
      const roots = [];
      for (const record of sampleRecords(101)) roots.push((await publish([record])).root);
      for (const root of roots) await rm(pathOf(root));
      expect((await rebuild()).missing).to.have.members(roots);
    }).timeout(60_000);

    it("are reported as lost if the database's keys have another root", async () => {
      const records = sampleRecords(3);
      const { root } = await publish(records);
      await removeKey(records[0]);
      expect(await rebuild()).to.deep.equal({ ...NONE, files: 1 });
      await writeFile(pathOf(root), "{}");
      expect(await rebuild()).to.deep.equal({ ...NONE, files: 1, lost: [root] });
      expect(await readFile(pathOf(root), "utf8")).to.equal("{}");
    });

    it("are not rebuilt for keys that are not on the chain", async () => {
      const [record = never()] = sampleRecords(1);
      const { root } = await publish([record]);
      await new PublicationStore(databases).markLost(REGION, root, [record.userID], 2);
      await rm(pathOf(root));
      expect(await rebuild()).to.deep.equal({ ...NONE, files: 0 });
    });

    it("are rebuilt by the rebuild-files command", async function () {
      if (url === undefined) this.skip(); // PGlite's data is in this process.
      const env = {
        ...{ ...(await serviceVariables(folder.path)), DATABASE_URL: url },
        ...{ KEYROOT_RPC_URL: "http://127.0.0.1:1", KEYROOT_CONTRACT: `0x${"11".repeat(20)}` },
        ...{ KEYROOT_CHAIN_ID: "31337", KEYROOT_FILES: join(folder.path, REGION) },
      };
      const [one, two] = [await publish(sampleRecords(3)), await publish(sampleRecords(5).slice(3))];
      await rm(pathOf(one.root));
      await truncate(pathOf(two.root), 10);
      const ofAccounts = { accountFiles: 0, rebuilt: [], newer: [] };
      const rebuilt = { ...NONE, files: 2, missing: [one.root], damaged: [two.root], ...ofAccounts };
      expect(await program.json(["rebuild-files"], { env })).to.deep.include({ code: 0, json: rebuilt });

      await rm(pathOf(one.root));
      await removeKey(sampleRecords(1)[0]);
      const { code, stdout } = await program.run(["rebuild-files"], { env });
      expect(code).to.equal(1);
      expect(stdout).to.include(`${one.root}  is missing or damaged, and cannot be rebuilt`);
      expect(stdout).to.include("Checked 2 files: 0 rebuilt, 1 lost.");
    });
  });
