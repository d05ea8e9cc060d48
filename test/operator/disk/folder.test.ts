import { expect } from "chai";
import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFolders } from "../../../packages/operator/src/disk/folder.ts";
import { failure, modeOf, temporaryFolder } from "../../support/support.ts";

describe("createFolders", () => {
  const folder = temporaryFolder();

  it("creates a folder with its missing parents", async () => {
    const path = join(folder.path, "a", "b", "c");
    expect(await createFolders(path, 0o700)).to.equal(join(folder.path, "a"));
    expect(await modeOf(path)).to.equal("700");
  });

  it("accepts a folder that exists", async () => {
    const path = join(folder.path, "existing");
    await mkdir(path);
    expect(await createFolders(path)).to.equal(undefined);
  });

  it("creates one folder for several callers at the same time", async () => {
    const path = join(folder.path, "x", "y", "z");
    await Promise.all(Array.from({ length: 8 }, () => createFolders(path)));
    expect((await stat(path)).isDirectory()).to.equal(true);
  });

  it("fails if a file has the name of a folder", async () => {
    const file = join(folder.path, "file");
    await writeFile(file, "");
    expect(await failure(createFolders(file))).to.have.property("code", "EEXIST");
    expect(await failure(createFolders(join(file, "below")))).to.have.property("code", "ENOTDIR");
  });

  it("creates no parent of a folder whose name is invalid", async () => {
    const parent = join(folder.path, "parent");
    expect(await failure(createFolders(join(parent, "\0")))).to.have.property("code", "ERR_INVALID_ARG_VALUE");
    expect(await failure(stat(parent))).to.have.property("code", "ENOENT");
  });

  it("fails if the file system allows no new folders", async function () {
    // Only Linux has /proc.
    if (process.platform !== "linux") this.skip();
    expect(await failure(createFolders("/proc/none/below"))).to.have.property("code", "ENOENT");
  });
});
