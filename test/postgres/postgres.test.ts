import { expect } from "chai";
import { Client } from "pg";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { closedAfterEach, failure, temporaryFolder } from "../stack/support.ts";
import { findBinaries } from "./binaries.ts";
import { runAt, type Postgres, type PostgresOptions, startPostgres } from "./postgres.ts";
import { runningOf } from "./processes.ts";
import { databasesAt, sharedPostgres } from "./shared.ts";

const program = `
  import { startPostgres } from ${JSON.stringify(new URL("postgres.ts", import.meta.url).href)};
  const { folder, pids } = await startPostgres();
  console.log(JSON.stringify({ folder, pids: pids() }));
  if (process.argv[1] === "hang") setInterval(() => {}, 1000);
`;

describe("PostgreSQL for the tests", function () {
  this.timeout(30_000);
  const closing = closedAfterEach();
  const folder = temporaryFolder();
  const start = async (options?: PostgresOptions): Promise<Postgres> => {
    const postgres = await startPostgres(options);
    closing({ close: () => postgres.stop() });
    return postgres;
  };

  describe("startPostgres", () => {
    it("starts a server that takes the password in its address, and no other", async () => {
      const { url, version } = await start();
      expect(version).to.match(/^PostgreSQL \d+\.\d+/);
      expect(await valueAt(url, "SELECT version()")).to.include(version);
      const stranger = Object.assign(new URL(url), { password: "guess" }).href;
      expect(await failure(runAt(stranger, "SELECT 1"))).to.have.property("code", "28P01");
    });

    it("starts several at once, each with its own settings, and waiting for the disk only when it is asked to", async () => {
      const servers = await Promise.all([start(), start({ fsync: true, settings: { shared_buffers: "8MB" } })]);
      const settings = servers.map(({ url }) =>
        valueAt(url, "SELECT current_setting('fsync') || ' ' || current_setting('shared_buffers')"),
      );
      expect(await Promise.all(settings)).to.deep.equal(["off 128MB", "on 8MB"]);
    });

    it("shows the log of a server that does not start", async () => {
      const error = await failure(startPostgres({ settings: { shared_buffers: "none" } }));
      expect(error).to.be.an("error").with.property("message").that.includes('"shared_buffers": "none"');
    });

    it("says where it looked for programs when there are none", async () => {
      const error = await failure(startPostgres({ binaries: [folder.path] }));
      expect(error).to.be.an("error").with.property("message").that.includes(folder.path);
    });

    it("copies programs that only root can reach", async function () {
      // Only root's programs can be out of reach for whom the server runs as.
      if (process.getuid?.() !== 0) this.skip();
      const [secret, work] = [join(folder.path, "secret"), join(folder.path, "work")];
      cpSync(dirname(findBinaries(work)), secret, { recursive: true, verbatimSymlinks: true });
      chmodSync(secret, 0o700);
      const postgres = await start({ binaries: [join(secret, "bin")] });
      expect(existsSync(join(postgres.folder, "postgresql", "bin", "postgres"))).to.equal(true);
    });
  });

  describe("createDatabase", () => {
    it("makes empty databases that know nothing of each other", async () => {
      const databases = await sharedPostgres();
      const [one, other] = await Promise.all([databases.createDatabase(), databases.createDatabase()]);
      await runAt(one, "CREATE TABLE t AS SELECT 1 AS n");
      expect(await valueAt(other, "SELECT to_regclass('t')")).to.equal(null);
    });
  });

  describe("kill and restart", () => {
    it("end every process of the server at once, and recover what was committed, at the same address", async () => {
      const postgres = await start({ fsync: true });
      await runAt(postgres.url, "CREATE TABLE t (n int)");
      const client = new Client({ connectionString: postgres.url });
      client.on("error", () => undefined);
      await client.connect();
      let acknowledged = 0;
      const inserting = (async () => {
        for (;;) {
          await client.query("INSERT INTO t VALUES ($1)", [acknowledged]);
          acknowledged++;
        }
      })();
      const lost = failure(inserting);
      while (acknowledged < 20) await setTimeout(5);
      const pids = postgres.pids();
      await postgres.kill();
      await lost;
      expect(pids).to.have.length.greaterThan(3);
      expect(runningOf(pids)).to.deep.equal([]);
      expect(postgres.pids()).to.deep.equal([]);
      await postgres.restart();
      // One more may have been committed whose answer nobody got.
      expect(Number(await valueAt(postgres.url, "SELECT count(*) FROM t"))).to.be.within(
        acknowledged,
        acknowledged + 1,
      );
    });
  });

  describe("stop", () => {
    it("leaves nothing behind, of a killed server neither, and may be called again", async () => {
      const postgres = await startPostgres();
      await postgres.kill();
      await postgres.stop();
      await postgres.stop();
      expect(postgres.pids()).to.deep.equal([]);
      expect(existsSync(postgres.folder)).to.equal(false);
    });
  });

  describe("the process that started it", () => {
    let child: ChildProcess;
    afterEach(() => child.kill("SIGKILL"));

    for (const end of ["finish", "hang"] as const) {
      it(`leaves nothing behind when it ${end === "finish" ? "just ends" : "is killed"}`, async () => {
        child = spawn(process.execPath, ["--input-type=module", "--eval", program, end], {
          stdio: ["ignore", "pipe", "inherit"],
        });
        const [line] = (await once(createInterface(child.stdout as NodeJS.ReadableStream), "line")) as [string];
        const { folder, pids } = JSON.parse(line) as { folder: string; pids: number[] };
        if (end === "hang") child.kill("SIGKILL");
        while (existsSync(folder) || runningOf(pids).length > 0) await setTimeout(20);
      });
    }
  });

  describe("a server that somebody else runs", () => {
    it("keeps no database that was made in it", async () => {
      const { url } = await sharedPostgres();
      const count = () => valueAt(url, "SELECT count(*) FROM pg_database");
      const before = await count();
      const databases = databasesAt(url);
      const client = new Client({ connectionString: await databases.createDatabase() });
      client.on("error", () => undefined);
      await client.connect();
      expect(await count()).not.to.equal(before);
      await databases.stop();
      expect(await count()).to.equal(before);
    });
  });
});

async function valueAt(url: string, query: string): Promise<unknown> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<unknown[]>({ text: query, rowMode: "array" });
    return rows[0]?.[0];
  } finally {
    await client.end();
  }
}
