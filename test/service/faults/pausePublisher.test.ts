import { expect } from "chai";
import { sql } from "drizzle-orm";
import { openDatabases, publisherLeases } from "@keyroot/service";
import { generateKeyPair } from "../../../packages/keyroot/src/identity/newPublicKey.ts";
import { makeKeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { describeOnBoth } from "../../support/chain/freshRegistry.ts";
import { sharedPostgres } from "../../support/postgres/sharedPostgres.ts";
import { serve } from "../../support/servers/servers.ts";
import { Caller, post } from "../../support/service/caller.ts";
import { dump } from "../../support/service/dump.ts";
import { serviceEnvironment, startServiceProcess } from "../../support/service/serviceProcess.ts";
import { deployForService } from "./load/deployForService.ts";
import { verifyPublished } from "./load/verifyPublished.ts";

/** An endpoint in front of a chain that holds back the first transaction. */
async function holdingEndpoint(url: string, forwards: "late" | "at once") {
  const [reached, released] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const server = await serve((request, response) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const body = Buffer.concat(parts);
      const forward = async () => {
        const answer = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body });
        return answer.text();
      };
      let answer: string;
      if (/"eth_send\w*Transaction"/.test(body.toString())) {
        const early = forwards === "at once" ? await forward() : undefined;
        reached.resolve(undefined);
        await released.promise;
        answer = early ?? (await forward());
      } else answer = await forward();
      response.setHeader("Content-Type", "application/json").end(answer);
    })();
  });
  return {
    url: server.url,
    reached: reached.promise,
    release: () => {
      released.resolve(undefined);
    },
    close: () => server.close(),
  };
}

describeOnBoth("a publisher that is paused while it sends a transaction", (startChain) => {
  for (const forwards of ["late", "at once"] as const)
    it(`sends no second transaction if the first arrives ${forwards}`, async () => {
      await using cleanup = new AsyncDisposableStack();
      const chain = await startChain();
      cleanup.defer(() => chain.close());
      const endpoint = await holdingEndpoint(chain.url, forwards);
      cleanup.defer(() => endpoint.close());
      const deployment = await deployForService(cleanup, chain.url);
      const { call, owner, folder, variables } = deployment;
      const postgres = await sharedPostgres();
      const createDatabase = () => postgres.createDatabase();
      const environment = { ...(await serviceEnvironment({ createDatabase, folder }, 4)), ...variables };
      const paused = cleanup.use(await startServiceProcess({ ...environment, KEYROOT_RPC_URL: endpoint.url }));
      const databases = cleanup.use(await openDatabases({ url: environment.DATABASE_URL }));

      const caller = new Caller(environment.KEYROOT_ADMIN_TOKEN, paused.origin);
      const partner = await caller.createPartner();
      const records = [];
      for (let i = 0; i < 3; i++) {
        const [user, keys] = [await caller.createUser(partner), generateKeyPair()];
        await caller.registerKey(user, keys);
        records.push(makeKeyRecord(user.userID, keys.publicKey));
      }
      const publishAt = (origin: string) => {
        const token = environment.KEYROOT_ADMIN_TOKEN;
        return post(`${origin}/v1/admin/publishRegistered`, {}, { token });
      };
      const transactions = async () => Number(await call("eth_getTransactionCount", [owner, "latest"]));
      const before = await transactions();

      const first = publishAt(paused.origin);
      await endpoint.reached;
      paused.signal("SIGSTOP");
      // The lease expires now, instead of after 30 s.
      await databases.home.update(publisherLeases).set({ until: sql`clock_timestamp()` });
      // The other process takes the same request, because it has not ended.
      const other = cleanup.use(await startServiceProcess(environment));
      expect((await publishAt(other.origin)).status).to.equal(200);
      expect(await transactions()).to.equal(before + 1);
      const stored = await dump(databases.home);
      endpoint.release();
      paused.signal("SIGCONT");
      expect((await first).status).to.equal(200);
      expect(await transactions()).to.equal(before + 1);
      const now = await dump(databases.home);
      for (const table of ["attempts", "plans", "batches", "public_keys"])
        expect(now[table], table).to.deep.equal(stored[table]);
      expect((await verifyPublished(deployment, records)).findings).to.deep.equal([]);
    });
});
