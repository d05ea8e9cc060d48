import { expect } from "chai";
import { setTimeout as sleep } from "node:timers/promises";
import { readConfig } from "../../../../packages/service/src/config/readConfig.ts";
import { openDatabases, rowsOf } from "../../../../packages/service/src/api/database/database.ts";
import { startService } from "../../../../packages/service/src/serve/startService.ts";
import { startPgBouncer } from "../../../support/postgres/pgbouncer.ts";
import { runAt } from "../../../support/postgres/postgres.ts";
import { Caller } from "../../../support/service/caller.ts";
import { ADMIN_TOKEN, freshDatabaseUrl, serviceVariables } from "../../../support/service/support.ts";
import { closedAfterEach, temporaryFolder } from "../../../support/support.ts";

/** More requests at a time than server connections, so that the pooler gives each request any of them. */
const [REQUESTS, SERVER_CONNECTIONS] = [24, 3];

describe("a service behind PgBouncer", () => {
  const folder = temporaryFolder();
  const closing = closedAfterEach();

  async function migrate(url: string): Promise<void> {
    await using databases = await openDatabases({ url });
    await databases.migrate();
  }

  for (const mode of ["transaction", "session"]) {
    it(`serves requests in the ${mode} mode with PgBouncer's default settings`, async () => {
      const direct = await freshDatabaseUrl();
      const size = mode === "transaction" ? SERVER_CONNECTIONS : 20;
      const { url } = closing(await startPgBouncer(direct, { pool_mode: mode, default_pool_size: size }));
      await migrate(url);
      await migrate(url);
      const variables = { ...(await serviceVariables(folder.path)), DATABASE_URL: url, KEYROOT_LOG_LEVEL: "silent" };
      const running = closing(await startService(readConfig({ ...variables, KEYROOT_RATE_LIMIT: "1000" })));
      const service = Object.assign(new Caller(ADMIN_TOKEN), { url: running.url });
      const partner = await service.createPartner();
      for (let round = 0; round < 3; round++) {
        const users = Array.from({ length: REQUESTS }, () => service.createUser(partner));
        for (const { jwt } of await Promise.all(users)) expect(jwt).to.not.equal("");
      }
      const ready = await fetch(`${running.monitoringUrl}/readyz`);
      expect(ready.status).to.equal(200);
    });
  }

  it("limits the time of a migration's wait for a lock, but not of other statements", async () => {
    const direct = await freshDatabaseUrl();
    const { url } = closing(await startPgBouncer(direct, { pool_mode: "transaction", default_pool_size: 1 }));
    await migrate(url);
    await using databases = await openDatabases({ url, connections: 2 });
    const limitOf = async () => rowsOf(await databases.home.execute("show statement_timeout"));
    expect(await limitOf()).to.deep.equal([{ statement_timeout: "15s" }]);
    // The migration uses the same server connection, which keeps the limit of other statements.
    const lock = runAt(direct, "BEGIN; LOCK TABLE drizzle.__drizzle_migrations; SELECT pg_sleep(3); COMMIT");
    await sleep(200);
    await Promise.all([migrate(url), lock]);
    expect(await limitOf()).to.deep.equal([{ statement_timeout: "15s" }]);
  });
});
