import { expect } from "chai";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { toServiceError } from "../../../packages/service/src/api/problem.ts";
import type { Databases } from "../../../packages/service/src/api/database/database.ts";
import { type Fenced, withLease } from "../../../packages/service/src/publishing/lease.ts";
import { attempts, publisherLeases } from "../../../packages/service/src/publishing/tables.ts";
import { failure, never } from "../../support/support.ts";
import { freshDatabases } from "../../support/service/support.ts";

describe("the publisher's lease", () => {
  let databases: Databases;
  beforeEach(async () => {
    databases = await freshDatabases();
  });
  afterEach(() => databases[Symbol.asyncDispose]());

  const hold = async (seconds?: number) => {
    let release: () => void = () => undefined;
    const holding = Promise.withResolvers<Fenced>();
    const ended = withLease(
      databases.home,
      async (fenced) => {
        holding.resolve(fenced);
        await new Promise<void>((resolve) => (release = resolve));
      },
      seconds,
    );
    ended.catch(holding.reject);
    return { fenced: await holding.promise, release: () => (release(), ended) };
  };

  it("is held by one publisher at a time", async () => {
    const first = await hold();
    const error = await failure(hold());
    expect(error).to.include({ code: "PUBLISHER_RUNNING" });
    // POST /v1/admin/publishRegistered responds in this way.
    expect(toServiceError(error)).to.include({ status: 409, code: "PUBLISHER_RUNNING" });
    await first.release();
    await (await hold()).release();
  });

  it("is renewed while its holder works", async () => {
    const first = await hold(6);
    const until = async () => (await databases.home.select().from(publisherLeases))[0]?.until.getTime() ?? never();
    const before = await until();
    while ((await until()) === before) await sleep(20);
    expect(await failure(hold(6))).to.include({ code: "PUBLISHER_RUNNING" });
    await first.release();
  });

  it("prevents writes by the old holder after the lease expired", async () => {
    const first = await hold(-1);
    const second = await hold();
    const write = (fenced: Fenced) =>
      fenced((transaction) => transaction.insert(attempts).values({ region: "us-west-2", attempt: "{}" }));
    expect(await failure(write(first.fenced))).to.include({ code: "PUBLISHER_RUNNING" });
    await write(second.fenced);
    expect(await databases.home.select().from(attempts)).to.have.lengthOf(1);
    await second.release();
    await first.release();
  });

  it("prevents writes by the old holder after the database was restored", async () => {
    const lease = await hold();
    // The row is as in a backup from before the lease was taken.
    await databases.home.update(publisherLeases).set({ fence: 0, holder: randomUUID(), until: new Date(0) });
    const next = await hold();
    const [{ fence } = never()] = await databases.home.select().from(publisherLeases);
    expect(fence).to.equal(1);
    const write = (fenced: Fenced) =>
      fenced((transaction) => transaction.insert(attempts).values({ region: "us-west-2", attempt: "{}" }));
    expect(await failure(write(lease.fenced))).to.include({ code: "PUBLISHER_RUNNING" });
    await write(next.fenced);
    await lease.release();
    await write(next.fenced);
    await next.release();
  });
});
