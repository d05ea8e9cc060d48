import { expect } from "chai";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeWhole } from "../../../packages/operator/src/disk/writeWhole.ts";
import { TransportError } from "../../../packages/keyroot/src/errors.ts";
import { failure, temporaryFolder } from "../../support/support.ts";

describe("writeWhole", () => {
  const folder = temporaryFolder();

  it("writes in the place of what stands there, makes the folder, and leaves nothing beside it", async () => {
    const path = join(folder.path, "a", "file.json");
    for (const text of ["one", "two"]) {
      await writeWhole(path, text);
      expect(await readFile(path, "utf8")).to.equal(text);
    }
    expect(await readdir(join(folder.path, "a"))).to.deep.equal(["file.json"]);
    const listeners = process.listenerCount("exit");
    await writeWhole(path, "three");
    expect(process.listenerCount("exit")).to.equal(listeners);
  });

  it("removes its own draft that was left behind, once nobody has written to it for an hour", async () => {
    const draftOf = (name: string) => `.${name}.${randomUUID()}`;
    const [old, young, others] = [draftOf("keys.json"), draftOf("keys.json"), draftOf("other.json")];
    for (const name of [old, young, others]) await writeFile(join(folder.path, name), "half");
    const longAgo = new Date(Date.now() - 3_601_000);
    for (const name of [old, others]) await utimes(join(folder.path, name), longAgo, longAgo);
    await writeWhole(join(folder.path, "keys.json"), "whole");
    expect(await readdir(folder.path)).to.have.members(["keys.json", young, others]);
  });

  it("says when it cannot write, and leaves nothing behind", async () => {
    const path = join(folder.path, "taken");
    await mkdir(path);
    const error = await failure(writeWhole(path, "text"));
    expect(error).to.be.an.instanceof(TransportError).with.property("code", "FILE_UNWRITABLE");
    expect(await readdir(folder.path)).to.deep.equal(["taken"]);
  });

  it("leaves nothing half-written when the process exits in the middle", async () => {
    const program = `
      import { readdirSync } from "node:fs";
      import { writeWhole } from ${JSON.stringify(new URL("../../../packages/operator/src/disk/writeWhole.ts", import.meta.url).href)};
      const [dir] = process.argv.slice(1);
      writeWhole(dir + "/file.json", "x".repeat(2 ** 26));
      const look = () => (readdirSync(dir).length > 0 ? process.exit(7) : setImmediate(look));
      look();
    `;
    const args = ["--input-type=module", "--eval", program, folder.path];
    const child = spawn(process.execPath, args, { stdio: "inherit" });
    expect(await once(child, "exit")).to.deep.equal([7, null]);
    expect(await readdir(folder.path)).to.be.empty;
  });
});
