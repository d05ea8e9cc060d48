import { expect } from "chai";
import { gt, sql } from "drizzle-orm";
import { randomUUID } from "node:crypto";
import { ACTIONS } from "../../../packages/service/src/auditLog/recordChange.ts";
import { SERVICE } from "../../../packages/service/src/api/base/author.ts";
import { auditEntries } from "../../../packages/service/src/auditLog/tables.ts";
import { events } from "../../../packages/service/src/webhooks/tables.ts";
import { sampleKeyPairs } from "../../support/samples.ts";
import { keyFieldsOf } from "../../support/service/answerChallenge.ts";
import { type KeyPair, makeKeyRecord } from "keyroot/internal/identity";
import { type Answer, randomHex, type TestPartner, type TestUser } from "../../support/service/caller.ts";
import { callDashboard, cookieOf, signInPerson, type TestPerson } from "../../support/service/dashboardPerson.ts";
import { dump } from "../../support/service/dump.ts";
import { markPublished } from "../../support/service/markPublished.ts";
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
  const publish = async (): Promise<Answer | undefined> => {
    const userIDs = [user.userID];
    await service.publications.markSubmitted("us-west-2", ROOT, userIDs, 5);
    await markPublished(service.databases, { root: ROOT, userIDs });
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
    /** The types of the events that the step causes. */
    types: string[];
    run: () => Promise<Answer | undefined>;
  }
  const step = (action: Step["action"], actor: Step["actor"], run: Step["run"]): Step => {
    return { action, actor, types: [], run };
  };
  /** A step that also causes an event. */
  const event = (...[action, actor, run]: Parameters<typeof step>): Step => {
    return { action, actor, types: [action], run };
  };
  const asAdministrator = async (path: string, body: object) => {
    await administrator.verify();
    return administrator.call(`/v1/dashboard/staff/${path}`, body);
  };
  const register = () => service.registerKey(user, own);
  /** In this order, each step can follow the previous one. */
  const STEPS: Step[] = [
    step("partner.created", "operator", () => asOperator("partners/create", { name: "Another" })),
    step("partner.limited", "operator", () =>
      asOperator("partners/setUserLimit", { ...ofPartner(), user_limit: 1000 }),
    ),
    step("serverToken.created", "operator", () =>
      keep("serverToken", "token_id", asOperator("serverTokens/create", ofPartner())),
    ),
    step("serverToken.revoked", "operator", () => asOperator("serverTokens/revoke", { token_id: made["serverToken"] })),
    event("user.created", "partner", () => {
      made["hex"] ??= randomHex();
      return asPartner("users/create", { user_id_hex: made["hex"], region: "us-west-2" });
    }),
    step("user.deactivated", "partner", () => asPartner("users/deactivate", { user_id_hex: made["hex"] })),
    step("user.erased", "partner", () => asPartner("users/erase", { user_id_hex: made["hex"] })),
    event("refreshToken.created", "partner", () =>
      keep("userToken", "token", asPartner("users/createRefreshToken", { ...ofUser(), context: "A tablet" })),
    ),
    event("refreshToken.revoked", "partner", async () =>
      asPartner("users/revokeRefreshToken", { ...ofUser(), token_id: await lastUserToken() }),
    ),
    event("key.registered", "user", register),
    event("key.conflict", "user", () => service.registerKey(user, other)),
    step("key.approved", "partner", () => asPartner("publicKeys/approve", { ...ofUser(), key_id: OWN_ID })),
    event("key.withdrawn", "user", () => asUser("publicKey/withdraw", { key_id: OWN_ID })),
    event("key.registered", "user", register),
    event("key.discarded", "partner", () => asPartner("publicKeys/discard", { ...ofUser(), key_id: OWN_ID })),
    event("key.registered", "user", register),
    event("key.published", "service", publish),
    step("person.invited", "person", async () => {
      const invitation = asAdministrator("invite", { name: "New", role: "administrator" });
      const answer = await keep("invited", "person_id", invitation);
      made["invitation"] = String(answer.body["url"]).split("/").at(-1) ?? "";
      return answer;
    }),
    step("session.started", "person", async () => {
      const answer = await callDashboard(service, "/v1/dashboard/invitations/accept", { token: made["invitation"] });
      made["cookie"] = cookieOf(answer) ?? "none";
      return answer;
    }),
    step("session.ended", "person", () =>
      callDashboard(service, "/v1/dashboard/session/end", {}, { cookie: made["cookie"] }),
    ),
    step("person.roleChanged", "person", () =>
      asAdministrator("setRole", { person_id: made["invited"], role: "reader" }),
    ),
    step("person.removed", "person", () => asAdministrator("remove", { person_id: made["invited"] })),
    step("passkey.added", "service", async () => {
      const { sessions, passkeys, now } = service.context;
      const session = (await sessions.get(person.cookie, now())) ?? never("There is no session.");
      made["passkey"] = randomUUID();
      const passkey = { credentialID: made["passkey"], publicKey: "AA", counter: 0, transports: [] };
      await passkeys.add(session, passkey, now(), SERVICE);
      return undefined;
    }),
    step("passkey.removed", "person", async () => {
      await person.verify();
      return person.call("/v1/dashboard/passkeys/remove", { passkey_id: made["passkey"] });
    }),
    step("webhook.created", "partner", async () => {
      const url = "https://receiver.example/keyroot";
      const answer = await keep("endpoint", "endpoint_id", asPartner("webhooks/create", { url }));
      made["webhookSecret"] = String(answer.body["secret"]);
      return answer;
    }),
    step("webhook.changed", "partner", () =>
      asPartner("webhooks/update", { ...ofEndpoint(), types: ["key.published"] }),
    ),
    step("webhook.paused", "partner", () => asPartner("webhooks/pause", ofEndpoint())),
    step("webhook.resumed", "partner", () => asPartner("webhooks/resume", ofEndpoint())),
    step("webhook.secretRotated", "partner", () => asPartner("webhooks/rotateSecret", ofEndpoint())),
    step("webhook.deleted", "partner", () => asPartner("webhooks/delete", ofEndpoint())),
    event("partner.suspended", "operator", () => asOperator("partners/suspend", ofPartner())),
    step("partner.resumed", "operator", () => asOperator("partners/resume", ofPartner())),
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
        for (const { action, actor, types, run } of STEPS) {
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
      // The changes of accounts need a service with accounts: test/service/accounts.
      const ofOthers = ACTIONS.filter((action) => !/^(?:account|keyChange)\./.test(action));
      expect(new Set(STEPS.map(({ action }) => action))).to.deep.equal(new Set(ofOthers));
    });
  });

  describe("the log", () => {
    it("contains the actor and the change of each request that changed something", () => {
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
      await publish();
      const idempotencyKey = randomUUID();
      for (let i = 0; i < 2; i++)
        await service.post("/v1/admin/serverTokens/create", ofPartner(), { token: ADMIN_TOKEN, idempotencyKey });
      const { entries, events: sent } = await recordsSince(start);
      expect(entries.map(({ action }) => action)).to.deep.equal(["serverToken.created"]);
      expect(sent).to.deep.equal([]);
    });
  });

  describe("a key in its hold period", () => {
    it("causes a key.pending event in addition to its registration", async () => {
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
      for (const change of ["action = 'x'", "address = '192.0.2.9'", "address = null, at = 1"]) {
        const changed = database().transaction(async (transaction) => {
          await transaction.execute(sql`select set_config('keyroot.audit_retention', 'on', true)`);
          await transaction.execute(sql.raw(`update audit_entries set ${change}`));
        });
        expect(await changed.catch(() => "refused"), change).to.equal("refused");
      }
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
