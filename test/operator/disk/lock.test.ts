import { expect } from "chai";
import { chmod, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lockFolder } from "../../../packages/operator/src/disk/lock.ts";
import { TransportError } from "../../../packages/keyroot/src/errors.ts";
import { type Child, startChild } from "../../../fixtures/childProcess.ts";
import { failure, temporaryFolder } from "../../support/support.ts";
import type { LockOrder } from "../../support/lockProcess.ts";

/** How long before both ask they are told when, in ms. */
const AHEAD = 4;

describe("lockFolder", function () {
  this.timeout(30_000);
  const folder = temporaryFolder();
  const start = () => startChild<LockOrder, boolean>(new URL("../../support/lockProcess.ts", import.meta.url));
  const askAtOnce = (children: readonly Child<LockOrder, boolean>[]) => {
    const order = { dir: folder.path, at: Date.now() + AHEAD };
    return Promise.all(children.map((child) => child.send(order)));
  };

  it("gives a folder to one alone, also within a process, until that one gives it back", async () => {
    const dir = join(folder.path, "a", "b");
    {
      using lock = await lockFolder(dir);
      expect(lock).not.to.equal(undefined);
      expect(await lockFolder(dir)).to.equal(undefined);
    }
    using lock = await lockFolder(dir);
    expect(lock).not.to.equal(undefined);
  });

  it("leaves nothing in the folder but an empty file", async () => {
    using lock = await lockFolder(folder.path);
    expect(lock).not.to.equal(undefined);
    expect(await readdir(folder.path)).to.deep.equal(["lock"]);
    expect((await stat(join(folder.path, "lock"))).size).to.equal(0);
  });

  it("says when there can be no such folder, or no lock in it", async () => {
    const path = join(folder.path, "lock");
    await writeFile(path, "a file of somebody else's");
    for (const dir of [path, folder.path]) {
      const error = await failure(lockFolder(dir));
      expect(error).to.be.instanceof(TransportError).with.property("code", "FILE_UNWRITABLE");
    }
  });

  it("says when the lock may only be read, which would keep nobody out", async () => {
    await writeFile(join(folder.path, "lock"), "", { mode: 0o444 });
    await chmod(folder.path, 0o755);
    // Permissions do not bind root.
    const isRoot = process.getuid?.() === 0;
    if (isRoot) process.seteuid?.(65534);
    try {
      expect(await failure(lockFolder(folder.path))).to.have.property("code", "FILE_UNWRITABLE");
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  });

  describe("of processes", () => {
    it("gives the folder of one that is killed by kill -9 to the next one at once", async () => {
      await using next = start();
      for (let i = 0; i < 5; i++) {
        await using holder = start();
        expect(await holder.send({ dir: folder.path })).to.equal(true);
        expect(await next.send({ dir: folder.path })).to.equal(false);
        await holder.kill();
        expect(await next.send({ dir: folder.path })).to.equal(true);
        await next.send({});
      }
    });

    it("gives it to exactly one of two that ask at the same moment, however often", async () => {
      await using first = start();
      await using second = start();
      for (let i = 0; i < 300; i++) {
        for (const child of [first, second]) await child.send({});
        expect((await askAtOnce([first, second])).toSorted()).to.deep.equal([false, true]);
      }
    });

    it("gives it to exactly one of two that ask at the same moment when its holder was killed", async () => {
      await using first = start();
      await using second = start();
      for (let i = 0; i < 5; i++) {
        for (const child of [first, second]) await child.send({});
        await using holder = start();
        expect(await holder.send({ dir: folder.path })).to.equal(true);
        await holder.kill();
        expect((await askAtOnce([first, second])).toSorted()).to.deep.equal([false, true]);
      }
    });
  });
});
