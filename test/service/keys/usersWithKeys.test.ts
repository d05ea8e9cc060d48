import { writeReport } from "../../../packages/service/src/publishing/publisherState.ts";
import { expect } from "chai";
import { eq, sql } from "drizzle-orm";
import { createHash } from "node:crypto";
import { generateKeyPair } from "../../../packages/keyroot/src/identity/newPublicKey.ts";
import { userIDFromHex } from "../../../packages/keyroot/src/identity/userID.ts";
import { rowsOf } from "../../../packages/service/src/api/database/database.ts";
import { publicKeys } from "../../../packages/service/src/keys/tables.ts";
import { expectProblem, pagesOf, type TestPartner, type TestUser } from "../../support/service/caller.ts";
import { signInPerson, type TestPerson } from "../../support/service/dashboardPerson.ts";
import { markPublished } from "../../support/service/markPublished.ts";
import { serviceOnPostgres } from "../../support/service/support.ts";

interface Listed {
  user_id: string;
  region: string;
  state: string;
  created: number;
  hold_ends_at: number | null;
  last_used: number | null;
}
interface Page {
  users: Listed[];
  next: string | null;
  total: number;
}

const PATH = "/v1/dashboard/users/list";
const HOUR = 3_600_000;

describe("the dashboard's list of users", () => {
  const service = serviceOnPostgres({ holdPeriodMs: HOUR, holdOnConflict: true });
  let partner: TestPartner;
  let person: TestPerson;
  const inState: Record<string, TestUser> = {};

  const list = async (body: object = {}) => (await person.call(PATH, body)).body as unknown as Page;
  const register = async (user: TestUser) =>
    expect((await service.registerKey(user, generateKeyPair())).status).to.be.oneOf([200, 409]);
  const addUser = async (state: string) => (inState[state] = await service.createUser(partner));

  before(async () => {
    partner = await service.createPartner("Acme");
    person = await signInPerson(service, partner.bizID, "Ada", { role: "reader" });
    await addUser("unregistered");
    await register(await addUser("waiting"));
    const undecided = await addUser("undecided");
    await register(undecided);
    await register(undecided);
    const published = await addUser("published");
    await register(published);
    await markPublished(service.databases, { root: "5d".repeat(32), userIDs: [published.userID] });
    for (const state of ["submitted", "ready", "blocked"]) await register(await addUser(state));
    const { regions } = service.databases;
    const set = (state: string, values: Partial<typeof publicKeys.$inferInsert>) =>
      regions["us-west-2"]
        .update(publicKeys)
        .set(values)
        .where(eq(publicKeys.userID, inState[state]?.userID ?? ""));
    await set("submitted", { submitted: service.now() });
    await set("ready", { holdEndsAt: service.now() });
    await set("blocked", { holdEndsAt: service.now() });
    const body = { user_id_hex: inState["blocked"]?.hex };
    await service.done("/v1/authdBizSrv/users/deactivate", body, { token: partner.jwt });
    // Otherwise, a timer stores the uses between two calls.
    await service.context.refreshTokens.storeUses();
    // No list contains the users of another partner.
    await service.createUser(await service.createPartner("Other"));
  });

  it("contains every user once with the state of the key", async () => {
    const { users, next } = await list();
    expect(next).to.equal(null);
    expect(users.map(({ user_id }) => user_id)).to.have.members(Object.values(inState).map(({ userID }) => userID));
    expect(Object.fromEntries(users.map(({ user_id, state }) => [user_id, state]))).to.deep.equal(
      Object.fromEntries(Object.entries(inState).map(([state, { userID }]) => [userID, state])),
    );
    for (const { state, hold_ends_at } of users) expect(hold_ends_at !== null, state).to.equal(state === "waiting");
  });

  for (const state of ["unregistered", "waiting", "undecided", "ready", "blocked", "submitted", "published"]) {
    it(`contains only users whose key is ${state} if the request has this filter`, async () => {
      const { users, next } = await list({ state });
      expect(users.map(({ user_id }) => user_id)).to.deep.equal([inState[state]?.userID]);
      expect(next).to.equal(null);
    });
  }

  it("contains only users of one region if the request has this filter", async () => {
    expect((await list({ region: "eu-west-1" })).users).to.deep.equal([]);
    expect((await list({ region: "us-west-2" })).users).to.have.length(7);
  });

  it("continues each page after the last user of the previous page", async () => {
    const all = (await list()).users;
    for (const filter of [{}, { region: "us-west-2" }]) {
      const paged: Listed[] = [];
      for await (const { users } of pagesOf((after) => list({ ...filter, limit: 2, ...after }))) {
        expect(users.length).to.be.at.most(2);
        paged.push(...users);
      }
      expect(paged).to.deep.equal(all);
    }
  });

  it("begins with the newest user, and counts all users", async () => {
    const { users } = await list({ region: "us-west-2" });
    const times = users.map(({ created }) => created);
    expect(times).to.deep.equal(times.toSorted((a, b) => b - a));
    expect((await list({ state: "waiting" })).total).to.equal(7);
  });

  it("contains only users whose ids begin with a prefix, in the order of ids", async () => {
    const ids = Object.values(inState).map(({ userID }) => userID);
    for (const length of [1, 2, 32]) {
      const prefix = ids[0]?.slice(0, length) ?? "";
      const { users } = await list({ prefix });
      expect(users.map(({ user_id }) => user_id)).to.deep.equal(ids.filter((id) => id.startsWith(prefix)).sort());
      expect((await list({ prefix, state: "published" })).users.length).to.be.at.most(1);
    }
    expectProblem(await person.call(PATH, { prefix: "l" }), [400, "FIELD_INVALID"]);
  });

  it("contains the hour in which a user's token was last used", async () => {
    const user = inState["waiting"];
    const { context } = service;
    await context.refreshTokens.storeUses();
    const { users } = await list({ state: "waiting" });
    const { last_used } = users[0] ?? {};
    expect(user).to.not.equal(undefined);
    expect(last_used).to.be.a("number");
    expect(Number(last_used) % HOUR).to.equal(0);
  });

  it("omits erased users", async () => {
    const { hex, userID } = await service.createUser(partner);
    await service.done("/v1/authdBizSrv/users/erase", { user_id_hex: hex }, { token: partner.jwt });
    expect((await list()).users.map(({ user_id }) => user_id)).to.not.include(userID);
  });

  it("rejects an unknown state", async () => {
    expectProblem(await person.call(PATH, { state: "lost" }), [400, "FIELD_INVALID"]);
  });
});

describe("a large company's list of users", () => {
  const USERS = 30_000;
  /** The positions of the users without a key. */
  const UNREGISTERED = [9_000, 25_000, 29_999];
  const service = serviceOnPostgres({});
  let person: TestPerson;
  let bizID: string;
  let all: string[];

  before(async () => {
    ({ bizID } = await service.createPartner("Acme"));
    person = await signInPerson(service, bizID, "Ada", { role: "reader" });
    all = Array.from({ length: USERS }, (_, i) =>
      userIDFromHex(createHash("sha1").update(String(i)).digest("hex")),
    ).sort();
    const { home, regions } = service.databases;
    const west = regions["us-west-2"];
    const values = sql`unnest(${sql.param(all)}::text[]) with ordinality as u(id, place)`;
    await home.execute(sql`insert into user_ids select id, ${bizID}, 'us-west-2' from ${values}`);
    await west.execute(sql`insert into users select id, ${bizID}, 'us-west-2', id, id, 1 from ${values}`);
    await west.execute(sql`insert into batches (root, created, block_number) values ('5d', 1, 7)`);
    await west.execute(sql`insert into public_keys (user_id, region, pub_key, key_id, registered, root, biz_id)
      select id, 'us-west-2', '', '', 1, '5d', ${bizID} from ${values} where place - 1 <> all(${sql.param(UNREGISTERED)}::int[])`);
    for (const database of new Set([home, west])) await database.execute(sql`analyze`);
  });

  it("contains all matching users after one request", async () => {
    const { body } = await person.call(PATH, { state: "unregistered" });
    const { users, next } = body as unknown as Page;
    expect(users.map(({ user_id }) => user_id)).to.deep.equal(UNREGISTERED.map((place) => all[place]));
    expect(next).to.equal(null);
  });

  it("has no empty page at its end", async () => {
    const last = all.slice(-4, -2).at(-1) ?? "";
    const { body } = await person.call(PATH, { state: "published", after: last, limit: 1 });
    expect(body).to.deep.include({ next: null }).and.have.property("users").with.length(1);
  });

  for (const [what, query, index] of [
    ["a user by id", sql`select * from users where user_id = 'y'`, "users_pkey"],
    ["a user's key", sql`select * from public_keys where user_id = 'y'`, "public_keys_pkey"],
    [
      "a page of users",
      sql`select user_id, region from user_ids where biz_id = 'b' and user_id > 'y' order by user_id limit 26`,
      "user_ids_of_partner",
    ],
    [
      "the newest users",
      sql`select user_id from users where biz_id = 'b' and erased is null and (created, user_id) < (9, 'y') order by created desc, user_id desc limit 26`,
      "users_by_time",
    ],
    [
      "users by the beginning of the id",
      sql`select user_id from user_ids where biz_id = 'b' and user_id between 'y' and 'yz' order by user_id limit 26`,
      "user_ids_of_partner",
    ],
  ] as const) {
    it(`reads ${what} by an index`, async () => {
      const plan = rowsOf(await service.databases.regions["us-west-2"].execute(sql`explain (format json) ${query}`));
      expect(JSON.stringify(plan))
        .to.include(index)
        .and.not.match(/Sort|Seq Scan/);
    });
  }
});

describe("the dashboard's overview", () => {
  const registry = { chainId: 5, contract: `0x${"5f".repeat(20)}` };
  const service = serviceOnPostgres({ holdPeriodMs: HOUR, registry });

  it("shows the partner's numbers without the operator's values", async () => {
    const partner = await service.createPartner("Acme");
    const person = await signInPerson(service, partner.bizID, "Ada", { role: "reader" });
    const user = await service.createUser(partner);
    await service.createUser(await service.createPartner("Other"));
    await service.registerKey(user, generateKeyPair());
    const chain = { chain_id: 5, contract: registry.contract, error: null };
    const state = { block: 7, owner: `0x${"f3".repeat(20)}`, balance: "1", fee: "1" };
    const stores = [{ region: "us-west-2" as const, location: "s3://secret", error: null }];
    await writeReport(service.databases.home, { chain: { ...chain, state }, stores, every: null });
    const { body } = await person.call("/v1/dashboard/overview/get");
    expect(body).to.deep.equal({
      ...{ users: 1, published: 0, pending: { waiting: 1, undecided: 0, ready: 0 } },
      ...{ cost: "0", unpriced: 0, failing_webhooks: [], last_published: null },
      chain: { chain_id: 5, contract: `0x${"5f".repeat(20)}`, key_type: "curve41417", block: 7, stores_answer: true },
    });
  });
});
