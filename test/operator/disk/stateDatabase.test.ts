import { expect } from "chai";
import { chmod, copyFile, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { lockFile } from "../../../packages/operator/src/disk/lock.ts";
import { kindOfFile, StateDatabase, type StateFormat } from "../../../packages/operator/src/disk/stateDatabase.ts";
import { ArgumentError, TransportError } from "../../../packages/operator/src/errors.ts";
import { failure, modeOf, temporaryFolder } from "../../support/support.ts";

const FORMAT: StateFormat = {
  applicationId: 0x54455354,
  version: 3,
  tables: ["CREATE TABLE pairs (a INTEGER PRIMARY KEY, b TEXT NOT NULL CHECK (octet_length(b) < 10)) STRICT"],
  maxBytes: 2 ** 20,
  invalid: (message, options) => new ArgumentError("STATE_INVALID", message, options),
};
const unlocked: Disposable = { [Symbol.dispose]: () => undefined };
const nothing = () => undefined;

describe("StateDatabase", () => {
  const folder = temporaryFolder();
  const path = () => join(folder.path, "a", "state.sqlite");
  const open = (format = FORMAT) => StateDatabase.open(path(), format, unlocked);
  const insert = (database: StateDatabase, a: number, b = "x") => {
    database.run("INSERT INTO pairs VALUES (?, ?)", a, b);
  };
  const numbersIn = (database: StateDatabase) => Array.from(database.rows("SELECT a FROM pairs"), ({ a }) => a);

  describe("create", () => {
    it("makes a file and folders that only their owner can read", async () => {
      await StateDatabase.create(path(), FORMAT, nothing);
      expect([await modeOf(path()), await modeOf(join(folder.path, "a"))]).to.deep.equal(["600", "700"]);
      expect(await readdir(join(folder.path, "a"))).to.deep.equal(["state.sqlite"]);
      expect(await kindOfFile(path())).to.equal("database");
    });

    it("replaces a file completely or not at all", async () => {
      await mkdir(join(folder.path, "a"));
      await writeFile(path(), "old");
      await writeFile(`${path()}-wal`, "log");
      const error = new Error("of fill");
      const fails = StateDatabase.create(path(), FORMAT, (database) => {
        insert(database, 1);
        throw error;
      });
      expect(await failure(fails)).to.equal(error);
      expect(await readFile(path(), "utf8")).to.equal("old");
      expect(await readFile(`${path()}-wal`, "utf8")).to.equal("log");
      await StateDatabase.create(path(), FORMAT, (database) => {
        insert(database, 1);
      });
      using database = await open();
      expect(numbersIn(database)).to.deep.equal([1]);
    });

    it("removes the log of an earlier database, and drafts of killed processes", async () => {
      await mkdir(join(folder.path, "a"));
      for (const name of ["-wal", "-journal"]) await writeFile(path() + name, "left");
      const draft = join(folder.path, "a", ".state.sqlite.00000000-0000-4000-8000-000000000000");
      await writeFile(draft, "left");
      await StateDatabase.create(path(), FORMAT, nothing);
      expect(await readdir(join(folder.path, "a"))).to.deep.equal(["state.sqlite"]);
    });

    it("fails if the path cannot be written", async () => {
      await writeFile(join(folder.path, "a"), "a file");
      const error = await failure(StateDatabase.create(path(), FORMAT, nothing));
      expect(error).to.be.instanceOf(TransportError).and.include({ code: "FILE_UNWRITABLE" });
    });
  });

  describe("transaction", () => {
    it("changes nothing if it fails", async () => {
      await StateDatabase.create(path(), FORMAT, nothing);
      using database = await open();
      const error = new Error("in the middle");
      expect(() => {
        database.transaction(() => {
          insert(database, 1);
          throw error;
        });
      }).to.throw(error);
      expect(() => {
        database.transaction(() => {
          insert(database, 1);
          insert(database, 2, "longer than allowed");
        });
      }).to.throw(TransportError, "CHECK constraint failed");
      database.transaction(() => {
        insert(database, 3);
      });
      expect(numbersIn(database)).to.deep.equal([3]);
    });

    it("fails if the disk is full", async () => {
      await StateDatabase.create(path(), FORMAT, nothing);
      using database = await open();
      database.run("PRAGMA max_page_count = 3");
      expect(() => {
        database.transaction(() => {
          for (let a = 0; a < 10_000; a++) insert(database, a);
        });
      })
        .to.throw(TransportError, "full")
        .that.includes({ code: "FILE_UNWRITABLE" });
      expect(numbersIn(database)).to.deep.equal([]);
    });

    it("excludes every other program while the database is open", async () => {
      await StateDatabase.create(path(), FORMAT, nothing);
      using database = await open();
      insert(database, 1);
      const other = new DatabaseSync(path());
      expect(() => other.prepare("SELECT * FROM pairs").all()).to.throw("locked");
      other.close();
      expect(await failure(open())).to.include({ code: "FILE_UNWRITABLE" });
    });
  });

  describe("open", () => {
    const refusal = async (format = FORMAT) => {
      const error = await failure(open(format));
      expect(error).to.be.instanceOf(ArgumentError).and.include({ code: "STATE_INVALID" });
      return (error as Error).message;
    };
    beforeEach(async () => {
      await StateDatabase.create(path(), FORMAT, (database) => {
        for (let a = 0; a < 1_000; a++) insert(database, a);
      });
    });

    it("rejects a file of a different kind or version", async () => {
      expect(await refusal({ ...FORMAT, applicationId: 1 })).to.include("not a state of this kind");
      expect(await refusal({ ...FORMAT, version: 4 })).to.include("version 3");
    });

    for (const sql of [
      "CREATE TABLE more (a)",
      "CREATE VIEW more AS SELECT 1",
      "CREATE TRIGGER more AFTER INSERT ON pairs BEGIN DELETE FROM pairs; END",
      "CREATE INDEX more ON pairs (b)",
      "DROP TABLE pairs",
      "ALTER TABLE pairs ADD COLUMN c TEXT",
    ]) {
      it(`rejects a changed schema: ${sql}`, async () => {
        const other = new DatabaseSync(path());
        other.exec(sql);
        other.close();
        expect(await refusal()).to.include("other tables");
      });
    }

    it("rejects a file above the size limit before it reads the file", async () => {
      const { size } = await stat(path());
      expect(await refusal({ ...FORMAT, maxBytes: size - 1 })).to.include(`has ${size} bytes`);
      await writeFile(`${path()}-wal`, Buffer.alloc(2 ** 20 + 1));
      expect(await refusal()).to.include("-wal has 1048577 bytes");
    });

    it("rejects a file that is not a complete database", async () => {
      const copy = join(folder.path, "copy");
      await copyFile(path(), copy);
      for (const spoil of [
        () => writeFile(path(), ""),
        () => writeFile(path(), "not a database".repeat(100)),
        () => writeFile(path(), Buffer.alloc(8192)),
        () => truncate(path(), 50),
        () => truncate(path(), 4096),
        () => truncate(path(), 9000),
      ]) {
        await copyFile(copy, path());
        await spoil();
        await refusal();
      }
    });

    it("fails if the file cannot be written", async () => {
      await chmod(path(), 0o400);
      await chmod(join(folder.path, "a"), 0o500);
      // Permissions do not restrict root.
      const isRoot = process.getuid?.() === 0;
      if (isRoot) {
        const { chownSync } = await import("node:fs");
        for (const name of [folder.path, join(folder.path, "a"), path()]) chownSync(name, 65534, 65534);
        process.seteuid?.(65534);
      }
      try {
        expect(await failure(open()))
          .to.be.instanceOf(TransportError)
          .and.include({ code: "FILE_UNWRITABLE" });
      } finally {
        if (isRoot) process.seteuid?.(0);
        await chmod(join(folder.path, "a"), 0o700);
      }
      await rm(path());
      expect(await kindOfFile(path())).to.equal("missing");
    });
  });

  it("releases its lock when it is closed", async () => {
    await StateDatabase.create(path(), FORMAT, nothing);
    const lock = await lockFile(`${path()}.lock`);
    if (lock === undefined) throw new Error("It is locked.");
    {
      using database = await StateDatabase.open(path(), FORMAT, lock);
      expect(await lockFile(`${path()}.lock`)).to.equal(undefined);
      insert(database, 1);
    }
    using again = await lockFile(`${path()}.lock`);
    expect(again).not.to.equal(undefined);
  });
});
