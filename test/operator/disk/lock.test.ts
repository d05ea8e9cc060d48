import { expect } from "chai";
import { chmod, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lockFolder } from "../../../packages/operator/src/disk/lock.ts";
import { type Child, startChild } from "../../support/processes/childProcess.ts";
import { failure, temporaryFolder } from "../../support/support.ts";
import type { LockOrder } from "../../support/processes/lockProcess.ts";

/** The time in ms from the request until both processes try to lock. */
const AHEAD = 4;

describe("lockFolder", () => {
  const folder = temporaryFolder();
  const start = () =>
    startChild<LockOrder, boolean>(new URL("../../support/processes/lockProcess.ts", import.meta.url));
  const lockAtOnce = (children: readonly Child<LockOrder, boolean>[]) => {
    const order = { dir: folder.path, at: Date.now() + AHEAD };
    return Promise.all(children.map((child) => child.send(order)));
  };

  it("locks a folder only once until the lock is released", async () => {
    const dir = join(folder.path, "a", "b");
    {
      using lock = await lockFolder(dir);
      expect(lock).not.to.equal(undefined);
      expect(await lockFolder(dir)).to.equal(undefined);
    }
    using lock = await lockFolder(dir);
    expect(lock).not.to.equal(undefined);
  });

  it("creates only an empty file in the folder", async () => {
    using lock = await lockFolder(folder.path);
    expect(lock).not.to.equal(undefined);
    expect(await readdir(folder.path)).to.deep.equal(["lock"]);
    expect((await stat(join(folder.path, "lock"))).size).to.equal(0);
  });

  it("fails if it cannot create the folder or lock the file", async () => {
    const path = join(folder.path, "lock");
    await writeFile(path, "another program's file");
    for (const dir of [path, folder.path]) {
      expect(await failure(lockFolder(dir))).to.include({ name: "TransportError", code: "FILE_UNWRITABLE" });
    }
  });

  it("fails for a read-only lock file", async () => {
    await writeFile(join(folder.path, "lock"), "", { mode: 0o444 });
    await chmod(folder.path, 0o755);
    // Permissions do not restrict root.
    const isRoot = process.getuid?.() === 0;
    if (isRoot) process.seteuid?.(65534);
    try {
      expect(await failure(lockFolder(folder.path))).to.have.property("code", "FILE_UNWRITABLE");
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  });

  describe("in several processes", () => {
    it("releases the lock at once after kill -9", async () => {
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

    it("gives the lock to one of two simultaneous processes", async () => {
      await using first = start();
      await using second = start();
      for (let i = 0; i < 300; i++) {
        for (const child of [first, second]) await child.send({});
        expect((await lockAtOnce([first, second])).toSorted()).to.deep.equal([false, true]);
      }
    });

    it("gives the lock to only one process after its holder was killed", async () => {
      await using first = start();
      await using second = start();
      for (let i = 0; i < 5; i++) {
        for (const child of [first, second]) await child.send({});
        await using holder = start();
        expect(await holder.send({ dir: folder.path })).to.equal(true);
        await holder.kill();
        expect((await lockAtOnce([first, second])).toSorted()).to.deep.equal([false, true]);
      }
    });
  });
});
