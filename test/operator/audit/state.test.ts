import { expect } from "chai";
import { readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ArgumentError } from "keyroot/internal/errors";
import { AuditState, WatchState } from "@keyroot/operator/audit";
import type { AuditTarget, OpenStateOptions } from "@keyroot/operator/audit";
import { USER_BYTES } from "../../../packages/operator/src/audit/auditFile.ts";
import { sampleUserID, sha256 } from "../../support/samples.ts";
import { failure, temporaryFolder } from "../../support/support.ts";

const target: AuditTarget = { chainId: 1, genesisHash: `0x${"1".repeat(64)}`, contract: `0x${"2".repeat(40)}` };
const blockHash = (number: number) => `0x${sha256(`block ${number}`)}`;
const cursor = { number: 9, hash: blockHash(9), timestamp: 1_700_000_009 };
const [first, second] = [sha256("first"), sha256("second")];
const events = [first, second].map((root, i) => ({
  root,
  addedCount: 2,
  blockNumber: i + 1,
  blockHash: blockHash(i + 1),
  logIndex: i,
  timestamp: 1_700_000_000 + i,
}));
const usersOf = (seed: number, count = 2) =>
  Uint8Array.from({ length: count * USER_BYTES }, (_, i) => (i * seed) % 251);
const BAD_TARGETS = [{ chainId: 2 }, { genesisHash: blockHash(0) }, { contract: `0x${"12".repeat(20)}` }];

/** The functions and test values for one kind of state. */
interface Kind {
  open: (path: string, about: AuditTarget, options?: OpenStateOptions) => Promise<Disposable>;
  /** Creates a state with all kinds of rows. */
  write: (path: string) => Promise<void>;
  /** Reads the whole content of a state. */
  contentOf: (path: string, about?: AuditTarget) => Promise<unknown>;
  /** Columns with invalid values. */
  outOfRange: readonly [table: string, column: string, value: string | number | bigint][];
}

const audit: Kind = {
  open: (path, about, options) => AuditState.open(path, about, options),
  async write(path) {
    using state = await AuditState.open(path, target);
    state.recordFile(first, sha256("bytes of first"), usersOf(3));
    state.save();
    state.recordFile(second, undefined, usersOf(5), [{ userID: sampleUserID(1), userRoot: first }]);
    state.recordHistory(cursor, events);
    state.save();
  },
  async contentOf(path, about = target) {
    using state = await AuditState.open(path, about);
    const files = state.events.map(({ root }) => state.file(root));
    return { cursor: state.cursor, events: state.events, files, others: [...state.others()] };
  },
  outOfRange: [
    ["events", "timestamp", -1],
    ["events", "timestamp", 2n ** 62n],
    ["events", "root", "x".repeat(64)],
    ["events", "block_hash", "x".repeat(66)],
    ["others", "users", '[{"userID":"x","userRoot":"x"}]'],
    ["others", "users", "[{}]"],
    ["others", "root", "x".repeat(64)],
    ["state", "cursor_number", -1],
  ],
};

const watch: Kind = {
  open: (path, about, options) => WatchState.open(path, about, options),
  async write(path) {
    using state = await WatchState.open(path, target);
    const newRoots = new Map([0, 1].map((i) => [sampleUserID(i), sha256(`root ${i}`)]));
    const files = new Map([
      [first, { isSuspect: true, readAt: undefined, triedAt: undefined, dueSince: 1_700_000_000_000 }],
      [second, { isSuspect: false, readAt: 1_700_000_000_001, triedAt: 1_700_000_000_001, dueSince: undefined }],
    ]);
    state.save({ cursor, newRoots, files });
  },
  async contentOf(path, about = target) {
    using state = await WatchState.open(path, about);
    const { cursors, roots, files } = state;
    return { cursors, roots: [...roots], files: [...files] };
  },
  outOfRange: [
    ["roots", "root", "x".repeat(64)],
    ["state", "cursors", '[{"number":1,"hash":"0x12"}]'],
    ["state", "cursors", '[{"number":1.5,"hash":"0x12"}]'],
    ["state", "cursors", "[".repeat(10_000)],
    ["files", "due_since", -1],
  ],
};

for (const [name, kind] of Object.entries({ AuditState: audit, WatchState: watch })) {
  describe(`${name} in a file`, () => {
    const folder = temporaryFolder();
    const path = () => join(folder.path, "state.sqlite");
    const refused = async (about = target) => {
      const error = await failure(kind.open(path(), about));
      expect(error).to.be.instanceOf(ArgumentError).and.include({ code: "STATE_INVALID" });
      expect((error as Error).message)
        .to.include(path())
        .and.match(/delete the file, or set another file with --state\.$/);
    };

    it("restores its saved content", async () => {
      await kind.write(path());
      const content = await kind.contentOf(path());
      expect(content).to.deep.equal(await kind.contentOf(path()));
      expect((await readdir(folder.path)).toSorted()).to.deep.equal(["state.sqlite", "state.sqlite.lock"]);
    });

    it("rejects the state of a different contract or chain", async () => {
      await kind.write(path());
      for (const other of BAD_TARGETS) await refused({ ...target, ...other });
    });

    it("accepts the contract's address in upper or lower case", async () => {
      await kind.write(path());
      const contract = target.contract.toUpperCase().replace("X", "x");
      using state = await kind.open(path(), { ...target, contract });
      expect(state).not.to.equal(undefined);
    });

    it("replaces a file with any content if the option fresh is set", async () => {
      const empty = await kind.contentOf(path());
      await kind.write(path());
      expect(await kind.contentOf(path())).not.to.deep.equal(empty);
      for (const spoil of [() => Promise.resolve(), () => writeFile(path(), "nonsense")]) {
        await spoil();
        (await kind.open(path(), target, { fresh: true }))[Symbol.dispose]();
        expect(await kind.contentOf(path())).to.deep.equal(empty);
        await kind.write(path());
      }
    });

    it("cannot be opened a second time while it is open", async () => {
      using state = await kind.open(path(), target);
      expect(state).not.to.equal(undefined);
      for (const fresh of [false, true]) {
        expect(await failure(kind.open(path(), target, { fresh }))).to.include({ code: "STATE_LOCKED" });
      }
    });

    describe("after a change", () => {
      beforeEach(() => kind.write(path()));

      it("builds a state again that SQLite finds damaged", async () => {
        const bytes = await readFile(path());
        const pages = bytes.length / 4096;
        for (const spoil of [
          () => truncate(path(), 5_000),
          () => writeFile(path(), bytes.fill(7, 4096 * (pages - 2))),
        ]) {
          await writeFile(path(), bytes);
          await spoil();
          const damages: string[] = [];
          const state = await kind.open(path(), target, { onRebuild: (damage) => damages.push(damage) });
          state[Symbol.dispose]();
          expect(damages).to.have.lengthOf(1);
          expect(damages[0]).to.include("It is damaged");
        }
        await rm(path());
        const empty = await kind.contentOf(path());
        await writeFile(path(), bytes);
        expect(await kind.contentOf(path())).to.deep.equal(empty);
      });

      it("never replaces a file that is not a state", async () => {
        const bytes = await readFile(path());
        for (const spoil of [
          () => writeFile(path(), ""),
          () => writeFile(path(), "nonsense"),
          () => writeFile(path(), "{}"),
          // This file is larger than any state. It is sparse, so it takes no disk space.
          () => truncate(path(), 2 ** 34),
        ]) {
          await writeFile(path(), bytes);
          await spoil();
          await refused();
        }
        await writeFile(path(), bytes);
        using state = await kind.open(path(), target);
        expect(state).not.to.equal(undefined);
      });

      it("rejects a file with the other kind of state", async () => {
        await rm(path());
        await (kind === audit ? watch : audit).write(path());
        await refused();
      });

      it("rejects values out of range", async () => {
        for (const [table, column, value] of kind.outOfRange) {
          const database = new DatabaseSync(path());
          database.prepare(`UPDATE ${table} SET ${column} = ?`).run(value);
          database.close();
          expect(await failure(kind.contentOf(path())), column).to.include({ code: "STATE_INVALID" });
          await rm(path());
          await kind.write(path());
        }
      });
    });

    it("rejects a state of version 0.1.0, and explains the reason", async () => {
      const old = '{"content":{"format":"keyroot-audit-v1"},"seal":"00"}';
      await writeFile(path(), old);
      await refused();
      expect(((await failure(kind.open(path(), target))) as Error).message).to.include(
        "Version 0.1.0 wrote states as JSON",
      );
      expect(await readFile(path(), "utf8")).to.equal(old);
    });
  });
}

describe("AuditState", () => {
  const folder = temporaryFolder();
  const path = () => join(folder.path, "state.sqlite");

  it("restores only saved files", async () => {
    {
      using state = await AuditState.open(path(), target);
      state.recordFile(first, sha256("bytes"), usersOf(3));
      expect(state.file(first)).to.deep.equal({ sha256: sha256("bytes"), users: usersOf(3) });
      state.save();
      state.recordFile(second, sha256("bytes"), usersOf(5));
    }
    using state = await AuditState.open(path(), target);
    expect(state.file(first)).to.deep.equal({ sha256: sha256("bytes"), users: usersOf(3) });
    expect(state.file(second)).to.equal(undefined);
    expect([state.cursor, state.events]).to.deep.equal([undefined, []]);
  });
});
