import { expect } from "chai";
import { sql } from "drizzle-orm";
import fc from "fast-check";
import { recordChanges } from "../../../packages/service/src/auditLog/recordChange.ts";
import { SERVICE } from "../../../packages/service/src/api/base/author.ts";
import { encodeCursor } from "../../../packages/service/src/api/database/cursor.ts";
import { type Database, rowsOf } from "../../../packages/service/src/api/database/database.ts";
import { expectProblem, pagesOf, type TestPartner, type TestUser } from "../../support/service/caller.ts";
import { signInPerson } from "../../support/service/dashboardPerson.ts";
import {
  ADMIN_TOKEN,
  describeOnEachDatabase,
  serviceOnPostgres,
  serviceWithRegions,
  type TestService,
} from "../../support/service/support.ts";

const PARTNER_PATH = "/v1/authdBizSrv/audit/list";
const OPERATOR_PATH = "/v1/admin/audit/list";

interface Entry {
  id: string;
  at: number;
  action: string;
  actor: { kind: string; id: string | null; name: string | null; token_id: string | null };
  biz_id: string | null;
  user_id: string | null;
  data: Record<string, unknown>;
  request_id: string | null;
  address: string | null;
}

/** Returns all pages of a list. */
async function listAll(service: TestService, path: string, token: string, body: object = {}): Promise<Entry[]> {
  const listed: Entry[] = [];
  for await (const page of pagesOf((after) => service.done(path, { ...body, ...after }, { token })))
    listed.push(...(page["entries"] as Entry[]));
  return listed;
}

const ofOperator = (service: TestService, body: object) => listAll(service, OPERATOR_PATH, ADMIN_TOKEN, body);

/** Adds entries with these times about a partner that does not exist. */
function addEntries(database: Database, bizID: string, times: readonly number[]): Promise<void> {
  const changes = times.map(
    (at) => ({ action: "partner.limited", at, partner: bizID, data: { user_limit: at } }) as const,
  );
  return recordChanges(database, SERVICE, changes);
}

const countEntries = async (database: Database, bizID: string) => {
  const query = sql`select count(*)::int as entries from audit_entries where biz_id = ${bizID}`;
  return rowsOf(await database.execute(query))[0]?.["entries"];
};

describeOnEachDatabase("audit log lists", (service) => {
  let partner: TestPartner;
  let user: TestUser;
  before(async () => {
    partner = await service.createPartner();
    user = await service.createUser(partner);
    await signInPerson(service, partner.bizID, "Ada");
    await service.admin("/v1/admin/partners/setUserLimit", { biz_id: partner.bizID, user_limit: 5 });
  });
  const ofPartner = (body: object = {}) => listAll(service, PARTNER_PATH, partner.jwt, body);
  const ofPartnerForOperator = (body: object = {}) => ofOperator(service, { biz_id: partner.bizID, ...body });

  it("contain the author, change, time and request of each entry", async () => {
    const entries = await ofPartnerForOperator();
    expect(entries.map(({ action, actor }) => [action, actor.kind])).to.deep.equal([
      ["partner.limited", "operator"],
      // The test itself adds this entry without a request.
      ["passkey.added", "service"],
      ["session.started", "person"],
      ["person.invited", "operator"],
      ["refreshToken.created", "partner"],
      ["user.created", "partner"],
      ["serverToken.created", "operator"],
      ["partner.created", "operator"],
    ]);
    const created = entries.find(({ action }) => action === "user.created");
    expect(created).to.deep.include({
      actor: { kind: "partner", id: partner.tokenID, name: null, token_id: partner.tokenID },
      ...{ biz_id: partner.bizID, user_id: user.userID, data: { region: "us-west-2" }, address: "127.0.0.1" },
    });
    expect(created?.at).to.be.closeTo(Date.now(), 60_000);
    expect(created?.request_id).to.match(/^[0-9a-f-]{36}$/);
    const person = entries.find(({ actor }) => actor.kind === "person");
    expect(person?.actor.name).to.equal("Ada");
  });

  it("show partners only their own entries", async () => {
    const [own, whole] = [await ofPartner(), await ofPartnerForOperator()];
    expect(own).to.deep.equal(
      whole.map((entry) => (entry.actor.kind === "operator" ? { ...entry, address: null } : entry)),
    );
    expect(whole.find(({ actor }) => actor.kind === "operator")?.address).to.equal("127.0.0.1");
    const other = await service.createPartner();
    const foreign = await listAll(service, PARTNER_PATH, other.jwt);
    expect(foreign.map(({ biz_id }) => biz_id)).to.deep.equal([other.bizID, other.bizID]);
    expect(await listAll(service, PARTNER_PATH, other.jwt, { user_id_hex: user.hex })).to.deep.equal([]);
  });

  it("do not show the operator's staff to partners", async () => {
    const { bizID, jwt } = await service.createPartner();
    const { personID } = await signInPerson(service, null, "Olga Operator");
    const actor = { kind: "person", partner: null, person: personID, name: "Olga Operator" } as const;
    const author = { actor, requestID: "r", address: "192.0.2.7" };
    await service.context.partners.setUserLimit(bizID, 5, Date.now(), author);
    const [entry] = await listAll(service, PARTNER_PATH, jwt, { action: "partner.limited" });
    expect(entry?.actor).to.deep.equal({ kind: "operator", id: null, name: null, token_id: null });
    expect(JSON.stringify(entry)).not.to.match(/Olga|192\.0\.2\.7/);
    const [whole] = await ofOperator(service, { biz_id: bizID, action: "partner.limited" });
    expect(whole).to.deep.include({ actor: { kind: "person", id: personID, name: "Olga Operator", token_id: null } });
    expect(whole?.address).to.equal("192.0.2.7");
  });

  it("contain every entry once, with any page size", async () => {
    const all = await ofPartner();
    for (const limit of [1, 2, 3, all.length]) expect(await ofPartner({ limit })).to.deep.equal(all);
  });

  it("contain the entries of an erased user", async () => {
    const erased = await service.createUser(partner);
    await service.done("/v1/authdBizSrv/users/erase", { user_id_hex: erased.hex }, { token: partner.jwt });
    const entries = await ofPartner({ user_id_hex: erased.hex });
    expect(entries.map(({ action }) => action)).to.deep.equal(["user.erased", "refreshToken.created", "user.created"]);
  });

  it("contain exactly the matching entries, with any filters and page size", async () => {
    const all = await ofPartner();
    const times = all.flatMap(({ at }) => [at, at + 1]);
    const some = <T>(...values: T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
    const filters = fc.record({
      action: some(...all.map(({ action }) => action), "key.published"),
      actor_kind: some("service", "operator", "person", "partner", "user"),
      actor_id: some(partner.tokenID, ...all.flatMap(({ actor }) => actor.id ?? []), "none"),
      user_id_hex: some(user.hex, "0".repeat(40)),
      since: some(0, ...times),
      until: some(0, ...times, Number.MAX_SAFE_INTEGER),
      limit: fc.integer({ min: 1, max: 10 }),
    });
    const property = fc.asyncProperty(filters, async (filter) => {
      const { action, actor_kind, actor_id, user_id_hex, since = 0, until = Infinity } = filter;
      const expected = all.filter(
        ({ at, actor, user_id, ...entry }) =>
          (action === undefined || entry.action === action) &&
          (actor_kind === undefined || actor.kind === actor_kind) &&
          (actor_id === undefined || actor.id === actor_id) &&
          (user_id_hex === undefined || user_id === (user_id_hex === user.hex ? user.userID : "")) &&
          at >= since &&
          at < until,
      );
      const defined = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
      expect(await ofPartner(defined)).to.deep.equal(expected);
    });
    await fc.assert(property, { numRuns: 60 });
  });

  it("reject unknown actions and invalid cursors", async () => {
    for (const body of [
      { action: "user.crated" },
      { actor_kind: "admin" },
      { after: "e30" },
      { after: encodeCursor({ at: 1, place: "elsewhere", position: 1 }) },
      { after: encodeCursor({ at: 1.5, place: "home", position: 1 }) },
      { after: encodeCursor({ seen: 1, read: {} }) },
    ])
      expectProblem(await service.post(PARTNER_PATH, body, { token: partner.jwt }), [400, "FIELD_INVALID"]);
  });

  it("name the valid actions in the error", async () => {
    const { body } = await service.post(PARTNER_PATH, { action: "user.crated" }, { token: partner.jwt });
    expect(body["detail"]).to.include("action must be one of partner.created,").and.include(" user.created,");
  });

  it("respond without an internal error to any cursor", async () => {
    const number = fc.oneof(fc.maxSafeInteger(), fc.constantFrom(0, 2 ** 53 - 1, 0.5));
    const cursor = fc.record({
      at: number,
      place: fc.constantFrom("home", "us-west-2", "eu-west-1", ""),
      position: number,
    });
    const property = fc.asyncProperty(fc.oneof(cursor, fc.jsonValue()), async (position) => {
      const after = encodeCursor(position as object).slice(0, 1000);
      const answer = await service.post(PARTNER_PATH, { after }, { token: partner.jwt });
      if (answer.status !== 200) expectProblem(answer, [400, "FIELD_INVALID"]);
      else for (const { biz_id } of answer.body["entries"] as Entry[]) expect(biz_id).to.equal(partner.bizID);
    });
    await fc.assert(property, { numRuns: 100 });
  });

  describe("audit log retention", () => {
    it("deletes exactly the entries before a time", async () => {
      const { home } = service.databases;
      const times = Array.from({ length: 12_000 }, (_, i) => i + 1);
      await addEntries(home, "biz_old", times);
      const others = await ofPartner();
      await Promise.all([service.context.auditLog.drop(11_001), service.context.auditLog.drop(11_001)]);
      expect(await countEntries(home, "biz_old")).to.equal(1000);
      expect((await ofOperator(service, { biz_id: "biz_old", limit: 1000 })).at(-1)?.at).to.equal(11_001);
      expect(await ofPartner()).to.deep.equal(others);
    });

    it("stops when the service stops", async () => {
      const { home } = service.databases;
      await addEntries(home, "biz_stopped", [1, 2]);
      await service.context.auditLog.drop(10, AbortSignal.abort());
      expect(await countEntries(home, "biz_stopped")).to.equal(2);
    });
  });
});

describe("IP addresses in the audit log", () => {
  const service = serviceOnPostgres();
  const silent = serviceOnPostgres({ recordAddresses: false });

  it("are deleted after their own retention, and the entries remain", async () => {
    const partner = await service.createPartner();
    const before = await listAll(service, PARTNER_PATH, partner.jwt);
    const [whole] = await ofOperator(service, { biz_id: partner.bizID });
    expect(whole?.address).to.equal("127.0.0.1");
    await service.context.auditLog.dropAddresses((whole?.at ?? 0) + 1);
    const later = await service.createUser(partner);
    const entries = await ofOperator(service, { biz_id: partner.bizID });
    expect(entries.slice(-before.length).map(({ id, address }) => [id, address])).to.deep.equal(
      before.map(({ id }) => [id, null]),
    );
    expect(entries[0]).to.include({ user_id: later.userID, address: "127.0.0.1" });
  });

  it("are not recorded if they are switched off", async () => {
    await silent.createUser(await silent.createPartner());
    const entries = await ofOperator(silent, {});
    expect(entries).to.have.length(4);
    expect(entries.map(({ address }) => address)).to.deep.equal([null, null, null, null]);
  });
});

describe("a long audit log list", () => {
  const service = serviceOnPostgres();
  const TOTAL = 25_000;

  it("contains every match, although each request reads a limited number of entries", async () => {
    const { home } = service.databases;
    await addEntries(
      home,
      "biz_many",
      Array.from({ length: TOTAL }, (_, i) => i + 1),
    );
    // Only three entries match: the oldest, one in the middle, and the newest.
    const rare = [1, 12_345, TOTAL].map((at) => ({ action: "partner.resumed", at, partner: "biz_many" }) as const);
    await recordChanges(home, SERVICE, rare);
    const body = { biz_id: "biz_many", action: "partner.resumed", limit: 2 };
    const first = await service.admin(OPERATOR_PATH, body);
    expect((first["entries"] as Entry[]).map(({ at }) => at)).to.deep.equal([TOTAL]);
    expect(first["next"]).to.be.a("string");
    expect((await ofOperator(service, body)).map(({ at }) => at)).to.deep.equal([TOTAL, 12_345, 1]);
    expect(await ofOperator(service, { ...body, action: "partner.suspended" })).to.deep.equal([]);
    expect(await ofOperator(service, { biz_id: "biz_many", limit: 1000 })).to.have.length(TOTAL + 3);
  });
});

describe("the audit log of several databases", () => {
  const service = serviceWithRegions();

  it("lists entries by time, even if some have the same time", async () => {
    const { home, regions } = service.databases;
    const places = [home, regions["us-west-2"], regions["eu-west-1"]];
    for (const [i, place] of places.entries())
      await addEntries(
        place,
        "biz_places",
        Array.from({ length: 20 }, (_, j) => Math.floor((j * (i + 2)) / 3)),
      );
    const all = await ofOperator(service, { biz_id: "biz_places", limit: 1000 });
    expect(all).to.have.length(60);
    expect(all.map(({ at }) => at)).to.deep.equal(all.map(({ at }) => at).toSorted((a, b) => b - a));
    for (const limit of [1, 2, 7]) {
      expect(await ofOperator(service, { biz_id: "biz_places", limit })).to.deep.equal(all);
      expect(await ofOperator(service, { biz_id: "biz_places", limit, action: "partner.limited" })).to.deep.equal(all);
    }
  });

  it("contains a partner's entries in all regions", async () => {
    const partner = await service.createPartner();
    const users = [await service.createUser(partner), await service.createUser(partner, "eu-west-1")];
    const entries = await listAll(service, PARTNER_PATH, partner.jwt);
    expect(entries).to.have.length(6);
    for (const { userID, hex } of users) {
      const ofUser = await listAll(service, PARTNER_PATH, partner.jwt, { user_id_hex: hex });
      expect(ofUser.map(({ action, user_id }) => [action, user_id])).to.deep.equal([
        ["refreshToken.created", userID],
        ["user.created", userID],
      ]);
    }
    await service.context.auditLog.drop(Date.now() + 1000);
    expect(await ofOperator(service, {})).to.deep.equal([]);
  });
});
