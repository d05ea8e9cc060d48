import { expect } from "chai";
import { eq, sql } from "drizzle-orm";
import fc from "fast-check";
import { setTimeout as sleep } from "node:timers/promises";
import { recordChange } from "../../../packages/service/src/auditLog/recordChange.ts";
import { SERVICE } from "../../../packages/service/src/api/base/author.ts";
import { decodeCursor, encodeCursor } from "../../../packages/service/src/api/database/cursor.ts";
import { type Database, rowsOf } from "../../../packages/service/src/api/database/database.ts";
import { type EventCursor, eventCursorSchema } from "../../../packages/service/src/webhooks/events.ts";
import { events } from "../../../packages/service/src/webhooks/tables.ts";
import { expectProblem, type TestPartner } from "../../support/service/caller.ts";
import {
  describeOnEachDatabase,
  serviceOnPostgres,
  serviceWithRegions,
  TestService,
} from "../../support/service/support.ts";
import { never } from "../../support/support.ts";

const PATH = "/v1/authdBizSrv/events/list";
const DAY_MS = 24 * 60 * 60 * 1000;

interface ListedEvent {
  id: string;
  type: string;
  at: number;
  data: Record<string, unknown>;
}

function listOf(service: TestService, { jwt: token }: TestPartner) {
  return async (body: { after?: string; limit?: number } = {}) => {
    const answer = await service.done(PATH, body, { token });
    return { events: answer["events"] as ListedEvent[], cursor: answer["cursor"] as string };
  };
}

const decode = (cursor: string): EventCursor => decodeCursor(eventCursorSchema, cursor);

/** Returns a change that causes an event for the partner, and that is stored as a separate row. */
function suspension({ bizID }: TestPartner, at = Date.now()) {
  return { action: "partner.suspended", at, partner: bizID } as const;
}

/** Records an event in a transaction that commits when `commit` is called. */
async function openTransaction(database: Database, partner: TestPartner, at?: number) {
  const recorded = Promise.withResolvers<undefined>();
  const held = Promise.withResolvers<undefined>();
  const ended = database.transaction(async (transaction) => {
    await recordChange(transaction, SERVICE, suspension(partner, at));
    recorded.resolve(undefined);
    await held.promise;
  });
  await recorded.promise;
  return {
    commit: () => (held.resolve(undefined), ended),
    fail: () => (held.reject(new Error("rolled back")), ended.catch(() => undefined)),
  };
}

describeOnEachDatabase("events/list", (service) => {
  let partner: TestPartner;
  let list: ReturnType<typeof listOf>;
  beforeEach(async () => {
    partner = await service.createPartner();
    list = listOf(service, partner);
  });

  const record = (at?: number) => recordChange(service.databases.home, SERVICE, suspension(partner, at));
  const refused = async (after: string, code: string, of = partner) => {
    const status = code === "FIELD_INVALID" ? 400 : 404;
    expectProblem(await service.post(PATH, { after }, { token: of.jwt }), [status, code]);
  };

  it("returns events in order with the changed data", async () => {
    const user = await service.createUser(partner);
    const { events: listed } = await list();
    expect(listed.map(({ type }) => type)).to.deep.equal(["user.created", "refreshToken.created"]);
    expect(listed[0]).to.have.all.keys("type", "at", "id", "data");
    expect(listed[0]?.data).to.deep.equal({ user_id: user.userID, region: "us-west-2" });
    expect(listed[0]?.at).to.be.closeTo(Date.now(), 60_000);
    expect(listed[1]?.data).to.have.all.keys("user_id", "token_id");
    expect(JSON.stringify(listed)).not.to.include(user.refreshToken);
  });

  it("returns each event once with any page size", async () => {
    for (let i = 0; i < 7; i++) await record();
    const { events: all, cursor } = await list();
    expect(all).to.have.length(7);
    for (const limit of [1, 2, 7]) {
      const listed: ListedEvent[] = [];
      let after: string | undefined;
      for (;;) {
        const page = await list({ limit, ...(after !== undefined && { after }) });
        listed.push(...page.events);
        after = page.cursor;
        if (page.events.length === 0) break;
      }
      expect(listed).to.deep.equal(all);
    }
    expect((await list({ after: cursor })).events).to.deep.equal([]);
    await record();
    for (let i = 0; i < 2; i++) expect((await list({ after: cursor })).events).to.have.length(1);
  });

  it("does not return another partner's events", async () => {
    await record();
    const other = await service.createPartner();
    expect((await listOf(service, other)()).events).to.deep.equal([]);
    await refused((await list()).cursor, "CURSOR_UNKNOWN", other);
  });

  describe("after a cursor", () => {
    it("rejects a malformed cursor", async () => {
      const { cursor } = await list();
      const { read } = decode(cursor);
      const wrong = ["e30", "a", encodeCursor([]), encodeCursor({ seen: -1, read }), encodeCursor({ seen: 1 })];
      for (const after of [...wrong, encodeCursor({ seen: 1, read, more: 1 })]) await refused(after, "FIELD_INVALID");
    });

    it("never returns another partner's events, for any cursor values", async () => {
      const other = await service.createPartner();
      await recordChange(service.databases.home, SERVICE, suspension(other));
      for (let i = 0; i < 3; i++) await record();
      const known = decode((await list()).cursor).read.home ?? { xid: "", position: 0, id: "" };
      const foreign = decode((await listOf(service, other)()).cursor).read.home ?? known;
      const own = new Set((await list()).events.map(({ id }) => id));
      const digits = fc.oneof(
        fc.constantFrom("0", "-1", "18446744073709551615", "18446744073709551616", "", "1e3", known.xid, foreign.xid),
        fc.bigInt({ min: 0n, max: 2n ** 65n }).map(String),
      );
      const number = fc.oneof(
        fc.constantFrom(0, -1, 0.5, 2 ** 53, 2 ** 53 - 1, known.position, foreign.position),
        fc.maxSafeNat(),
      );
      const id = fc.oneof(fc.constantFrom(known.id, foreign.id, "x", ""), fc.uuid());
      const anchor = fc.oneof(fc.record({ xid: digits, position: number, id }), fc.jsonValue());
      const place = fc.constantFrom("home", "us-west-2", "eu-west-1", "__proto__", "elsewhere");
      const cursor = fc.record({
        seen: fc.oneof(fc.constant(Date.now()), number),
        read: fc.oneof(fc.dictionary(place, anchor, { maxKeys: 3 }), fc.jsonValue()),
      });
      const property = fc.asyncProperty(fc.oneof(cursor, fc.jsonValue()), async (position) => {
        const after = encodeCursor(position as object).slice(0, 1000);
        const answer = await service.post(PATH, { after }, { token: partner.jwt });
        if (answer.status !== 200) expect(answer.body["code"]).to.be.oneOf(["FIELD_INVALID", "CURSOR_UNKNOWN"]);
        else for (const event of answer.body["events"] as ListedEvent[]) expect(own).to.include(event.id);
      });
      await fc.assert(property, { numRuns: 300 });
    });

    it("rejects a cursor that is newer than the database", async () => {
      await record();
      const cursor = decode((await list()).cursor);
      const { home = never() } = cursor.read;
      const future = { ...home, xid: String(BigInt(home.xid) + 1_000_000n) };
      await refused(encodeCursor({ ...cursor, read: { home: future } }), "CURSOR_UNKNOWN");
    });

    it("rejects a cursor if its event was lost", async () => {
      for (let i = 0; i < 2; i++) await record();
      const { events: listed, cursor } = await list();
      // This has the same effect as a restore to an earlier state.
      await service.databases.home.delete(events).where(eq(events.id, listed.at(-1)?.id ?? ""));
      for (let i = 0; i < 3; i++) await record();
      await refused(cursor, "CURSOR_UNKNOWN");
      expect((await list()).events).to.have.length(4);
    });

    it("returns all events from the start after a restored dump", async () => {
      for (let i = 0; i < 3; i++) await record();
      const { events: listed, cursor } = await list();
      const { home } = service.databases;
      // The other server had run more transactions.
      await home.execute(sql`update events set xid = (xid::text::numeric + 1000000000)::text::xid8`);
      expect((await list()).events).to.deep.equal([]);
      await record();
      expect((await list()).events).to.have.length(1);
      await service.databases.migrate();
      const { events: all } = await list();
      expect(all).to.have.length(4).and.to.include.deep.members(listed);
      expect(all.slice(1)).to.deep.equal(listed);
      await refused(cursor, "CURSOR_UNKNOWN");
    });

    it("accepts a cursor until an unread event may have been deleted", async () => {
      await record();
      const { cursor } = await list();
      const all = await service.databases.home.select().from(events);
      try {
        // Retention deletes the oldest events first, of all partners.
        await service.databases.home.delete(events);
        await record();
        expect((await list({ after: cursor })).events).to.have.length(1);
        const inDays = async (days: number) => {
          service.ahead = days * DAY_MS;
          const token = await service.exchange(partner.bizID, partner.refreshToken);
          return (after: string) => service.post(PATH, { after }, { token });
        };
        const later = await (await inDays(29))(cursor);
        expect(later.status, later.text).to.equal(200);
        const latest = await inDays(31);
        expectProblem(await latest(cursor), [404, "CURSOR_UNKNOWN"]);
        expect((await latest(later.body["cursor"] as string)).body["events"]).to.deep.equal([]);
      } finally {
        await service.databases.home.insert(events).values(all);
      }
    });
  });
});

describe("events/list, during overlapping transactions", () => {
  const service = serviceOnPostgres();
  const second = new TestService();
  let partner: TestPartner;
  before(() => second.start(service.databases));
  after(() => second.close());
  beforeEach(async () => {
    partner = await service.createPartner();
  });

  const open = (at?: number) => openTransaction(service.databases.home, partner, at);

  it("does not skip the event of a transaction that commits last", async () => {
    const list = listOf(service, partner);
    const { cursor } = await list();
    const early = await open(1);
    const late = await open(2);
    await late.commit();
    // The later event is stored, but an earlier event may still be added.
    expect(await service.databases.home.select().from(events).where(eq(events.bizID, partner.bizID))).to.have.length(1);
    const between = await list({ after: cursor });
    expect(between.events).to.deep.equal([]);
    await early.commit();
    const { events: listed } = await list({ after: between.cursor });
    expect(listed.map(({ at }) => at)).to.deep.equal([1, 2]);
  });

  it("returns later events when an earlier transaction is rolled back", async () => {
    const list = listOf(service, partner);
    const [early, late] = [await open(1), await open(2)];
    await late.commit();
    expect((await list()).events).to.deep.equal([]);
    await early.fail();
    expect((await list()).events.map(({ at }) => at)).to.deep.equal([2]);
  });

  it("returns each event exactly once from two replicas", async () => {
    const readers = [listOf(service, partner), listOf(second, partner)];
    const seen: string[] = [];
    const state = { isWriting: true };
    const writers = Array.from({ length: 6 }, async (_, i) => {
      for (let j = 0; j < 12; j++) {
        const transaction = await open();
        await sleep(((i * 7 + j * 5) % 13) * 2);
        await (j % 4 === 3 ? transaction.fail() : transaction.commit());
      }
    });
    const written = Promise.all(writers).finally(() => (state.isWriting = false));
    let after: string | undefined;
    for (let turn = 0, isLast = false; !isLast; turn++) {
      const hasEnded = !state.isWriting;
      const read = readers[turn % 2] ?? never();
      const page = await read({ limit: 5, ...(after !== undefined && { after }) });
      seen.push(...page.events.map(({ id }) => id));
      after = page.cursor;
      isLast = hasEnded && page.events.length === 0;
    }
    await written;
    const stored = await service.databases.home.select().from(events).where(eq(events.bizID, partner.bizID));
    expect(stored).to.have.length(6 * 9);
    expect(seen)
      .to.have.members(stored.map(({ id }) => id))
      .and.have.length(6 * 9);
  });
});

describe("events/list, with several databases", () => {
  const service = serviceWithRegions();
  let partner: TestPartner;
  before(async () => {
    partner = await service.createPartner();
  });

  it("returns the events of all databases, sorted by time", async () => {
    const { home, regions } = service.databases;
    const places = [home, regions["us-west-2"], regions["eu-west-1"]];
    for (let at = 0; at < 9; at++) {
      const place = places[(at * 2) % 3];
      if (place !== undefined) await recordChange(place, SERVICE, suspension(partner, at));
    }
    const list = listOf(service, partner);
    const listed: number[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < 5; page++) {
      const { events: some, cursor: next } = await list({ limit: 2, ...(cursor !== undefined && { after: cursor }) });
      listed.push(...some.map(({ at }) => at));
      cursor = next;
    }
    expect(listed).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(decode(cursor ?? "").read).to.have.all.keys("home", "us-west-2", "eu-west-1");
  });

  it("does not skip events of a database with an open transaction", async () => {
    const { home, regions } = service.databases;
    const list = listOf(service, partner);
    const { cursor } = await list();
    const { commit } = await openTransaction(regions["eu-west-1"], partner, 20);
    await recordChange(home, SERVICE, suspension(partner, 21));
    const first = await list({ after: cursor });
    await commit();
    const second = await list({ after: first.cursor });
    const times = [...first.events, ...second.events].map(({ at }) => at);
    expect(times.sort()).to.deep.equal([20, 21]);
  });

  it("reads events in the order of an index", async () => {
    const query = sql`explain (format json) select id from events where biz_id = 'b'
      and xid < pg_snapshot_xmin(pg_current_snapshot()) and (xid, position) > ('5'::xid8, 5) order by xid, position limit 10`;
    const plan = rowsOf(await service.databases.home.execute(query));
    expect(JSON.stringify(plan)).to.include("events_of_partner").and.not.include("Sort");
  });
});
