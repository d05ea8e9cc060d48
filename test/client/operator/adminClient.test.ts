import { expect } from "chai";
import fc from "fast-check";
import { randomUUID } from "node:crypto";
import { inspect } from "node:util";
import { AdminClient, type AdminClientOptions } from "../../../packages/client/src/operator/adminClient.ts";
import { PartnerClient } from "../../../packages/client/src/partner/partnerClient.ts";
import { makeKeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { generateKeyPair } from "../../../packages/keyroot/src/identity/newPublicKey.ts";
import { KeyrootError } from "../../../packages/keyroot/src/errors.ts";
import { type FaultyProxy, faultyProxy } from "../../support/servers/faultyProxy.ts";
import { refusalOf } from "../../support/refusalOf.ts";
import { ADMIN_TOKEN, serviceOnPostgres } from "../../support/service/support.ts";
import { bundle } from "../../support/browser/bundle.ts";
import { all, closedAfterEach, failure } from "../../support/support.ts";

const PARTNER = {
  ...{ biz_id: "biz_1", name: "n", created: 1, suspended: null, user_limit: 5, users: 2 },
  ...{ pending_keys: 1, published_keys: 1, server_tokens: 1 },
};
const TOKEN = { token_id: randomUUID(), name: "n", created: 1, revoked: null, last_used: 2 };
const ENTRY = {
  ...{ id: randomUUID(), at: 1, action: "user.erased", biz_id: "biz_1", user_id: "y".repeat(32), data: { a: 1 } },
  ...{ actor: { kind: "operator", id: null, name: null, token_id: null }, request_id: "r", address: "::1" },
};
const USER = { userID: "y".repeat(32), keyID: `${"A".repeat(22)}==` };
const BATCH = { root: "a".repeat(64), users: 2, transaction: `0x${"b".repeat(64)}`, block: 7 };

describe("AdminClient", () => {
  const closing = closedAfterEach();
  const service = serviceOnPostgres({ holdPeriodMs: 3_600_000, publish: () => Promise.resolve([BATCH]) });
  let proxy: FaultyProxy;

  beforeEach(async () => {
    proxy = closing(await faultyProxy(service.url));
  });

  const client = (options: Partial<AdminClientOptions> = {}) =>
    new AdminClient({ serviceUrl: proxy.url, adminToken: ADMIN_TOKEN, ...options });

  it("cannot be bundled for browsers", async () => {
    const bundled = bundle('export { AdminClient } from "@keyroot/client/operator";', { logLevel: "silent" });
    expect(await failure(bundled))
      .to.have.nested.property("errors[0].text")
      .that.includes('Could not resolve "@keyroot/client/operator"');
  });

  describe("createPartner", () => {
    it("creates a new partner with each call", async () => {
      const [first, second] = [await client().createPartner("A company"), await client().createPartner("A company")];
      expect(first).to.have.all.keys("biz_id", "name", "created");
      expect(first.name).to.equal("A company");
      expect(first.created).to.be.closeTo(Date.now(), 60_000);
      expect(second.biz_id).not.to.equal(first.biz_id);
    });

    it("creates only one partner if the connection breaks", async () => {
      proxy.fail("/partners/create", "reset after", "reset after");
      await client().createPartner("Acme");
      const keys = proxy.to("/partners/create").map(({ headers }) => headers["idempotency-key"]);
      expect(keys).to.have.length(3);
      expect(new Set(keys).size).to.equal(1);
    });

    it("returns the same partner for the same idempotency key", async () => {
      const idempotencyKey = randomUUID();
      const first = await client().createPartner("Acme", { idempotencyKey });
      expect(await client().createPartner("Acme", { idempotencyKey })).to.deep.equal(first);
      expect((await client().createPartner("Acme")).biz_id).not.to.equal(first.biz_id);
      const error = await failure(client().createPartner("Ajax", { idempotencyKey }));
      expect(error).to.include({ code: "IDEMPOTENCY_KEY_REUSED", status: 409 });
    });
  });

  describe("createServerToken", () => {
    let bizID: string;
    beforeEach(async () => {
      ({ biz_id: bizID } = await client().createPartner("A company"));
    });

    it("creates a token that the partner's server can use", async () => {
      const created = await client().createServerToken(bizID, { name: "Production" });
      expect(created).to.have.all.keys("token_id", "token", "name", "created");
      expect(created.name).to.equal("Production");
      const partner = new PartnerClient({ serviceUrl: service.url, bizID, serverToken: created.token });
      const [listed] = await all(partner.listServerTokens());
      expect(listed).to.include({ token_id: created.token_id, name: "Production", revoked: null });
    });

    it("creates a token without a name", async () => {
      expect((await client().createServerToken(bizID)).name).to.equal(null);
    });
  });

  describe("invite, inviteOperator and removeStaff", () => {
    it("create a new link with each call, and remove a person once", async () => {
      const { biz_id: bizID } = await client().createPartner("A company");
      const first = await client().invite(bizID, "Ada");
      expect(first).to.have.all.keys("person_id", "name", "role", "url", "expires");
      expect(first).to.include({ name: "Ada", role: "administrator" });
      expect(first.url).to.match(/^http:\/\/localhost:\d+\/dashboard\/#\/invitation\/[\w-]{43}$/);
      const second = await client().invite(bizID, "Ada", { role: "reader" });
      expect(second).to.include({ person_id: first.person_id, role: "reader" });
      expect(second.url).to.not.equal(first.url);
      await client().removeStaff(bizID, "Ada");
      expect(await failure(client().removeStaff(bizID, "Ada"))).to.include({ code: "PERSON_UNKNOWN", status: 404 });
      const ofOperator = await client().inviteOperator("Olga");
      expect(ofOperator).to.include({ name: "Olga", role: "administrator" });
      const again = await client().inviteOperator("Olga", { role: "reader" });
      expect(again).to.include({ person_id: ofOperator.person_id, role: "reader" });
      expect(again.url).to.not.equal(ofOperator.url);
    });
  });

  describe("discardPublicKey", () => {
    it("discards a pending key, even if the call is repeated", async () => {
      const partner = await service.createPartner();
      const user = await service.createUser(partner);
      const keys = generateKeyPair();
      await service.registerKey(user, keys);
      const { keyID } = makeKeyRecord(user.userID, keys.publicKey);
      expect(await client().getPartner(partner.bizID)).to.include({ pending_keys: 1 });
      await client().discardPublicKey(partner.bizID, user.userID, keyID);
      await client().discardPublicKey(partner.bizID, user.hex, keyID);
      expect(await client().getPartner(partner.bizID)).to.include({ pending_keys: 0 });
    });
  });

  describe("the methods for partners, tokens and the audit log", () => {
    let bizID: string;
    let serverToken: string;
    let tokenID: string;
    beforeEach(async () => {
      ({ biz_id: bizID } = await client().createPartner("A company"));
      ({ token: serverToken, token_id: tokenID } = await client().createServerToken(bizID));
    });
    const partner = () => new PartnerClient({ serviceUrl: service.url, bizID, serverToken });

    it("return a partner with its numbers", async () => {
      await partner().createUser(randomUUID().replaceAll("-", "") + "0".repeat(8), "us-west-2");
      const found = await client().getPartner(bizID);
      expect(found).to.include({ biz_id: bizID, suspended: null, user_limit: null, users: 1, server_tokens: 1 });
      expect(found).to.include({ name: "A company", pending_keys: 0, published_keys: 0 });
      expect(await all(client().listPartners({ search: bizID }))).to.deep.equal([found]);
    });

    it("list all partners in pages", async () => {
      const later = await client().createPartner("Another company");
      const listed = await all(client().listPartners({ pageSize: 1, after: bizID }));
      expect(listed.map(({ biz_id }) => biz_id)).to.deep.equal([later.biz_id]);
      expect(proxy.to("/partners/list")).to.have.length(2);
    });

    it("list the filtered audit log in pages", async () => {
      const userID = `${randomUUID().replaceAll("-", "")}00000000`;
      const { user_id } = await partner().createUser(userID, "us-west-2");
      const entries = await all(client().listAuditLog({ bizID, pageSize: 2 }));
      const actions = ["user.created", "serverToken.created", "partner.created"];
      expect(entries.map(({ action }) => action)).to.deep.equal(actions);
      expect(proxy.to("/audit/list")).to.have.length(2);
      const [created, ...others] = await all(client().listAuditLog({ userID, actorKind: "partner", actorID: tokenID }));
      expect(others).to.deep.equal([]);
      expect(created).to.deep.equal(entries[0]);
      expect(created).to.include({ user_id, biz_id: bizID });
      expect(created?.actor).to.deep.equal({ kind: "partner", id: tokenID, name: null, token_id: tokenID });
      expect(await all(client().listAuditLog({ bizID, until: created?.at ?? 0 }))).to.have.length.below(3);
      const own = await all(partner().listAuditLog({ since: created?.at ?? 0, action: "user.created" }));
      expect(own).to.deep.equal([created]);
    });

    it("reject invalid arguments and a response about a different partner", async () => {
      const invalid = [
        () => all(client().listAuditLog({ since: -1 })),
        () => all(client().listAuditLog({ bizID: "two words" })),
        () => all(client().listAuditLog({ actions: "a" } as object)),
        () => client().getPartner("two words"),
        () => client().setUserLimit(bizID, -1),
        () => client().setUserLimit(bizID, 1.5),
        () => client().revokeServerToken(7 as unknown as string),
        () => client().invite(bizID, "Ada", { role: "owner" as "reader" }),
        () => client().removeStaff("two words", "Ada"),
        () => client().removeStaff(bizID, 7 as unknown as string),
        () => client().discardPublicKey("two words", USER.userID, USER.keyID),
        () => client().discardPublicKey(bizID, USER.userID, 7 as unknown as string),
        () => all(client().listPartners({ search: 7 as unknown as string })),
        () => all(client().listPartners({ pageSize: 0 })),
        () => all(client().listPartners({ serch: "a" } as object)),
        () => all(client().listServerTokens("two words")),
      ];
      for (const call of invalid) {
        const error = await failure(Promise.resolve().then<unknown>(call));
        expect(error, String(call)).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID" });
      }
      expect(await failure(client().discardPublicKey(bizID, "y", USER.keyID))).to.include({ code: "USER_ID_INVALID" });
      const answer = await client().getPartner(bizID);
      const fetch = () => Promise.resolve(new Response(JSON.stringify(answer)));
      expect(await failure(client({ fetch }).getPartner("biz_other"))).to.include({ code: "SERVICE_ANSWER_INVALID" });
    });
  });

  describe("publishRegistered", () => {
    it("returns the published batches", async () => {
      expect(await client().publishRegistered()).to.deep.equal([BATCH]);
    });

    it("sends a request only once", async () => {
      proxy.fail("/publishRegistered", { status: 503 });
      expect(await failure(client().publishRegistered())).to.include({ status: 503 });
      expect(proxy.to("/publishRegistered")).to.have.length(1);
    });

    it("has its own timeout", async () => {
      expect(await client({ timeoutMs: 1 }).publishRegistered()).to.deep.equal([BATCH]);
      proxy.disturb(() => "silence");
      expect(await failure(client().publishRegistered({ timeoutMs: 50 }))).to.include({ code: "TIMEOUT" });
    });
  });

  describe("a call that the service rejects", () => {
    it("fails with the service's error code and status", async () => {
      const [{ bizID }, other] = [await service.createPartner(), await service.createPartner()];
      await client().invite(other.bizID, "Ada");
      const { userID } = await service.createUser(other);
      for (const [call, code, status] of [
        [() => client().createPartner("x".repeat(201)), "TEXT_TOO_LONG", 400],
        [() => client().createServerToken("biz_unknown"), "PARTNER_UNKNOWN", 404],
        [() => client().invite("biz_unknown", "Ada"), "PARTNER_UNKNOWN", 404],
        [() => client().removeStaff(bizID, "Ada"), "PERSON_UNKNOWN", 404],
        [() => client().discardPublicKey(bizID, userID, USER.keyID), "USER_UNKNOWN", 404],
      ] as const)
        expect(await failure(call())).to.include({ name: "ServiceError", code, status });
    });
  });

  describe("every operation", () => {
    const operations = (admin: AdminClient, signal?: AbortSignal) => [
      () => admin.createPartner("A company", { signal }),
      () => admin.createServerToken("biz_1", { signal }),
      () => admin.invite("biz_1", "Ada", { signal }),
      () => admin.inviteOperator("Olga", { signal }),
      () => admin.publishRegistered({ signal }),
      () => admin.getPartner("biz_1", { signal }),
      () => admin.listPartners({ signal }).next(),
      () => admin.suspendPartner("biz_1", { signal }),
      () => admin.resumePartner("biz_1", { signal }),
      () => admin.setUserLimit("biz_1", 5, { signal }),
      () => admin.listServerTokens("biz_1", { signal }).next(),
      () => admin.revokeServerToken(TOKEN.token_id, { signal }),
      () => admin.listAuditLog({ signal }).next(),
      async () => (await admin.removeStaff("biz_1", "Ada", { signal }), true),
      async () => (await admin.discardPublicKey("biz_1", USER.userID, USER.keyID, { signal }), true),
    ];

    it("fails with ADMIN_TOKEN_REFUSED for a wrong token", async () => {
      for (const operation of operations(client({ adminToken: "x".repeat(40) })))
        expect(await failure(operation())).to.include({ code: "ADMIN_TOKEN_REFUSED", status: 401 });
    });

    it("fails with ABORTED if the caller aborts it", async () => {
      proxy.disturb(() => "silence");
      for (const operation of operations(client(), AbortSignal.timeout(20)))
        expect(await failure(operation())).to.include({ name: "AbortError", code: "ABORTED" });
    });

    it("fails with an error code for every malformed response", async () => {
      const good = {
        ...{ biz_id: "biz_1", name: "n", created: 1, token: `krs_${"x".repeat(43)}` },
        ...{ person_id: randomUUID(), role: "reader", url: "http://localhost:1/dashboard/#/invitation/x", expires: 1 },
        batches: [BATCH],
        ...PARTNER,
        ...TOKEN,
        ...{ partners: [PARTNER], tokens: [TOKEN], next: null, entries: [ENTRY] },
        ...{ user_id: USER.userID, key_id: USER.keyID, state: "unregistered" },
      };
      const answering = (answer: object) =>
        operations(client({ fetch: () => Promise.resolve(new Response(JSON.stringify(answer))) }));
      for (const operation of answering(good)) expect(await operation()).to.be.ok;
      const field = fc.constantFrom(...Object.keys(good));
      await fc.assert(
        fc.asyncProperty(field, fc.jsonValue(), async (name, value) => {
          for (const operation of answering({ ...good, [name]: value })) {
            await operation().catch((error: unknown) => {
              if (!(error instanceof KeyrootError)) throw error;
            });
          }
        }),
        { numRuns: 50 },
      );
      for (const [name, batches] of Object.entries({ root: "a", users: -1, transaction: "0x", block: "7" })) {
        const [, , publish] = answering({ batches: [{ ...BATCH, [name]: batches }] });
        expect(await failure(publish?.() ?? Promise.resolve())).to.include({ code: "SERVICE_ANSWER_INVALID" });
      }
    });
  });

  describe("the constructor", () => {
    it("rejects invalid options without revealing the admin token", () => {
      const refused = (options: Partial<Record<keyof AdminClientOptions, unknown>>) =>
        refusalOf(() => client(options as Partial<AdminClientOptions>));
      for (const adminToken of ["", "two words", "ümlaut", "x".repeat(501), 7, undefined])
        expect(refused({ adminToken }), String(adminToken)).to.equal("ARGUMENT_INVALID");
      for (const serviceUrl of ["", "http://keys.example", "https://keys.example/?a=b", 7])
        expect(refused({ serviceUrl }), String(serviceUrl)).to.equal("ARGUMENT_INVALID");
      for (const timeoutMs of [0, 1.5, 2 ** 31]) expect(refused({ timeoutMs })).to.equal("ARGUMENT_INVALID");
      for (const retries of [-1, 101]) expect(refused({ retries })).to.equal("ARGUMENT_INVALID");
      expect(refusalOf(() => new AdminClient(undefined as unknown as AdminClientOptions))).to.equal("ARGUMENT_INVALID");
      expect(() => client({ adminToken: "two Secret-words" }))
        .to.throw(/adminToken/)
        .with.property("message")
        .not.include("Secret");
    });

    it("throws BROWSER_REFUSED in browsers", () => {
      const globals = globalThis as Record<string, unknown>;
      globals["document"] = {};
      try {
        expect(refusalOf(() => client())).to.equal("BROWSER_REFUSED");
      } finally {
        delete globals["document"];
      }
    });

    it("creates a client whose printed form does not contain the token", () => {
      expect(inspect(client(), { depth: 10, showHidden: true }) + JSON.stringify(client())).not.to.include(ADMIN_TOKEN);
    });
  });
});
