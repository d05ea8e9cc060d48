import { expect } from "chai";
import { sql } from "drizzle-orm";
import { countShares } from "../../../packages/operator/src/service/store/batches.ts";
import { SERVICE } from "../../../packages/operator/src/service/store/changes.ts";
import { type Databases, openDatabases, rowsOf } from "../../../packages/operator/src/service/store/database.ts";
import { PublicKeyStore } from "../../../packages/operator/src/service/store/publicKeys.ts";
import { UserStore } from "../../../packages/operator/src/service/store/users.ts";
import { runAt } from "../../../fixtures/postgres/postgres.ts";
import { sampleRecords } from "../../../fixtures/samples.ts";
import { freshDatabaseUrl } from "../../support/service/support.ts";

const REGION = "us-west-2";
const PARTNERS = ["biz_one", "biz_two"];
const DAY = 24 * 3_600_000;

/** The sums again, from all batches. */
const EXPECTED = sql`
  select biz_id, coalesce(confirmed, created) / ${sql.raw(String(DAY))} * ${sql.raw(String(DAY))} as day, sum(users) as users,
    coalesce(sum(div(cost * users, greatest(added_count, users))), 0) as cost,
    sum(case when cost is null then users else 0 end) as unpriced
  from batch_shares join batches using (root) where block_number is not null
  group by 1, 2 order by 1, 2`;
const STORED = sql`select biz_id, day, users, cost, unpriced from published_days where users <> 0 order by 1, 2`;
/** As version 0.1 counts shares: without a lock on the batch. */
const OLD_COUNT = (root: string) => [
  sql`delete from batch_shares where root = ${root}`,
  sql`insert into batch_shares select root, users.biz_id, public_keys.region, count(*) from public_keys
    join users using (user_id) where root = ${root} group by 1, 2, 3`,
];

describe("the sums of published users and costs", () => {
  const records = sampleRecords(12);
  const roots = ["a", "b", "c"].map((digit) => digit.repeat(64));
  let databases: Databases;
  let keys: PublicKeyStore;

  beforeEach(async () => {
    const url = await freshDatabaseUrl();
    // Transactions of the version before may deadlock: one of both fails at once.
    await runAt(url, `ALTER DATABASE "${new URL(url).pathname.slice(1)}" SET deadlock_timeout = '10ms'`);
    databases = await openDatabases({ url });
    await databases.migrate();
    keys = new PublicKeyStore(databases);
    const users = new UserStore(databases, { bucketPrefix: "keyroot", stage: "test" });
    for (const [i, record] of records.entries()) {
      const user = { userID: record.userID, bizID: PARTNERS[i % 2] ?? "", region: REGION } as const;
      await users.create(user.bizID, user.userID, REGION, 1, SERVICE);
      const registration = { registered: 1, publishableAt: 1, possession: "proven" } as const;
      await keys.add(databases.home, user, record, registration, SERVICE);
    }
  });
  afterEach(() => databases[Symbol.asyncDispose]());

  const idsOf = (from: number, to: number) => records.slice(from, to).map(({ userID }) => userID);
  const publish = (root: string, userIDs: (typeof records)[number]["userID"][], now: number, gasUsed?: number) => {
    const found = { transactionHash: `0x${root}`, blockNumber: 7, gasUsed, gasPrice: 3n, addedCount: userIDs.length };
    return keys.markPublished(REGION, { root, userIDs, ...found }, now, SERVICE);
  };
  const read = async (query: typeof STORED) => rowsOf(await databases.home.execute(query));
  const expectExact = async () => {
    const stored = await read(STORED);
    expect(stored).to.deep.equal(await read(EXPECTED));
    return stored;
  };

  it("are filled by the migration from the batches that exist", async () => {
    const [first = "", second = "", third = ""] = roots;
    await publish(first, idsOf(0, 5), DAY, 1000);
    await publish(second, idsOf(5, 8), 2 * DAY + 1);
    await keys.markSubmitted(REGION, third, idsOf(8, 12), 3 * DAY);
    const before = await expectExact();
    expect(before).to.have.lengthOf(4);
    for (const statement of [
      "drop table published_days",
      "drop function count_published_batch, count_published_shares, published_day, published_cost cascade",
      "drop index batches_by_block, batches_by_time, pending_keys_by_time, publishable_keys",
      "delete from drizzle.__drizzle_migrations where created_at = (select max(created_at) from drizzle.__drizzle_migrations)",
    ])
      await databases.home.execute(statement);
    await databases.migrate();
    expect(await expectExact()).to.deep.equal(before);
  });

  it("are exact after concurrent publishing, reorganizations and counts, also by the version before", async () => {
    for (let round = 0; round < 6; round++) {
      await Promise.allSettled(
        roots.flatMap((root, i) => [
          publish(root, idsOf(i * 3, i * 3 + 3 + (round % 2)), DAY * (round + 1), round % 3 === 0 ? undefined : 1000),
          databases.home.transaction((transaction) => countShares(transaction, [root])),
          databases.home.transaction(async (transaction) => {
            for (const statement of OLD_COUNT(root)) await transaction.execute(statement);
          }),
          ...(round % 2 === 0 ? [] : [keys.markReorganized(REGION, root)]),
        ]),
      );
      await expectExact();
    }
    for (const [i, root] of roots.entries()) await publish(root, idsOf(i * 4, i * 4 + 4), 99 * DAY, 1000);
    expect((await expectExact()).reduce((total, { users }) => total + Number(users), 0)).to.equal(12);
  });

  it("do not count shares twice or never that are counted while their batch is confirmed", async () => {
    const [root = ""] = roots;
    await keys.markSubmitted(REGION, root, idsOf(0, 4), DAY);
    await databases.home.execute(sql`delete from batch_shares`);
    const [remove, insert] = OLD_COUNT(root);
    let confirmed: Promise<unknown> = Promise.resolve();
    let isConfirmed = false;
    await databases.home.transaction(async (transaction) => {
      if (remove !== undefined) await transaction.execute(remove);
      if (insert !== undefined) await transaction.execute(insert);
      // It waits for the end of this transaction.
      confirmed = databases.home.execute(sql`update batches set block_number = 7`).then(() => (isConfirmed = true));
      const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      while (!isConfirmed && rowsOf(await databases.home.execute(waiting)).length === 0);
    });
    await confirmed;
    expect(await expectExact()).to.have.lengthOf(2);
  });
});
