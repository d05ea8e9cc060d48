import { expect } from "chai";
import { gt, sql } from "drizzle-orm";
import { randomUUID } from "node:crypto";
import { ACTIONS, SERVICE } from "../../../packages/service/src/auditLog/recordChange.ts";
import { auditEntries } from "../../../packages/service/src/auditLog/tables.ts";
import { events } from "../../../packages/service/src/webhooks/tables.ts";
import { sampleKeyPairs } from "../../support/samples.ts";
import { keyFieldsOf } from "../../support/service/answerChallenge.ts";
import { type KeyPair, makeKeyRecord } from "keyroot/identity";
import { type Answer, randomHex, type TestPartner, type TestUser } from "../../support/service/caller.ts";
import { callDashboard, cookieOf, signInPerson, type TestPerson } from "../../support/service/dashboardPerson.ts";
import { dump } from "../../support/service/dump.ts";
import { ADMIN_TOKEN, describeOnEachDatabase, type TestService } from "../../support/service/support.ts";
import { never } from "../../support/support.ts";

const [own, other] = sampleKeyPairs as [KeyPair, KeyPair];
const OWN_ID = keyFieldsOf(own).key_id;
const ROOT = "ab".repeat(32);

/** Tables in which a request may write even if its change fails, because it writes in earlier transactions. */
const WRITTEN_BEFORE = ["user_ids", "user_counts", "possession_challenges", "sessions", "server_tokens", "user_tokens"];

const log: string[] = [];

describeOnEachDatabase("records of changes", testRecords, { log });

function testRecords(service: TestService): void {
  let partner: TestPartner;
  let user: TestUser;
  let person: TestPerson;
  let administrator: TestPerson;
  /** The ids of objects that earlier steps created. */
  const made: Record<string, string> = {};
  /** The request, actor and change of each entry that a request caused. */
  const requests: [requestID: string, actor: string, change: object][] = [];
  /** All values that no record may contain. */
  const secrets = new Set<string>();

  const database = () => service.databases.home;
  const recordsSince = async (position: { entry: number; event: number }) => ({
    entries: await database()
      .select()
      .from(auditEntries)
      .where(gt(auditEntries.position, position.entry))
      .orderBy(auditEntries.position),
    events: await database().select().from(events).where(gt(events.position, position.event)).orderBy(events.position),
  });
  const positions = async () => {
    const all = await recordsSince({ entry: 0, event: 0 });
    return { entry: all.entries.at(-1)?.position ?? 0, event: all.events.at(-1)?.position ?? 0 };
  };
  const contents = async () =>
    Object.fromEntries(Object.entries(await dump(database())).filter(([table]) => !WRITTEN_BEFORE.includes(table)));

  const asOperator = (path: string, body: object) => service.post(`/v1/admin/${path}`, body, { token: ADMIN_TOKEN });
  const asPartner = (path: string, body: object) =>
    service.post(`/v1/authdBizSrv/${path}`, body, { token: partner.jwt });
  const asUser = (path: string, body: object) => service.post(`/v1/authdUser/${path}`, body, { token: user.jwt });
  const keep = async (name: string, field: string, answer: Promise<Answer>): Promise<Answer> => {
    const { body } = await answer;
    if (typeof body[field] === "string") made[name] = body[field];
    return answer;
  };
  const markPublished = async (): Promise<Answer | undefined> => {
    const { publications } = service;
    await publications.markSubmitted("us-west-2", ROOT, [user.userID], 5);
    const added = {
      root: ROOT,
      userIDs: [user.userID],
      transactionHash: `0x${ROOT}`,
      blockNumber: 7,
      blockHash: "0x01",
    };
    await publications.markPublished("us-west-2", added, 6, SERVICE);
    return undefined;
  };
  const ofPartner = () => ({ biz_id: partner.bizID });
  const ofEndpoint = () => ({ endpoint_id: made["endpoint"] });
  const ofUser = () => ({ user_id_hex: user.hex });
  const lastUserToken = async () => {
    const { body } = await asPartner("users/listRefreshTokens", ofUser());
    return (body["tokens"] as { token_id: string }[]).at(-1)?.token_id ?? "";
  };

  before(async () => {
    partner = await service.createPartner();
    user = await service.createUser(partner);
    administrator = await signInPerson(service, partner.bizID, "An administrator");
    person = await signInPerson(service, partner.bizID, "Somebody", { role: "reader" });
    const { refreshToken, jwt } = partner;
    for (const secret of [ADMIN_TOKEN, refreshToken, jwt, user.refreshToken, user.jwt, user.hex, person.cookie])
      secrets.add(secret);
  });

  interface Step {
    action: (typeof ACTIONS)[number];
    actor: "service" | "operator" | "person" | "partner" | "user";
    events?: string[];
    run: () => Promise<Answer | undefined>;
  }
  /** In this order, each step can follow the previous one. */
  const STEPS: Step[] = [
    { action: "partner.created", actor: "operator", run: () => asOperator("partners/create", { name: "Another" }) },
    {
      action: "partner.limited",
      actor: "operator",
      run: () => asOperator("partners/setUserLimit", { ...ofPartner(), user_limit: 1000 }),
    },
    {
      action: "serverToken.created",
      actor: "operator",
      run: () => keep("serverToken", "token_id", asOperator("serverTokens/create", ofPartner())),
    },
    {
      action: "serverToken.revoked",
      actor: "operator",
      run: () => asOperator("serverTokens/revoke", { token_id: made["serverToken"] }),
    },
    {
      action: "user.created",
      actor: "partner",
      events: ["user.created"],
      run: () => {
        made["hex"] ??= randomHex();
        return asPartner("users/create", { user_id_hex: made["hex"], region: "us-west-2" });
      },
    },
    {
      action: "user.deactivated",
      actor: "partner",
      run: () => asPartner("users/deactivate", { user_id_hex: made["hex"] }),
    },
    { action: "user.erased", actor: "partner", run: () => asPartner("users/erase", { user_id_hex: made["hex"] }) },
    {
      action: "refreshToken.created",
      actor: "partner",
      events: ["refreshToken.created"],
      run: () =>
        keep("userToken", "token", asPartner("users/createRefreshToken", { ...ofUser(), context: "A tablet" })),
    },
    {
      action: "refreshToken.revoked",
      actor: "partner",
      events: ["refreshToken.revoked"],
      run: async () => asPartner("users/revokeRefreshToken", { ...ofUser(), token_id: await lastUserToken() }),
    },
    {
      action: "key.registered",
      actor: "user",
      events: ["key.registered"],
      run: () => service.registerKey(user, own),
    },
    { action: "key.conflict", actor: "user", events: ["key.conflict"], run: () => service.registerKey(user, other) },
    {
      action: "key.approved",
      actor: "partner",
      run: () => asPartner("publicKeys/approve", { ...ofUser(), key_id: OWN_ID }),
    },
    {
      action: "key.withdrawn",
      actor: "user",
      events: ["key.withdrawn"],
      run: () => asUser("publicKey/withdraw", { key_id: OWN_ID }),
    },
    { action: "key.registered", actor: "user", events: ["key.registered"], run: () => service.registerKey(user, own) },
    {
      action: "key.discarded",
      actor: "partner",
      events: ["key.discarded"],
      run: () => asPartner("publicKeys/discard", { ...ofUser(), key_id: OWN_ID }),
    },
    { action: "key.registered", actor: "user", events: ["key.registered"], run: () => service.registerKey(user, own) },
    { action: "key.published", actor: "service", events: ["key.published"], run: markPublished },
    {
      action: "person.invited",
      actor: "person",
      run: async () => {
        await administrator.verify();
        const answer = await keep(
          "invited",
          "person_id",
          administrator.call("/v1/dashboard/staff/invite", { name: "New", role: "administrator" }),
        );
        made["invitation"] = String(answer.body["url"]).split("/").at(-1) ?? "";
        return answer;
      },
    },
    {
      action: "session.started",
      actor: "person",
      run: async () => {
        const answer = await callDashboard(service, "/v1/dashboard/invitations/accept", { token: made["invitation"] });
        made["cookie"] = cookieOf(answer) ?? "none";
        return answer;
      },
    },
    {
      action: "session.ended",
      actor: "person",
      run: () => callDashboard(service, "/v1/dashboard/session/end", {}, { cookie: made["cookie"] }),
    },
    {
      action: "person.roleChanged",
      actor: "person",
      run: async () => {
        await administrator.verify();
        return administrator.call("/v1/dashboard/staff/setRole", { person_id: made["invited"], role: "reader" });
      },
    },
    {
      action: "person.removed",
      actor: "person",
      run: () => administrator.call("/v1/dashboard/staff/remove", { person_id: made["invited"] }),
    },
    {
      action: "passkey.added",
      actor: "service",
      run: async () => {
        const { sessions, passkeys, now } = service.context;
        const session = await sessions.get(person.cookie, now());
        if (session === undefined) throw new Error("There is no session.");
        made["passkey"] = randomUUID();
        const passkey = { credentialID: made["passkey"], publicKey: "AA", counter: 0, transports: [] };
        await passkeys.add(session, passkey, now(), SERVICE);
        return undefined;
      },
    },
    {
      action: "passkey.removed",
      actor: "person",
      run: async () => {
        await person.verify();
        return person.call("/v1/dashboard/passkeys/remove", { passkey_id: made["passkey"] });
      },
    },
    {
      action: "webhook.created",
      actor: "partner",
      run: async () => {
        const url = "https://receiver.example/keyroot";
        const answer = await keep("endpoint", "endpoint_id", asPartner("webhooks/create", { url }));
        made["webhookSecret"] = String(answer.body["secret"]);
        return answer;
      },
    },
    {
      action: "webhook.changed",
      actor: "partner",
      run: () => asPartner("webhooks/update", { ...ofEndpoint(), types: ["key.published"] }),
    },
    { action: "webhook.paused", actor: "partner", run: () => asPartner("webhooks/pause", ofEndpoint()) },
    { action: "webhook.resumed", actor: "partner", run: () => asPartner("webhooks/resume", ofEndpoint()) },
    {
      action: "webhook.secretRotated",
      actor: "partner",
      run: () => asPartner("webhooks/rotateSecret", ofEndpoint()),
    },
    { action: "webhook.deleted", actor: "partner", run: () => asPartner("webhooks/delete", ofEndpoint()) },
    {
      action: "partner.suspended",
      actor: "operator",
      events: ["partner.suspended"],
      run: () => asOperator("partners/suspend", ofPartner()),
    },
    { action: "partner.resumed", actor: "operator", run: () => asOperator("partners/resume", ofPartner()) },
  ];

  describe("a transaction that fails after its change", () => {
    it("has an effect only when it is repeated", async () => {
      await database().execute(sql`
        create or replace function fail_commit() returns trigger language plpgsql as
        $$ begin raise exception 'injected' using errcode = 'serialization_failure'; end $$`);
      await database().execute(sql`
        create constraint trigger fail_commit after insert on audit_entries
        deferrable initially deferred for each row execute function fail_commit()`);
      const fail = (on: boolean) =>
        database().execute(sql`alter table audit_entries ${sql.raw(on ? "enable" : "disable")} trigger fail_commit`);
      try {
        for (const { action, actor, events: types = [], run } of STEPS) {
          await fail(true);
          const [before, start] = [await contents(), await positions()];
          const failed = await run().catch(() => undefined);
          if (failed !== undefined) expect([action, failed.status, failed.text]).to.include(503);
          const after = await contents();
          // A batch is stored before its transaction is sent.
          if (action === "key.published")
            for (const state of [before, after])
              (delete state["batches"], delete state["batch_shares"], delete state["public_keys"]);
          expect(after, action).to.deep.equal(before);

          await fail(false);
          const answer = await run();
          if (action !== "key.conflict") expect(answer?.status ?? 200, answer?.text).to.be.below(300);
          const made = await recordsSince(start);
          expect(made.entries.map((entry) => [entry.action, entry.actorKind])).to.deep.equal([[action, actor]]);
          expect(made.events.map(({ type }) => type)).to.deep.equal(types);
          const [entry] = made.entries;
          expect(entry?.requestID ?? null).to.equal(actor === "service" ? null : answer?.headers.get("x-request-id"));
          expect(entry?.address ?? null).to.equal(actor === "service" ? null : "127.0.0.1");
          const { bizID, userID, requestID } = entry ?? never();
          const change = {
            action,
            ...(bizID !== null && { partner: bizID }),
            ...(userID !== null && { user: userID }),
          };
          if (requestID !== null) requests.push([requestID, actor, change]);
        }
      } finally {
        await database().execute(sql`drop trigger fail_commit on audit_entries`);
      }
      expect(new Set(STEPS.map(({ action }) => action))).to.deep.equal(new Set(ACTIONS));
    });
  });

  describe("the log", () => {
    it("names the actor and the change of each request that changed something", () => {
      const lines = log.map((line) => JSON.parse(line) as { request_id?: string; actor?: object; change?: object });
      expect(requests).to.have.length.above(25);
      for (const [requestID, kind, change] of requests) {
        const [line, ...others] = lines.filter(({ request_id }) => request_id === requestID);
        expect(others).to.deep.equal([]);
        expect(line?.actor).to.include({ kind });
        expect(line?.change).to.include(change);
      }
    });
  });

  describe("a request that changes nothing", () => {
    it("is not recorded", async () => {
      const start = await positions();
      await asPartner("users/create", { ...ofUser(), region: "us-west-2" });
      await asPartner("users/revokeRefreshToken", { ...ofUser(), token_id: await lastUserToken() });
      await asOperator("partners/resume", ofPartner());
      await asOperator("partners/setUserLimit", { ...ofPartner(), user_limit: 1000 });
      await asPartner("users/erase", { user_id_hex: made["hex"] });
      await asPartner("webhooks/delete", ofEndpoint());
      await service.registerKey(user, own);
      await markPublished();
      const idempotencyKey = randomUUID();
      for (let i = 0; i < 2; i++)
        await service.post("/v1/admin/serverTokens/create", ofPartner(), { token: ADMIN_TOKEN, idempotencyKey });
      const { entries, events: sent } = await recordsSince(start);
      expect(entries.map(({ action }) => action)).to.deep.equal(["serverToken.created"]);
      expect(sent).to.deep.equal([]);
    });
  });

  describe("a key in its hold period", () => {
    it("causes the event key.pending beside its registration", async () => {
      const start = await positions();
      const { publicKeys } = service.context;
      const waiting = await service.createUser(partner);
      const claim = { userID: waiting.userID, bizID: partner.bizID, region: "us-west-2" } as const;
      const record = makeKeyRecord(waiting.userID, own.publicKey);
      const registration = { registered: 10, holdEndsAt: 11, possession: "proven" } as const;
      await database().transaction((transaction) => publicKeys.add(transaction, claim, record, registration, SERVICE));
      const { events: sent } = await recordsSince(start);
      expect(sent.slice(2)).to.have.length(2);
      for (const [i, type] of (["key.registered", "key.pending"] as const).entries())
        expect(sent[i + 2]).to.deep.include({
          ...{ type, bizID: partner.bizID, userID: waiting.userID, at: 10, dispatched: null },
          data: { key_id: OWN_ID, possession: "proven", hold_ends_at: 11, after_withdrawal: false },
        });
    });
  });

  describe("users that are created at the same time", () => {
    it("cause one audit log entry and one event each", async () => {
      // Users of a partner with a limit are created one by one.
      const unlimited = await service.createPartner();
      const start = await positions();
      const hexes = Array.from({ length: 60 }, () => randomHex());
      const bodies = [...hexes, ...hexes].map((user_id_hex) => ({ user_id_hex, region: "us-west-2" }));
      await Promise.all(
        bodies.map((body) => service.done("/v1/authdBizSrv/users/create", body, { token: unlimited.jwt })),
      );
      const { entries, events: sent } = await recordsSince(start);
      expect(new Set(entries.map(({ userID }) => userID)).size).to.equal(60);
      expect([entries.length, sent.length]).to.deep.equal([60, 60]);
      expect(new Set(sent.map(({ id }) => id)).size).to.equal(60);
      expect(new Set(sent.map(({ xid }) => xid)).size).to.be.below(60);
    });
  });

  describe("the audit log", () => {
    it("protects its entries from changes", async () => {
      const statements = [
        sql`update audit_entries set actor_kind = 'service'`,
        sql`delete from audit_entries`,
        sql`truncate audit_entries`,
      ];
      for (const statement of statements) {
        const error = await database()
          .execute(statement)
          .catch((error: unknown) => error);
        expect(error).to.have.nested.property("cause.code", "23001");
      }
      await database().transaction(async (transaction) => {
        await transaction.execute(sql`select set_config('keyroot.audit_retention', 'on', true)`);
        await transaction.execute(sql`delete from audit_entries where at < 0`);
      });
      expect(
        await database()
          .execute(statements[1] ?? sql``)
          .catch(() => "refused"),
      ).to.equal("refused");
    });

    it("contains no secrets", async () => {
      for (const name of ["userToken", "invitation", "cookie", "hex", "passkey", "webhookSecret"])
        secrets.add(made[name] ?? "");
      const rows = JSON.stringify(await recordsSince({ entry: 0, event: 0 }));
      expect([...secrets].filter((secret) => secret.length < 16)).to.deep.equal([]);
      for (const secret of secrets) expect(rows).not.to.include(secret);
    });
  });
}
