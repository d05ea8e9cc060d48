import { expect } from "chai";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ArgumentError } from "../../../packages/keyroot/src/errors.ts";
import { type Config, readConfig } from "../../../packages/operator/src/service/config.ts";
import { startService } from "../../../packages/operator/src/service/server.ts";
import { openDatabases } from "../../../packages/operator/src/service/store/database.ts";
import { PartnerStore } from "../../../packages/operator/src/service/store/partners.ts";
import { runAt } from "../../../fixtures/postgres/postgres.ts";
import { failure, temporaryFolder } from "../../support/support.ts";
import { freshDatabaseUrl, SIGNING_JWK } from "../../support/service/support.ts";

const project = join(import.meta.dirname, "../../..");
const STORE = "packages/operator/src/service/store";

describe("the service's databases", () => {
  const folder = temporaryFolder();

  /** The configuration of a service over PostgreSQL, on any port. */
  async function configOf(variables: Record<string, string>): Promise<Config> {
    const keys = join(folder.path, "keys.json");
    await writeFile(keys, JSON.stringify({ keys: [SIGNING_JWK] }));
    const common = {
      KEYROOT_SIGNING_KEYS: keys,
      KEYROOT_BASE_URL: "https://service.test",
      KEYROOT_LOG_LEVEL: "silent",
    };
    return readConfig({ ...common, KEYROOT_PORT: "0", ...variables });
  }

  async function migrate(...urls: string[]): Promise<void> {
    for (const url of urls) {
      await using databases = await openDatabases({ url });
      await databases.migrate();
    }
  }

  async function expectRefused(config: Config, code: string, message: RegExp): Promise<void> {
    const error = await failure(startService(config));
    expect(error).to.be.instanceOf(ArgumentError).with.property("code", code);
    expect((error as ArgumentError).message).to.match(message);
  }

  describe("migrations", () => {
    it("that were not run keep the service from starting, and the message says how to run them", async () => {
      const config = await configOf({ DATABASE_URL: await freshDatabaseUrl() });
      await expectRefused(config, "SCHEMA_OUTDATED", /0 of the 1 migrations.*keyroot migrate/);
    });

    it("that were run let it start, and again change nothing", async () => {
      const url = await freshDatabaseUrl();
      await migrate(url, url);
      const running = await startService(await configOf({ DATABASE_URL: url }));
      expect((await fetch(`${running.url}/readyz`)).status).to.equal(200);
      await running.close();
    });

    it("that were not run in one region's database keep it from starting", async () => {
      const [home, west] = [await freshDatabaseUrl(), await freshDatabaseUrl()];
      await migrate(home);
      const config = await configOf({ DATABASE_URL: home, DATABASE_URL_US_WEST_2: west });
      await expectRefused(config, "SCHEMA_OUTDATED", /keyroot migrate/);
      await migrate(west);
      await (await startService(config)).close();
    });

    it("of a newer version, or others, keep it from starting", async () => {
      const url = await freshDatabaseUrl();
      await migrate(url);
      const config = await configOf({ DATABASE_URL: url });
      await runAt(url, "INSERT INTO drizzle.__drizzle_migrations (hash, created_at) VALUES ('newer', 9e12)");
      await expectRefused(config, "SCHEMA_OUTDATED", /other migrations/);
      await runAt(url, "DELETE FROM drizzle.__drizzle_migrations WHERE hash = 'newer'");
      await runAt(url, "UPDATE drizzle.__drizzle_migrations SET hash = 'other'");
      await expectRefused(config, "SCHEMA_OUTDATED", /other migrations/);
    });

    it("make the tables that the code describes: nothing is left to generate", async () => {
      // Inside of the project, where the tool finds the packages that the tables import.
      const copy = await mkdtemp(join(project, "cache/migrations-"));
      try {
        await cp(join(project, STORE, "migrations"), copy, { recursive: true });
        const tool = join(project, "node_modules/drizzle-kit/bin.cjs");
        const options = [
          "generate",
          "--dialect=postgresql",
          `--schema=./${STORE}/tables.ts`,
          `--out=./${copy.slice(project.length + 1)}`,
        ];
        const output = execFileSync(process.execPath, [tool, ...options], {
          cwd: project,
          encoding: "utf8",
          timeout: 60_000,
        });
        expect(output).to.include("No schema changes");
        const files = (await readdir(copy, { recursive: true })).sort();
        expect(files).to.deep.equal((await readdir(join(project, STORE, "migrations"), { recursive: true })).sort());
      } finally {
        await rm(copy, { recursive: true });
      }
    });

    it("keep the counts of the limit of rate out of the log of writes: they need not outlive a crash", async () => {
      const sql = await readFile(join(project, STORE, "migrations/0000_start.sql"), "utf8");
      expect(sql).to.include('CREATE UNLOGGED TABLE "rate_limits"');
    });
  });

  it("that are away keep the service from starting", async () => {
    const config = await configOf({ DATABASE_URL: "postgres://user:hidden-word@127.0.0.1:1/none" });
    const error = (await failure(startService(config))) as Error;
    for (let reason: unknown = error; reason instanceof Error; reason = reason.cause)
      expect(`${reason.message}${reason.stack ?? ""}`).not.to.include("hidden-word");
  });

  describe("the folder of the one in this process", () => {
    it("outlives the service, with all that it knows", async () => {
      const options = { url: undefined, folder: join(folder.path, "database") };
      let bizID: string;
      {
        await using databases = await openDatabases(options);
        await databases.migrate();
        ({ bizID } = await new PartnerStore(databases.home).create("A company", 1));
      }
      await using databases = await openDatabases(options);
      await databases.migrate();
      expect(await new PartnerStore(databases.home).exists(bizID)).to.equal(true);
    });

    it("is one process's alone, until that one ends or is killed", async () => {
      const options = { url: undefined, folder: join(folder.path, "database") };
      const program = `
        import { openDatabases } from ${JSON.stringify(new URL("../../../packages/operator/src/service/store/database.ts", import.meta.url).href)};
        const databases = await openDatabases({ folder: process.argv[1] });
        console.log("open");
        setInterval(() => databases, 1000);`;
      const child = spawn(process.execPath, ["--input-type=module", "--eval", program, options.folder], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      try {
        await once(child.stdout, "data");
        const config = await configOf({ KEYROOT_DATABASE_FOLDER: options.folder });
        await expectRefused(config, "DATABASE_LOCKED", /^Another process uses the database in .*: ask that one/);
      } finally {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
      const databases = await openDatabases(options);
      expect(await failure(openDatabases(options))).to.have.property("code", "DATABASE_LOCKED");
      await databases[Symbol.asyncDispose]();
    });
  });
});
