import { expect } from "chai";
import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileStore } from "../../../packages/keyroot/src/store/fileStore.ts";
import { failure, temporaryFolder } from "../../support/support.ts";

describe("fileStore", () => {
  const folder = temporaryFolder();

  it("returns the last text that any process stored", async () => {
    const store = fileStore(folder.path);
    expect(await store.get("a")).to.equal(undefined);
    await store.set("a", "1");
    await store.set("a", "Ω");
    await store.set("../b/\0", "3");
    const other = fileStore(folder.path);
    expect([await other.get("a"), await other.get("../b/\0"), await other.get("A")]).to.deep.equal([
      "Ω",
      "3",
      undefined,
    ]);
  });

  it("creates a folder that only its owner can read", async () => {
    const path = join(folder.path, "app", "keyroot");
    const store = fileStore(path);
    await Promise.all(["1", "2", "3"].map((text) => store.set("a", text)));
    const names = await readdir(path);
    expect(names).to.have.lengthOf(1);
    expect((await stat(path)).mode & 0o777).to.equal(0o700);
    expect((await stat(join(path, names[0] ?? ""))).mode & 0o777).to.equal(0o600);
  });

  it("throws STORE_UNAVAILABLE if the folder is a file", async () => {
    const path = join(folder.path, "file");
    await writeFile(path, "");
    const store = fileStore(path);
    for (const access of [() => store.get("a"), () => store.set("a", "1")]) {
      expect(await failure(Promise.resolve(access()))).to.have.property("code", "STORE_UNAVAILABLE");
    }
  });
});
