import { PGlite, type PGliteOptions } from "@electric-sql/pglite";
import { expect } from "chai";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "pg";
import { ArgumentError, TransportError } from "../../../../packages/keyroot/src/errors.ts";
import { toServiceError } from "../../../../packages/service/src/api/problem.ts";
import { SERVICE } from "../../../../packages/service/src/api/base/author.ts";
import type { ResolvedConfig } from "../../../../packages/service/src/config/serviceConfig.ts";
import { readConfig } from "../../../../packages/service/src/config/readConfig.ts";
import { startService } from "../../../../packages/service/src/serve/startService.ts";
import { openDatabases } from "../../../../packages/service/src/api/database/database.ts";
import { createDatabase } from "../../../../packages/service/src/api/database/pgliteImage.ts";
import { PartnerKeyStore } from "../../../../packages/service/src/publishing/partnerKeys.ts";
import { PartnerStore } from "../../../../packages/service/src/partners/partners.ts";
import { runAt } from "../../../support/postgres/postgres.ts";
import { failure, temporaryFolder } from "../../../support/support.ts";
import { freshDatabaseUrl, serviceVariables } from "../../../support/service/support.ts";
import { ENDLESS_MS } from "../../../support/endless.ts";
import { testAll } from "../../../support/testSize.ts";

const project = join(import.meta.dirname, "../../../..");
const DATABASE = "packages/service/src/api/database";

/** Returns the statements of a migration that could break the previous version. */
function notAdditive(sql: string): string[] {
  const statements = sql.split("--> statement-breakpoint").map((statement) => statement.trim());
  const created = [...sql.matchAll(/CREATE (?:UNLOGGED )?TABLE "(\w+)"/g)].map(([, table]) => table);
  return statements.filter((statement) => {
    // Older versions still insert a value. They must ignore rows without a value.
    if (/^ALTER TABLE "\w+" ALTER COLUMN "\w+" DROP NOT NULL;$/.test(statement)) return false;
    const [, table] =
      /^(?:ALTER TABLE|CREATE UNIQUE INDEX "\w+" ON|CREATE TRIGGER "\w+" [A-Z ]+ ON) "(\w+)"/m.exec(statement) ?? [];
    if (table !== undefined && created.includes(table)) return false;
    // Older versions leave a new column empty, and a reference that is no longer checked accepts their rows.
    const [, column] = /ADD CONSTRAINT "\w+" FOREIGN KEY \("(\w+)"\)/.exec(statement) ?? [];
    if (column !== undefined && sql.includes(`ADD COLUMN "${column}"`)) return false;
    if (/^ALTER TABLE "\w+" DROP CONSTRAINT "\w+_fk";$/.test(statement)) return false;
    const breaks = /^DROP|^CREATE UNIQUE INDEX|\b(?:DROP|RENAME|ALTER COLUMN|ADD CONSTRAINT|TRUNCATE)\b/;
    const isRequired = /ADD COLUMN .*NOT NULL/.test(statement) && !statement.includes("DEFAULT");
    return isRequired || breaks.test(statement);
  });
}

describe("the service's databases", () => {
  const folder = temporaryFolder();

  /** The configuration of a service with PostgreSQL on any free port. */
  async function configOf(variables: Record<string, string>): Promise<ResolvedConfig> {
    return readConfig({ ...(await serviceVariables(folder.path)), KEYROOT_LOG_LEVEL: "silent", ...variables });
  }

  async function migrate(...urls: string[]): Promise<void> {
    for (const url of urls) {
      await using databases = await openDatabases({ url });
      await databases.migrate();
    }
  }

  async function expectRefused(config: ResolvedConfig, code: string, message: RegExp): Promise<void> {
    const error = await failure(startService(config));
    expect(error).to.be.instanceOf(ArgumentError).with.property("code", code);
    expect((error as ArgumentError).message).to.match(message);
  }

  describe("a start", () => {
    it("names the variable of a database that rejects the connection", async () => {
      const [url, region] = [new URL(await freshDatabaseUrl()), await freshDatabaseUrl()];
      url.pathname = "/none";
      const unreachable = async (config: Parameters<typeof startService>[0], message: RegExp) => {
        const error = await failure(startService(config));
        expect(error).to.be.instanceOf(TransportError).with.property("code", "UNREACHABLE");
        expect((error as TransportError).message).to.match(message);
      };
      await unreachable(await configOf({ DATABASE_URL: url.href }), /DATABASE_URL: .*"none"/);
      await migrate(region);
      const config = await configOf({ DATABASE_URL: region, DATABASE_URL_EU_WEST_1: url.href });
      await unreachable(config, /DATABASE_URL_EU_WEST_1: .*"none"/);
    });

    for (const [reason, url] of [
      ["ECONNREFUSED", "postgres://127.0.0.1:1/none"],
      ["ENOENT", "postgres:///none?host=/none"],
    ] as const)
      it(`names the variable of a database with the error ${reason}`, async () => {
        const error = await failure(startService(await configOf({ DATABASE_URL: url })));
        expect(error).to.be.instanceOf(TransportError).with.property("code", "UNREACHABLE");
        expect((error as TransportError).message).to.match(new RegExp(`DATABASE_URL is unavailable: .*${reason}`));
        expect(toServiceError((error as TransportError).cause)).to.include({ status: 503 });
      });
  });

  describe("migrations", () => {
    it("name the variable of a database that is unavailable", async () => {
      const error = await failure(migrate("postgres://127.0.0.1:1/none"));
      expect(error).to.be.instanceOf(TransportError).with.property("code", "UNREACHABLE");
      expect((error as TransportError).message).to.contain("DATABASE_URL");
    });

    it("must run before the service starts", async () => {
      const config = await configOf({ DATABASE_URL: await freshDatabaseUrl() });
      await expectRefused(config, "SCHEMA_OUTDATED", /0 of this version's \d+ migrations.*keyroot migrate/);
    });

    it("have no effect if they run again", async () => {
      const url = await freshDatabaseUrl();
      await migrate(url, url);
      const running = await startService(await configOf({ DATABASE_URL: url }));
      expect((await fetch(`${running.monitoringUrl}/readyz`)).status).to.equal(200);
      await running.close();
    });

    it("must run in every region's database", async () => {
      const [home, west] = [await freshDatabaseUrl(), await freshDatabaseUrl()];
      await migrate(home);
      const config = await configOf({ DATABASE_URL: home, DATABASE_URL_US_WEST_2: west });
      await expectRefused(config, "SCHEMA_OUTDATED", /keyroot migrate/);
      await migrate(west);
      await (await startService(config)).close();
    });

    it("may be newer than the service until they require a newer version", async () => {
      const url = await freshDatabaseUrl();
      await migrate(url);
      const config = await configOf({ DATABASE_URL: url });
      await runAt(url, "INSERT INTO drizzle.__drizzle_migrations (hash, created_at) VALUES ('newer', 9e12)");
      const known = (await readdir(join(project, DATABASE, "migrations"))).filter((name) =>
        name.endsWith(".sql"),
      ).length;
      // A migration may require tables and columns of this version.
      await runAt(url, `INSERT INTO schema_requirements VALUES (0), (${known})`);
      const running = await startService(config);
      try {
        const ready = () => fetch(`${running.monitoringUrl}/readyz`);
        expect((await ready()).status).to.equal(200);
        await runAt(url, `INSERT INTO schema_requirements VALUES (${known + 1})`);
        const refused = await ready();
        expect(refused.status).to.equal(503);
        expect(await refused.text()).to.include(`with ${known + 1} migrations, but this version has ${known}`);
      } finally {
        await running.close();
      }
      await expectRefused(config, "SCHEMA_OUTDATED", /requires a version of Keyroot with/);
    });

    it("let requests continue while they wait for a locked table", async () => {
      const url = await freshDatabaseUrl();
      await migrate(url);
      await using cleanup = new AsyncDisposableStack();
      // This reader keeps a table open for a long time, like a backup.
      const reader = new Client({ connectionString: url });
      await reader.connect();
      cleanup.defer(() => reader.end());
      await reader.query("BEGIN; LOCK TABLE drizzle.__drizzle_migrations");
      const migrated = migrate(url);
      const other = new Client({ connectionString: url, statement_timeout: 4_000 });
      await other.connect();
      cleanup.defer(() => other.end());
      const waiting = "SELECT 1 FROM pg_locks WHERE NOT granted";
      while ((await other.query(waiting)).rowCount === 0) await sleep(20);
      // Wait until the migration leaves the lock's queue.
      while ((await other.query(waiting)).rowCount !== 0) await sleep(20);
      await reader.query("COMMIT");
      await migrated;
    });

    it("prevent a start if this version does not contain them", async () => {
      const url = await freshDatabaseUrl();
      await migrate(url);
      await runAt(url, "UPDATE drizzle.__drizzle_migrations SET hash = 'other'");
      await expectRefused(
        await configOf({ DATABASE_URL: url }),
        "SCHEMA_OUTDATED",
        /migrations that this version does not contain/,
      );
    });

    it("only add objects, or insert the version that they require", async () => {
      const folder = join(project, DATABASE, "migrations");
      const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
      const all = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
      for (const [i, sql] of all.entries()) {
        const name = names[i];
        if (!sql.includes('INSERT INTO "schema_requirements"')) expect(notAdditive(sql), name).to.deep.equal([]);
      }
      const added =
        'CREATE TABLE "a" ("b" text NOT NULL);--> statement-breakpoint\nCREATE UNIQUE INDEX "c" ON "a" ("b");';
      for (const sql of [
        added,
        'ALTER TABLE "x" ADD COLUMN "b" text;',
        'ALTER TABLE "x" ADD COLUMN "b" int DEFAULT 1 NOT NULL;',
      ])
        expect(notAdditive(sql)).to.deep.equal([]);
      for (const sql of [
        'ALTER TABLE "x" ADD COLUMN "b" text NOT NULL;',
        'ALTER TABLE "x" DROP COLUMN "b";',
        'ALTER TABLE "x" ALTER COLUMN "b" SET NOT NULL;',
        'ALTER TABLE "x" ALTER COLUMN "b" SET DATA TYPE bigint;',
        'ALTER TABLE "x" RENAME COLUMN "b" TO "c";',
        'ALTER TABLE "x" ADD CONSTRAINT "c" UNIQUE("b");',
        'CREATE UNIQUE INDEX "c" ON "x" ("b");',
        'DROP TABLE "x";',
      ])
        expect(notAdditive(`${added}--> statement-breakpoint\n${sql}`)).to.deep.equal([sql]);
    });

    it("create exactly the tables that the tables.ts files define", async () => {
      // The copy is inside the project, where the tool finds the packages that these files import.
      const copy = await mkdtemp(join(project, "cache/migrations-"));
      try {
        await cp(join(project, DATABASE, "migrations"), copy, { recursive: true });
        const tool = join(project, "node_modules/drizzle-kit/bin.cjs");
        const options = [
          "generate",
          "--dialect=postgresql",
          "--schema=./packages/service/src/**/tables.ts",
          `--out=./${copy.slice(project.length + 1)}`,
        ];
        const output = execFileSync(process.execPath, [tool, ...options], {
          cwd: project,
          encoding: "utf8",
          timeout: ENDLESS_MS,
        });
        expect(output).to.include("No schema changes");
        const files = (await readdir(copy, { recursive: true })).sort();
        expect(files).to.deep.equal((await readdir(join(project, DATABASE, "migrations"), { recursive: true })).sort());
      } finally {
        await rm(copy, { recursive: true });
      }
    });

    it("create an unlogged table for rate limits", async () => {
      const sql = await readFile(join(project, DATABASE, "migrations/0000_start.sql"), "utf8");
      expect(sql).to.include('CREATE UNLOGGED TABLE "rate_limits"');
    });
  });

  it("hide their password in the error when they are unreachable", async () => {
    const config = await configOf({ DATABASE_URL: "postgres://user:hidden-word@127.0.0.1:1/none" });
    const error = (await failure(startService(config))) as Error;
    for (let reason: unknown = error; reason instanceof Error; reason = reason.cause)
      expect(`${reason.message}${reason.stack ?? ""}`).not.to.include("hidden-word");
  });

  (testAll ? describe : describe.skip)("PGlite's folder", () => {
    // Both tests share this database, because creating a database takes 2 s.
    let pglite: string;
    before(async () => {
      pglite = await mkdtemp(join(tmpdir(), "keyroot-pglite-"));
    });
    after(() => rm(pglite, { recursive: true }));

    it("keeps the data after the service ends", async () => {
      const options = { url: undefined, folder: pglite };
      let bizID: string;
      {
        await using databases = await openDatabases(options);
        await databases.migrate();
        ({ bizID } = await new PartnerStore(databases, new PartnerKeyStore(databases, 0)).create(
          "A company",
          1,
          SERVICE,
        ));
      }
      await using databases = await openDatabases(options);
      await databases.migrate();
      expect(await new PartnerStore(databases, new PartnerKeyStore(databases, 0)).exists(bizID)).to.equal(true);
    });

    it("is locked by one process until it ends or is killed", async () => {
      const options = { url: undefined, folder: pglite };
      const program = `
        import { openDatabases } from ${JSON.stringify(new URL(`../../../../${DATABASE}/database.ts`, import.meta.url).href)};
        const databases = await openDatabases({ folder: process.argv[1] });
        console.log("open");
        setInterval(() => databases, 1000);`;
      const child = spawn(process.execPath, ["--input-type=module", "--eval", program, options.folder], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      try {
        await once(child.stdout, "data");
        const config = { ...(await configOf({})), databaseFolder: options.folder };
        await expectRefused(config, "DATABASE_LOCKED", /^Another process uses the database in .*\. Stop the process/);
      } finally {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
      const databases = await openDatabases(options);
      expect(await failure(openDatabases(options))).to.have.property("code", "DATABASE_LOCKED");
      await databases[Symbol.asyncDispose]();
    });
  });

  describe("PGlite's image", () => {
    // Creating a database without an image takes 6 s of processor time.
    (testAll ? it : it.skip)("is created by the first database, and gives later ones their tables", async () => {
      const path = join(folder.path, "cache", "image");
      const images: (Blob | File | undefined)[] = [];
      const create = (options: PGliteOptions) => {
        images.push(options.loadDataDir);
        return PGlite.create(options);
      };
      await mkdir(join(folder.path, "cache"));
      await writeFile(path, "not an image");
      for (const loads of [false, true]) {
        await using client = await createDatabase(create, {}, path);
        expect((await client.query("select count(*)::int from partners")).rows).to.deep.equal([{ count: 0 }]);
        expect(images.splice(0).map((image) => image !== undefined)).to.deep.equal([loads]);
      }
      expect(await readdir(join(folder.path, "cache"))).to.deep.equal(["image"]);
    });
  });

  describe("openDatabases, without the PGlite package", () => {
    let installation: string;
    before(async () => {
      installation = await installWithout("@electric-sql");
    });
    after(() => rm(installation, { recursive: true }));

    /** Runs a program that may use `openDatabases`, and prints one line of JSON. */
    function run(program: string): unknown {
      const module = pathToFileURL(join(installation, DATABASE, "database.ts")).href;
      const source = `import { openDatabases } from ${JSON.stringify(module)};\n${program}`;
      const output = execFileSync(process.execPath, ["--input-type=module", "--eval", source], {
        cwd: installation,
        encoding: "utf8",
      });
      return JSON.parse(output);
    }

    it("requires DATABASE_URL", () => {
      const answer = run(`
        const { code, message } = await openDatabases({ url: undefined }).catch((error) => error);
        console.log(JSON.stringify({ code, message }));`);
      expect(answer).to.include({ code: "CONFIGURATION_INVALID" });
      expect(answer).to.have.property("message").that.includes("Set DATABASE_URL");
      expect(answer).to.have.property("message").that.includes("npm install @electric-sql/pglite");
    });

    it("works with DATABASE_URL", async () => {
      const answer = run(`
        await using databases = await openDatabases({ url: ${JSON.stringify(await freshDatabaseUrl())} });
        await databases.migrate();
        console.log(JSON.stringify((await databases.home.execute("select count(*)::int from partners")).rows));`);
      expect(answer).to.deep.equal([{ count: 0 }]);
    });
  });
});

/** Copies both packages into a folder. Its node_modules contains links to all packages except one scope. */
async function installWithout(scope: string): Promise<string> {
  // The folder is outside the project, so that programs do not find the project's own node_modules.
  const folder = await mkdtemp(join(tmpdir(), "keyroot-installation-"));
  const modules = join(folder, "node_modules");
  await mkdir(modules);
  for (const name of ["keyroot", "operator", "service"]) {
    const files = { recursive: true, filter: (path: string) => !path.includes("node_modules") };
    await cp(join(project, "packages", name), join(folder, "packages", name), files);
  }
  for (const name of await readdir(join(project, "node_modules"))) {
    if (name === scope || name === "keyroot") continue;
    await symlink(join(project, "node_modules", name), join(modules, name));
  }
  await symlink(join(folder, "packages/keyroot"), join(modules, "keyroot"));
  return folder;
}
