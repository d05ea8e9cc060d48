import { expect } from "chai";
import { randomBytes } from "node:crypto";
import { generateKeyPair } from "../../../packages/keyroot/src/identity/newPublicKey.ts";
import type { TestPartner, TestUser } from "../../support/service/caller.ts";
import { signInPerson } from "../../support/service/dashboardPerson.ts";
import { markPublished } from "../../support/service/markPublished.ts";
import { describeOnEachDatabase } from "../../support/service/support.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const GWEI = 10n ** 9n;

interface Batch {
  root: string;
  users: number;
  state: string;
  gas: number | null;
  cost: string | null;
}

describeOnEachDatabase("the dashboard's publishing operations", (service) => {
  const rootOf = (digit: number) => digit.toString(16).repeat(64).slice(0, 64);
  const addUsers = async (partner: TestPartner, count: number): Promise<TestUser[]> => {
    const users = await Promise.all(Array.from({ length: count }, () => service.createUser(partner)));
    for (const user of users) expect((await service.registerKey(user, generateKeyPair())).status).to.equal(200);
    return users;
  };
  const idsOf = (users: readonly TestUser[]) => users.map(({ userID }) => userID);
  /** Records a confirmed transaction of 100,000 gas at 3 gwei. */
  const publish = (root: string, users: readonly TestUser[]) => {
    const receipt = { gasUsed: 100_000, gasPrice: 3n * GWEI, addedCount: users.length };
    return markPublished(service.databases, { root, userIDs: idsOf(users), ...receipt, at: service.now() });
  };
  const staffOf = async (name: string) => {
    const partner = await service.createPartner(name);
    const { call } = await signInPerson(service, partner.bizID, "Pat");
    const list = async (body = {}) =>
      (await call("/v1/dashboard/publishing/listBatches", body)).body as { batches: Batch[]; next: string | null };
    const get = async () =>
      (await call("/v1/dashboard/publishing/get")).body as {
        days: { day: number; users: number; cost: string; unpriced: number }[];
        pending: Record<string, number>;
      };
    return { partner, call, list, get };
  };

  it("show each partner only its own share of a batch's cost", async () => {
    const [one, two] = [await staffOf("One"), await staffOf("Two")];
    const [first, second] = [await addUsers(one.partner, 2), await addUsers(two.partner, 1)];
    const root = rootOf(1);
    await publish(root, [...first, ...second]);
    expect((await one.list()).batches[0]).to.include({ root, users: 2, state: "published", gas: 66_666 });
    expect((await two.list()).batches[0]).to.include({ root, users: 1, gas: 33_333 });
    expect((await one.list()).batches[0]?.cost).to.equal(String((100_000n * 3n * GWEI * 2n) / 3n));
    const days = (await two.get()).days;
    expect(days).to.have.length(1);
    expect(days[0]).to.include({ users: 1, cost: String((100_000n * 3n * GWEI) / 3n), unpriced: 0 });
    for (const path of ["get", "listBatches"]) {
      const { text } = await two.call(`/v1/dashboard/publishing/${path}`);
      for (const secret of [...idsOf(first), one.partner.bizID]) expect(text).to.not.contain(secret);
    }
    const bystander = await staffOf("Bystander");
    expect(await bystander.list()).to.deep.equal({ batches: [], next: null });
    expect(await bystander.get()).to.deep.equal({ days: [], pending: { waiting: 0, undecided: 0, ready: 0 } });
  });

  it("show an unconfirmed batch without gas and cost", async () => {
    const own = await staffOf("Reorganized");
    const users = await addUsers(own.partner, 1);
    const root = rootOf(2);
    await service.publications.markSubmitted("us-west-2", root, idsOf(users), service.context.now());
    const submitted = { root, users: 1, state: "submitted", gas: null, cost: null };
    expect((await own.list()).batches[0]).to.include(submitted);
    expect((await own.get()).days).to.deep.equal([]);
    await publish(root, users);
    expect((await own.list()).batches[0]).to.include({ state: "published", gas: 100_000 });
    expect((await own.get()).days.map(({ users: count }) => count)).to.deep.equal([1]);
    await service.publications.markLost("us-west-2", root, idsOf(users), service.context.now());
    expect((await own.list()).batches[0]).to.include(submitted);
    expect((await own.get()).days).to.deep.equal([]);
  });

  it("count a user only in the batch that gave the user a root", async () => {
    const own = await staffOf("Overtaken");
    const users = await addUsers(own.partner, 2);
    await service.publications.markSubmitted("us-west-2", rootOf(3), idsOf(users), service.context.now());
    await publish(rootOf(4), users.slice(0, 1));
    const counts = new Map((await own.list()).batches.map(({ root, users: count }) => [root, count]));
    expect(counts).to.deep.equal(
      new Map([
        [rootOf(4), 1],
        [rootOf(3), 1],
      ]),
    );
    expect((await own.get()).days.map(({ users: count }) => count)).to.deep.equal([1]);
    // The same users get another root. Each user counts in only one batch.
    await publish(rootOf(11), users);
    expect((await own.get()).days.map(({ users: count }) => count)).to.deep.equal([2]);
  });

  it("list the batches in pages, newest first", async () => {
    const own = await staffOf("Paged");
    const users = await addUsers(own.partner, 3);
    for (const [i, user] of users.entries()) {
      service.ahead = i * HOUR;
      await publish(rootOf(5 + i), [user]);
    }
    service.ahead = 0;
    const first = await own.list({ limit: 2 });
    expect(first.batches.map(({ root }) => root)).to.deep.equal([rootOf(7), rootOf(6)]);
    const rest = await own.list({ limit: 2, after: first.next });
    expect(rest.batches.map(({ root }) => root)).to.deep.equal([rootOf(5)]);
    expect(rest.next).to.equal(null);
    for (const after of [
      "",
      "x",
      `1.${rootOf(5)}`,
      `1.${rootOf(5)}.us' or '1`,
      `${"9".repeat(30)}.${rootOf(5)}.us-west-2`,
    ])
      expect((await own.call("/v1/dashboard/publishing/listBatches", { after })).status, after).to.equal(400);
  });

  it("add up users and costs by day", async () => {
    const own = await staffOf("Daily");
    const users = await addUsers(own.partner, 3);
    await publish(rootOf(8), users.slice(0, 2));
    service.ahead = DAY;
    await publish(rootOf(9), users.slice(2));
    service.ahead = 0;
    const { days } = await own.get();
    expect(days.map(({ users: count }) => count)).to.deep.equal([2, 1]);
    expect((days[1]?.day ?? 0) - (days[0]?.day ?? 0)).to.equal(DAY);
    expect((days[0]?.day ?? 1) % DAY).to.equal(0);
    // Another publisher's transaction with an unknown cost gave this root to the first two users. It is random, because
    // other tests use the same database.
    const root = randomBytes(32).toString("hex");
    await markPublished(service.databases, { root, userIDs: idsOf(users.slice(0, 2)), at: service.now() });
    expect((await own.get()).days).to.deep.equal([{ ...days[0], cost: "0", unpriced: 2 }, days[1]]);
  });

  it("count pending keys until they are in a batch", async () => {
    const own = await staffOf("Pending");
    const users = await addUsers(own.partner, 2);
    expect((await own.get()).pending).to.deep.equal({ waiting: 0, undecided: 0, ready: 2 });
    await publish(rootOf(10), users);
    expect((await own.get()).pending).to.deep.equal({ waiting: 0, undecided: 0, ready: 0 });
  });
});
