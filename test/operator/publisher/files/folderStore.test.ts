import { expect } from "chai";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { TransportError, VerificationError } from "keyroot/internal/errors";
import { makeMerkleFile, type MerkleFile } from "keyroot/internal/merkle";
import { FolderStore } from "../../../../packages/operator/src/publisher/files/folderStore.ts";
import { startProgram } from "../../../support/processes/childProcess.ts";
import { itStoresFiles } from "../../../support/publisher/storeBehavior.ts";
import { sampleRecords, storedAs, textOf } from "../../../support/samples.ts";
import { failure, temporaryFolder } from "../../../support/support.ts";

const run = promisify(execFile);

const small = makeMerkleFile(sampleRecords(5));
/** A file of about 8 MB, so that writing takes some time. */
const large = makeMerkleFile(sampleRecords(10_000));
const nameOf = ({ tree }: MerkleFile) => `${tree.root}.json`;

describe("FolderStore", () => {
  const folder = temporaryFolder();
  let store: FolderStore;
  beforeEach(() => {
    store = new FolderStore(folder.path);
  });

  itStoresFiles(large, () => ({
    store,
    whereOf: (file) => join(folder.path, nameOf(file)),
    place: (file, text) => writeFile(join(folder.path, nameOf(file)), text),
    read: (file) => readFile(join(folder.path, nameOf(file)), "utf8"),
    names: () => readdir(folder.path),
  }));

  describe("put", () => {
    it("creates the folder and its parents if they are missing", async () => {
      const { where: path } = await new FolderStore(join(folder.path, "a", "b")).put(small);
      expect(path).to.equal(join(folder.path, "a", "b", nameOf(small)));
      expect(await readFile(path, "utf8")).to.equal(textOf(small));
    });

    it("does not rewrite a file that has the same bytes", async () => {
      const { where: path } = await store.put(small);
      const before = await stat(path, { bigint: true });
      expect(await store.put(small)).to.deep.equal(storedAs(path, small));
      const after = await stat(path, { bigint: true });
      expect([after.ino, after.mtimeNs]).to.deep.equal([before.ino, before.mtimeNs]);
      expect(await readdir(folder.path)).to.deep.equal([nameOf(small)]);
    });

    it("never shows a partial file to readers", async () => {
      const path = join(folder.path, nameOf(large));
      const whole = textOf(large).length;
      const seen = new Set<number>();
      let polls = 0;
      let done = false;
      const watch = async () => {
        for (; !done; polls++)
          seen.add(
            await stat(path).then(
              ({ size }) => size,
              () => 0,
            ),
          );
      };
      const watching = watch();
      await store.put(large);
      done = true;
      await watching;
      expect(polls).to.be.greaterThan(10);
      for (const size of seen) expect(size).to.be.oneOf([0, whole]);
    });

    it("fails if another file or folder has a required name", async () => {
      const file = join(folder.path, "file");
      await writeFile(file, "");
      await mkdir(join(folder.path, nameOf(small)));
      for (const dir of [file, join(file, "below"), folder.path]) {
        const error = await failure(new FolderStore(dir).put(small));
        expect(error).to.be.an.instanceof(TransportError).with.property("code", "FILE_UNWRITABLE");
      }
      expect(await readdir(folder.path)).to.have.members(["file", nameOf(small)]);
    });

    it("leaves no partial file on a full disk", async function () {
      const fitting = makeMerkleFile(sampleRecords(20));
      const size = ["-o", `size=${textOf(fitting).length * 2}`];
      try {
        await run("mount", ["-t", "tmpfs", ...size, "keyroot-test", folder.path]);
      } catch {
        // Skipped, because mounting a small disk needs root and is forbidden in some containers.
        this.skip();
      }
      try {
        const error = await failure(store.put(large));
        expect(error).to.be.an.instanceof(TransportError).with.property("code", "FILE_UNWRITABLE");
        expect(error).to.have.property("message").that.includes("ENOSPC");
        expect(await readdir(folder.path)).to.be.empty;
        expect(await readFile((await store.put(fitting)).where, "utf8")).to.equal(textOf(fitting));
      } finally {
        await run("umount", [folder.path]);
      }
    });

    it("leaves no partial file if the process exits while writing", async () => {
      expect(await putUntil(folder.path, "process.exit(7)")).to.deep.equal([7, null]);
      expect(await readdir(folder.path)).to.be.empty;
    });
  });

  describe("put, after other processes were killed", () => {
    const age = async (name: string, minutes: number) => {
      const then = Date.now() / 1000 - minutes * 60;
      await utimes(join(folder.path, name), then, then);
    };
    const draftOf = (file: MerkleFile) => `.${nameOf(file)}.${randomUUID()}`;

    it("removes drafts that are older than an hour", async () => {
      expect(await putUntil(folder.path, 'process.kill(process.pid, "SIGKILL")')).to.deep.equal([null, "SIGKILL"]);
      const [left = "", ...others] = await readdir(folder.path);
      expect(left).to.match(/^\.[0-9a-f]{64}\.json\.[0-9a-f-]{36}$/);
      expect(others).to.be.empty;

      // A recent draft may belong to a running process.
      await age(left, 59);
      await new FolderStore(folder.path).put(small);
      expect(await readdir(folder.path)).to.have.members([left, nameOf(small)]);
      await age(left, 61);
      await new FolderStore(folder.path).put(small);
      expect(await readdir(folder.path)).to.deep.equal([nameOf(small)]);
    });

    it("keeps old drafts of other files", async () => {
      const names = [
        nameOf(large),
        `.${nameOf(large)}`,
        `.${nameOf(large)}.bak`,
        `${draftOf(large)}.gz`,
        draftOf(large).slice(1),
        `.keys.json.${randomUUID()}`,
        `.${nameOf(large).toUpperCase()}.${randomUUID()}`,
      ];
      const dir = draftOf(large);
      await mkdir(join(folder.path, dir));
      const link = draftOf(large);
      await symlink(join(folder.path, nameOf(large)), join(folder.path, link));
      for (const name of names) await writeFile(join(folder.path, name), "{}");
      for (const name of [...names, dir]) await age(name, 10_000);
      await store.put(small);
      expect(await readdir(folder.path)).to.have.members([...names, dir, link, nameOf(small)]);
    });
  });

  describe("get", () => {
    it("reports a missing folder like a missing file", async () => {
      const error = await failure(new FolderStore(join(folder.path, "none")).get(small.tree.root));
      expect(error).to.be.an.instanceof(VerificationError).with.property("code", "FILE_NOT_FOUND");
    });

    it("distinguishes a missing file from an unreadable one", async () => {
      await mkdir(join(folder.path, nameOf(small)));
      await writeFile(join(folder.path, "file"), "");
      for (const dir of [folder.path, join(folder.path, "file")]) {
        const error = await failure(new FolderStore(dir).get(small.tree.root));
        expect(error).to.be.an.instanceof(TransportError).with.property("code", "FILE_UNREADABLE");
      }
    });
  });
});

/** Stores a file in another process, which runs `end` when a draft exists. @returns its exit code and signal */
async function putUntil(dir: string, end: string): Promise<unknown[]> {
  const module = (name: string) => JSON.stringify(new URL(`../../../../packages/${name}`, import.meta.url).href);
  const program = `
    import { readdirSync } from "node:fs";
    import { makeMerkleFile } from ${module("keyroot/src/merkle/file.ts")};
    import { FolderStore } from ${module("operator/src/publisher/files/folderStore.ts")};
    const [dir, records] = [process.argv[1], JSON.parse(process.argv[2])];
    new FolderStore(dir).put(makeMerkleFile(records));
    const poll = () => (readdirSync(dir).length > 0 ? ${end} : setImmediate(poll));
    poll();
  `;
  return once(startProgram(program, dir, JSON.stringify(sampleRecords(400))), "exit");
}
