import { expect } from "chai";
import { sql } from "drizzle-orm";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { runAt, startPostgres } from "../../../support/postgres/postgres.ts";
import { toServiceError } from "../../../../packages/service/src/api/problem.ts";
import {
  type Database,
  type Databases,
  openDatabases,
} from "../../../../packages/service/src/api/database/database.ts";
import { failure } from "../../../support/support.ts";
import { type BrokenWire, wireTo } from "../../../support/service/brokenWire.ts";
import { freshDatabaseUrl } from "../../../support/service/support.ts";

describe("a database transaction", () => {
  let url: string;
  let wire: BrokenWire;
  let databases: Databases;
  beforeEach(async () => {
    url = await freshDatabaseUrl();
    wire = await wireTo(url);
    // There is only one connection. If it is not released, all later queries fail.
    databases = await openDatabases({ url: wire.url, connections: 1 });
    await databases.home.execute(sql`select 1`);
  });
  afterEach(async () => {
    await databases[Symbol.asyncDispose]();
    await wire.close();
  });

  const run = (work: (transaction: Database) => Promise<unknown> = () => Promise.resolve()) =>
    databases.home.transaction(async (transaction) => {
      await work(transaction);
      await transaction.execute(sql`select 1`);
    });

  const failures: [when: string, work: (transaction: Database) => Promise<unknown>][] = [
    [
      "its connection breaks during a query",
      async (transaction) => {
        setTimeout(() => {
          wire.cut();
        }, 50);
        await transaction.execute(sql`select pg_sleep(10)`);
      },
    ],
    [
      "its connection breaks between two queries",
      async () => {
        wire.cut();
        await sleep(50);
      },
    ],
    [
      "its server ends the connection between two queries",
      async () => {
        const others = "datname = current_database() AND pid <> pg_backend_pid()";
        await runAt(url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`);
        // Wait until the end of the connection arrives while no query runs.
        await sleep(100);
      },
    ],
    [
      "its server is no longer the leader",
      async (transaction) => {
        await transaction.execute(sql`set transaction read only`);
        await transaction.execute(sql`create table never (id int)`);
      },
    ],
  ];
  async function expectUnavailable(transaction: Promise<unknown>): Promise<void> {
    expect(toServiceError(await failure(transaction))).to.include({ status: 503, retryAfter: 2 });
    wire.mend();
    await run();
  }
  for (const [when, work] of failures)
    it(`fails with 503 if ${when}`, async () => {
      await expectUnavailable(run(work));
    });

  it("fails with 503 if its connection breaks before it begins", async () => {
    wire.cut();
    await expectUnavailable(run());
  });

  it("rolls back and keeps its connection if its function throws", async () => {
    const pidOf = async (database: Database): Promise<unknown> => {
      const { rows } = (await database.execute(sql`select pg_backend_pid() as pid`)) as { rows: { pid: number }[] };
      return rows[0]?.pid;
    };
    const before = await pidOf(databases.home);
    const reason = new Error("refused");
    const thrown = await failure(
      run(async (transaction) => {
        await transaction.execute(sql`create table never (id int)`);
        throw reason;
      }),
    );
    expect(thrown).to.equal(reason);
    expect(await pidOf(databases.home)).to.equal(before);
    await run((transaction) => transaction.execute(sql`create table never (id int)`));
  });
});

describe("a database", () => {
  it("fails with 503 if its server is a standby", async () => {
    const postgres = await startPostgres();
    try {
      const url = await postgres.createDatabase();
      const restarted = async () => {
        await postgres.restart();
        return openDatabases({ url, connections: 1 });
      };
      // This file makes the server a standby (PostgreSQL's documentation, "Standby Server Operation").
      const signal = join(postgres.folder, "data", "standby.signal");
      await writeFile(signal, "");
      await using standby = await restarted();
      for (let i = 0; i < 2; i++) {
        const refused = toServiceError(await failure(standby.home.execute(sql`select 1`)));
        expect(refused).to.include({ status: 503, retryAfter: 2 });
        expect(inspect(refused)).to.contain("The database server is a standby");
      }
      await rm(signal);
      await using leader = await restarted();
      await leader.home.execute(sql`select 1`);
    } finally {
      await postgres.stop();
    }
  });
});
