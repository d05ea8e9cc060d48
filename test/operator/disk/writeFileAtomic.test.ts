import { expect } from "chai";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { TransportError } from "keyroot/internal/errors";
import { writeFileAtomic } from "../../../packages/operator/src/disk/writeFileAtomic.ts";
import { startProgram } from "../../support/processes/childProcess.ts";
import { failure, temporaryFolder } from "../../support/support.ts";

describe("writeFileAtomic", () => {
  const folder = temporaryFolder();

  it("writes a new file, and replaces an existing file", async () => {
    const path = join(folder.path, "a", "file.json");
    for (const text of ["one", "two"]) {
      await writeFileAtomic(path, text);
      expect(await readFile(path, "utf8")).to.equal(text);
    }
    expect(await readdir(join(folder.path, "a"))).to.deep.equal(["file.json"]);
    const listeners = process.listenerCount("exit");
    await writeFileAtomic(path, "three");
    expect(process.listenerCount("exit")).to.equal(listeners);
  });

  it("removes drafts of the same file that are older than an hour", async () => {
    const draftOf = (name: string) => `.${name}.${randomUUID()}`;
    const [old, young, others] = [draftOf("keys.json"), draftOf("keys.json"), draftOf("other.json")];
    for (const name of [old, young, others]) await writeFile(join(folder.path, name), "half");
    const longAgo = new Date(Date.now() - 3_601_000);
    for (const name of [old, others]) await utimes(join(folder.path, name), longAgo, longAgo);
    await writeFileAtomic(join(folder.path, "keys.json"), "whole");
    expect(await readdir(folder.path)).to.have.members(["keys.json", young, others]);
  });

  it("leaves no draft behind if it cannot write the file", async () => {
    const path = join(folder.path, "taken");
    await mkdir(path);
    const error = await failure(writeFileAtomic(path, "text"));
    expect(error).to.be.an.instanceof(TransportError).with.property("code", "FILE_UNWRITABLE");
    expect(await readdir(folder.path)).to.deep.equal(["taken"]);
  });

  it("leaves no draft behind if the process exits while it writes", async () => {
    const program = `
      import { readdirSync } from "node:fs";
      import { writeFileAtomic } from ${JSON.stringify(new URL("../../../packages/operator/src/disk/writeFileAtomic.ts", import.meta.url).href)};
      const [dir] = process.argv.slice(1);
      writeFileAtomic(dir + "/file.json", "x".repeat(2 ** 26));
      const poll = () => (readdirSync(dir).length > 0 ? process.exit(7) : setImmediate(poll));
      poll();
    `;
    expect(await once(startProgram(program, folder.path), "exit")).to.deep.equal([7, null]);
    expect(await readdir(folder.path)).to.be.empty;
  });
});
