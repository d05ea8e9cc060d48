import { expect } from "chai";
import fc from "fast-check";
import { type Databases, openDatabases, rowsOf } from "../../../../packages/service/src/api/database/database.ts";
import { RequestCounts } from "../../../../packages/service/src/api/limits/requestCounts.ts";
import { migratedDatabaseUrl } from "../../../support/service/support.ts";
import { never } from "../../../support/support.ts";

describe("RequestCounts", () => {
  let replicas: Databases[];
  let counts: RequestCounts[];
  before(async () => {
    const url = await migratedDatabaseUrl();
    replicas = await Promise.all([1, 2].map(() => openDatabases({ url, connections: 4 })));
  });
  beforeEach(() => {
    counts = replicas.map(({ home }) => new RequestCounts(home));
  });
  after(() => Promise.all(replicas.map((databases) => databases[Symbol.asyncDispose]())));

  const home = () => (replicas[0] ?? never()).home;
  const of = (replica: number) => counts[replica] ?? never();
  const requestsOf = async (name: string) => (await of(0).get(name)).requests;

  it("counts each concurrent request exactly once across replicas", async () => {
    const places = await Promise.all(Array.from({ length: 200 }, (_, i) => of(i % 2).add("caller:a", 1)));
    const sorted = places.map(({ requests }) => requests).toSorted((a, b) => a - b);
    expect(sorted).to.deep.equal(Array.from({ length: 200 }, (_, i) => i + 1));
    for (const { endsInMs } of places) expect(endsInMs).to.be.within(1, 60_000);
  });

  it("counts each name separately within one statement", async () => {
    const name = fc.constantFrom("caller:b", "caller:c", "address:b", "caller:'; --");
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(name, fc.integer({ min: 1, max: 5 })), { maxLength: 20 }),
        async (additions) => {
          await home().execute("delete from rate_limits");
          const sums = new Map<string, number>();
          const expected = additions.map(([name, requests]) => {
            sums.set(name, (sums.get(name) ?? 0) + requests);
            return sums.get(name);
          });
          const found = await Promise.all(additions.map(([name, requests]) => of(0).add(name, requests)));
          expect(found.map(({ requests }) => requests)).to.deep.equal(expected);
        },
      ),
      { numRuns: 20 },
    );
  });

  it("restarts after a minute of the database's clock", async () => {
    await of(0).add("caller:d", 7);
    expect(await requestsOf("caller:d")).to.equal(7);
    await home().execute("update rate_limits set expire = clock_timestamp() - interval '1 ms'");
    expect(await requestsOf("caller:d")).to.equal(0);
    const again = await of(1).add("caller:d", 2);
    expect(again.requests).to.equal(2);
    expect(again.endsInMs).to.be.above(50_000);
  });

  it("subtracts requests of the current minute", async () => {
    await of(0).add("caller:e", 5);
    await of(1).takeBack("caller:e", 3);
    expect(await requestsOf("caller:e")).to.equal(2);
    await of(0).takeBack("caller:e", 9);
    expect((await of(0).add("caller:e", 1)).requests).to.equal(1);
    await home().execute("update rate_limits set expire = clock_timestamp() - interval '1 ms'");
    await of(0).takeBack("caller:e", 3);
    expect((await of(0).add("caller:e", 1)).requests).to.equal(1);
  });

  it("deletes counts of past minutes", async () => {
    for (const name of ["caller:f", "caller:g"]) await of(0).add(name, 1);
    await home().execute("update rate_limits set expire = clock_timestamp() - interval '2 minutes'");
    const left = () => home().execute("select key from rate_limits");
    const ended = Promise.withResolvers<undefined>();
    const locked = Promise.withResolvers<undefined>();
    const counting = home().transaction(async (transaction) => {
      await transaction.execute("select from rate_limits where key = 'caller:f' for update");
      locked.resolve(undefined);
      await ended.promise;
    });
    await locked.promise;
    await of(1).dropExpired();
    expect(rowsOf(await left())).to.deep.equal([{ key: "caller:f" }]);
    ended.resolve(undefined);
    await counting;
    await of(1).dropExpired();
    expect(rowsOf(await left())).to.deep.equal([]);
  });
});
