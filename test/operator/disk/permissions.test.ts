import { expect } from "chai";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ArgumentError } from "keyroot/internal/errors";
import { makeFolder } from "../../../packages/operator/src/disk/folder.ts";
import { checkPrivateFolder, isOpenToOthers, readSecretFile } from "../../../packages/operator/src/disk/permissions.ts";
import { makeSigningKey, readSigningKeys } from "../../../packages/service/src/tokens/signingKeys.ts";
import { stackFilePath, writeStackFile } from "../../../packages/operator/src/commands/stackFile.ts";
import { failure, modeOf, temporaryFolder } from "../../support/support.ts";

const ROOT = 0;
const ME = 1000;
const OTHER = 1001;

describe("the permissions of secret files", () => {
  const folder = temporaryFolder();
  before(function () {
    // Windows has no POSIX modes.
    if (process.platform === "win32") this.skip();
  });

  it("allow access by the owner, and reading by the group if root owns the file", () => {
    const open = (mode: number, owner: number, uid: number) =>
      isOpenToOthers({ mode: 0o100000 | mode, uid: owner }, uid);
    for (const mode of [0o600, 0o400, 0o700]) {
      for (const owner of [ROOT, ME, OTHER]) expect(open(mode, owner, ME), mode.toString(8)).to.equal(false);
    }
    // Kubernetes with fsGroup sets such modes. Another example is a file of root:keyroot.
    for (const mode of [0o440, 0o640]) {
      expect(open(mode, ROOT, ME)).to.equal(false);
      for (const [owner, uid] of [
        [ME, ME],
        [OTHER, ME],
        [ROOT, ROOT],
      ] as const) {
        expect(open(mode, owner, uid), `${mode.toString(8)} of ${owner} for ${uid}`).to.equal(true);
      }
    }
    for (const mode of [0o604, 0o644, 0o444, 0o660, 0o620, 0o602]) {
      for (const owner of [ROOT, ME, OTHER]) expect(open(mode, owner, ME), mode.toString(8)).to.equal(true);
    }
  });

  it("are checked when a secret file is read", async () => {
    const path = join(folder.path, "secret");
    await writeFile(path, "text", { mode: 0o600 });
    expect(await readSecretFile(path, 4)).to.equal("text");
    expect(await failure(readSecretFile(path, 3))).to.include({ code: "FILE_UNREADABLE" });
    for (const mode of [0o640, 0o604, 0o620, 0o602]) {
      await chmod(path, mode);
      const error = (await failure(readSecretFile(path, 4))) as Error;
      expect(error).to.be.instanceOf(ArgumentError).with.property("code", "FILE_PERMISSIONS");
      expect(error.message).to.include(`chmod 600 ${path}`).and.not.include("text");
    }
  });

  it("are checked for the signing keys of access tokens", async () => {
    const path = join(folder.path, "keys.json");
    await writeFile(path, JSON.stringify({ keys: [await makeSigningKey()] }), { mode: 0o600 });
    expect((await readSigningKeys(path)).jwks.keys).to.have.lengthOf(1);
    for (const mode of [0o640, 0o604, 0o620, 0o602]) {
      await chmod(path, mode);
      expect(await failure(readSigningKeys(path))).to.include({ code: "FILE_PERMISSIONS" });
    }
  });

  it("are checked for private folders", async () => {
    const dir = join(folder.path, "dir");
    await checkPrivateFolder(dir);
    await mkdir(dir);
    for (const mode of [0o770, 0o702, 0o777]) {
      await chmod(dir, mode);
      expect(await failure(checkPrivateFolder(dir))).to.include({ code: "FILE_PERMISSIONS" });
    }
    await chmod(dir, 0o755);
    await checkPrivateFolder(dir);
  });

  it("are 0700 for the folders that commands and stacks create", async () => {
    const umask = process.umask(0);
    try {
      const inner = join(folder.path, "outer", "inner");
      await makeFolder(inner);
      expect([await modeOf(join(folder.path, "outer")), await modeOf(inner)]).to.deep.equal(["700", "700"]);
      const url = "http://127.0.0.1:1";
      const place = {
        rpcUrl: url,
        merkleUrl: url,
        filesDir: folder.path,
        contract: `0x${"1".repeat(40)}`,
        chainId: 1,
      };
      await writeStackFile(folder.path, { ...place, pid: process.pid });
      expect(await modeOf(join(folder.path, ".keyroot"))).to.equal("700");
      expect(await modeOf(stackFilePath(folder.path))).to.equal("600");
    } finally {
      process.umask(umask);
    }
  });
});
