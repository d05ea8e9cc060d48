import { expect } from "chai";
import { sql } from "drizzle-orm";
import { countShares } from "../../../packages/service/src/publishing/batches.ts";
import { type Databases, openDatabases, rowsOf } from "../../../packages/service/src/api/database/database.ts";
import { PublicationStore } from "../../../packages/service/src/publishing/publications.ts";
import { runAt } from "../../support/postgres/postgres.ts";
import { sampleRecords } from "../../support/samples.ts";
import { markPublished } from "../../support/service/markPublished.ts";
import { registerKeys } from "../../support/service/registerKeys.ts";
import { migratedDatabaseUrl } from "../../support/service/support.ts";

const REGION = "us-west-2";
const PARTNERS = ["biz_one", "biz_two"];
const DAY = 24 * 3_600_000;

/** SQL that calculates the sums again from all batches. */
const EXPECTED = sql`
  select biz_id, coalesce(confirmed, created) / ${sql.raw(String(DAY))} * ${sql.raw(String(DAY))} as day, sum(users) as users,
    coalesce(sum(div(cost * users, greatest(added_count, users))), 0) as cost,
    sum(case when cost is null then users else 0 end) as unpriced
  from batch_shares join batches using (root) where block_number is not null
  group by 1, 2 order by 1, 2`;
const STORED = sql`select biz_id, day, users, cost, unpriced from published_days where users <> 0 order by 1, 2`;
/** SQL that counts shares without locking the batch, as another program might. */
const UNLOCKED_COUNT = (root: string) => [
  sql`delete from batch_shares where root = ${root}`,
  sql`insert into batch_shares select root, biz_id, region, count(*) from public_keys
    where root = ${root} group by 1, 2, 3`,
];

describe("the daily sums of published users and costs", () => {
  const records = sampleRecords(12);
  const roots = ["a", "b", "c"].map((digit) => digit.repeat(64));
  let databases: Databases;
  let publications: PublicationStore;

  beforeEach(async () => {
    const url = await migratedDatabaseUrl();
    // Transactions without this lock may deadlock. In that case, one of them should fail quickly.
    await runAt(url, `ALTER DATABASE "${new URL(url).pathname.slice(1)}" SET deadlock_timeout = '10ms'`);
    databases = await openDatabases({ url });
    publications = new PublicationStore(databases);
    await registerKeys(databases, records, (i) => ({ bizID: PARTNERS[i % 2] ?? "", region: REGION }));
  });
  afterEach(() => databases[Symbol.asyncDispose]());

  const idsOf = (from: number, to: number) => records.slice(from, to).map(({ userID }) => userID);
  const publish = (root: string, userIDs: (typeof records)[number]["userID"][], at: number, gasUsed?: number) =>
    markPublished(databases, {
      ...{ root, userIDs, at, gasPrice: 3n, addedCount: userIDs.length },
      ...(gasUsed !== undefined && { gasUsed }),
    });
  const read = async (query: typeof STORED) => rowsOf(await databases.home.execute(query));
  const expectExact = async () => {
    const stored = await read(STORED);
    expect(stored).to.deep.equal(await read(EXPECTED));
    return stored;
  };

  it("are exact after concurrent publishing, reorganizations and counts", async () => {
    for (let round = 0; round < 6; round++) {
      await Promise.allSettled(
        roots.flatMap((root, i) => [
          publish(root, idsOf(i * 3, i * 3 + 3 + (round % 2)), DAY * (round + 1), round % 3 === 0 ? undefined : 1000),
          databases.home.transaction((transaction) => countShares(transaction, [root])),
          databases.home.transaction(async (transaction) => {
            for (const statement of UNLOCKED_COUNT(root)) await transaction.execute(statement);
          }),
          ...(round % 2 === 0 ? [] : [publications.markLost(REGION, root, idsOf(i * 3, i * 3 + 3), DAY)]),
        ]),
      );
      await expectExact();
    }
    for (const [i, root] of roots.entries()) await publish(root, idsOf(i * 4, i * 4 + 4), 99 * DAY, 1000);
    expect((await expectExact()).reduce((total, { users }) => total + Number(users), 0)).to.equal(12);
  });

  it("count each share once if its batch is confirmed at the same time", async () => {
    const [root = ""] = roots;
    await publications.markSubmitted(REGION, root, idsOf(0, 4), DAY);
    await databases.home.execute(sql`delete from batch_shares`);
    const [remove, insert] = UNLOCKED_COUNT(root);
    let confirmed: Promise<unknown> = Promise.resolve();
    let isConfirmed = false;
    await databases.home.transaction(async (transaction) => {
      if (remove !== undefined) await transaction.execute(remove);
      if (insert !== undefined) await transaction.execute(insert);
      // The statement waits for the end of this transaction.
      confirmed = databases.home.execute(sql`update batches set block_number = 7`).then(() => (isConfirmed = true));
      const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      while (!isConfirmed && rowsOf(await databases.home.execute(waiting)).length === 0);
    });
    await confirmed;
    expect(await expectExact()).to.have.lengthOf(2);
  });
});
