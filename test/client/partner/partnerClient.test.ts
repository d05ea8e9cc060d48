import { expect } from "chai";
import { randomUUID } from "node:crypto";
import { inspect } from "node:util";
import type { PartnerClientOptions } from "../../../packages/client/src/partner/options.ts";
import { PartnerClient } from "../../../packages/client/src/partner/partnerClient.ts";
import { userIDToHex } from "keyroot";
import { randomUserID } from "keyroot/records";
import { type FaultyProxy, faultyProxy } from "../../support/servers/faultyProxy.ts";
import { newPartner, type Partner } from "../../support/service/newPartner.ts";
import { refusalOf } from "../../support/refusalOf.ts";
import { scriptedService } from "../../support/servers/scriptedService.ts";
import { serviceOnPostgres } from "../../support/service/support.ts";
import { all, closedAfterEach, failure } from "../../support/support.ts";

describe("PartnerClient", () => {
  const closing = closedAfterEach();
  const service = serviceOnPostgres();
  let partner: Partner;
  let proxy: FaultyProxy;

  beforeEach(async () => {
    partner = await newPartner(service);
    proxy = closing(await faultyProxy(service.url));
  });

  const client = (options: Partial<PartnerClientOptions> = {}) =>
    new PartnerClient({ serviceUrl: proxy.url, ...partner, ...options });
  const exchanges = () => proxy.to("/auth/jwt").length;

  describe("for users", () => {
    it("returns the same result if it creates the same user again", async () => {
      const [userID, partner] = [randomUserID(), client()];
      const hex = userIDToHex(userID);
      const created = await partner.createUser(userID, "eu-west-1");
      expect(created).to.include({ status: 201, user_id: userID, region: "eu-west-1", stage: "test" });
      expect(created.salt).to.match(/^[0-9a-f]{32}$/);
      for (const id of [hex, hex.toUpperCase()])
        expect(await partner.createUser(id, "eu-west-1")).to.deep.equal(created);
      expect({ status: 201, ...(await partner.getUser(hex)) }).to.deep.equal({ ...created, deactivated: null });
    });

    it("throws USER_ID_TAKEN for a user that exists elsewhere", async () => {
      const userID = randomUserID();
      await client().createUser(userID, "us-west-2");
      const other = client(await newPartner(service));
      const attempts = [() => client().createUser(userID, "eu-west-1"), () => other.createUser(userID, "us-west-2")];
      for (const attempt of attempts) {
        expect(await failure(attempt())).to.include({ name: "ServiceError", code: "USER_ID_TAKEN", status: 409 });
      }
      expect(await failure(other.getUser(userID))).to.include({ code: "USER_UNKNOWN", status: 404 });
    });

    it("creates a list of users, and returns a result for each user", async () => {
      const [a, b, taken] = [randomUserID(), randomUserID(), randomUserID()];
      await client(await newPartner(service)).createUser(taken, "us-west-2");
      const users = [
        { userID: a, region: "eu-west-1" as const, context: "phone" },
        { userID: taken, region: "us-west-2" as const, context: "phone" },
        { userID: userIDToHex(b).toUpperCase(), region: "us-west-2" as const },
      ];
      const idempotencyKey = randomUUID();
      const results = await client().createUsers(users, { idempotencyKey });
      const [first, refused, last] = results as [{ token: string }, { error: Error }, object];
      expect(first).to.deep.equal({ ...(await client().createUser(a, "eu-west-1")), token: first.token });
      expect(first.token).to.match(/^kru_eu-west-1_/);
      expect(refused.error).to.include({ name: "ServiceError", code: "USER_ID_TAKEN", status: 409 });
      expect(refused.error.message).to.include(`the user ${taken}: This user id is already in use`);
      expect(last).to.deep.equal(await client().createUser(b, "us-west-2"));
      const again = await client().createUsers(users, { idempotencyKey });
      expect([again[0], again[2]]).to.deep.equal([first, last]);
    });

    it("checks a list of users before it sends the list", async () => {
      const user = { userID: randomUserID(), region: "us-west-2" as const };
      const invalid: [unknown, string][] = [
        [[], "ARGUMENT_INVALID"],
        [Array(501).fill(user), "ARGUMENT_INVALID"],
        [user, "ARGUMENT_INVALID"],
        [[user, null], "ARGUMENT_INVALID"],
        [[user, { ...user, userID: "x" }], "USER_ID_INVALID"],
        [[user, { ...user, region: 7 }], "ARGUMENT_INVALID"],
        [[user, { ...user, context: 7 }], "ARGUMENT_INVALID"],
      ];
      for (const [users, code] of invalid)
        expect(await failure(client().createUsers(users as never))).to.include({ name: "ArgumentError", code });
      expect(proxy.seen).to.be.empty;
    });

    it("rejects an invalid response to a list of users", async () => {
      const [mine, other] = [randomUserID(), randomUserID()];
      const [good] = await client().createUsers([{ userID: mine, region: "us-west-2" }]);
      const [elsewhere] = await client().createUsers([{ userID: other, region: "us-west-2" }]);
      const answers = [[], [elsewhere], [{ ...good, region: "eu-west-1" }], [good, good], [{ ...good, status: 200 }]];
      for (const users of [...answers, [{ code: "USER_ID_TAKEN" }], [null], undefined]) {
        proxy.fail("/createMany", { status: 200, body: JSON.stringify({ users }) });
        const error = await failure(client().createUsers([{ userID: mine, region: "us-west-2" }]));
        expect(error).to.include({ name: "TransportError", code: "SERVICE_ANSWER_INVALID" });
      }
      proxy.fail("/createMany", { status: 200, body: JSON.stringify({ users: [good] }) });
      const error = await failure(client().createUsers([{ userID: mine, region: "us-west-2", context: "phone" }]));
      expect(error).to.include({ code: "SERVICE_ANSWER_INVALID" });
    });

    it("lists users page by page on demand", async () => {
      const ids = Array.from({ length: 7 }, () => randomUserID());
      for (const id of ids) await client().createUser(id, "us-west-2");
      const listed: string[] = [];
      for await (const { user_id } of client().listUsers({ pageSize: 3 })) {
        listed.push(user_id);
        expect(proxy.to("/users/list")).to.have.lengthOf(Math.ceil(listed.length / 3));
      }
      expect(listed).to.have.members(ids).and.have.lengthOf(7);
      const rest = await all(client().listUsers({ after: listed[4] }));
      expect(rest.map(({ user_id }) => user_id)).to.deep.equal(listed.slice(5));
      expect(await all(client(await newPartner(service)).listUsers())).to.be.empty;
    });

    it("checks a user id before it sends a request", async () => {
      for (const id of ["", "y".repeat(31), "0".repeat(39), "g".repeat(40), `0x${"0".repeat(40)}`]) {
        const error = await failure(client().getUser(id));
        expect(error).to.include({ code: "USER_ID_INVALID" });
        expect(error).to.have.property("message").that.includes("or 40 hex digits, but is");
      }
      for (const pageSize of [0, 1001, 1.5]) {
        expect(await failure(client().listUsers({ pageSize }).next())).to.include({ code: "ARGUMENT_INVALID" });
      }
      expect(proxy.seen).to.be.empty;
    });

    it("throws errors with the service's code, detail and request id", async () => {
      const error = await failure(client().createUser(randomUserID(), "mars" as "us-west-2"));
      expect(error).to.include({ name: "ServiceError", code: "REGION_UNKNOWN", status: 400 });
      expect(error)
        .to.have.property("message")
        .that.matches(/users\/create: .* us-west-2 or eu-west-1/);
      expect(error)
        .to.have.property("requestID")
        .that.matches(/^[0-9a-f-]{36}$/);
      expect(error).to.have.deep.property("errors", [{ field: "region", detail: "must be us-west-2 or eu-west-1" }]);
    });
  });

  describe("for webhooks", () => {
    it("creates, changes, tests and deletes endpoints", async () => {
      const { webhooks } = client();
      const { secret, ...endpoint } = await webhooks.create("https://a.example/", { types: ["key.published"] });
      expect(secret).to.match(/^whsec_/);
      const { endpoint_id } = endpoint;
      expect(await webhooks.list()).to.deep.equal([endpoint]);
      expect(await webhooks.update(endpoint_id, { url: "https://b.example/", types: [] })).to.deep.include({
        ...{ endpoint_id, url: "https://b.example/", types: [] },
      });
      expect((await webhooks.pause(endpoint_id)).paused).to.be.a("number");
      expect((await webhooks.resume(endpoint_id)).paused).to.equal(null);
      expect((await webhooks.rotateSecret(endpoint_id)).secret).not.to.equal(secret);
      const { delivered, error } = await webhooks.test(endpoint_id);
      expect([delivered, error]).to.deep.equal([false, "The host name has an address that is not public."]);
      expect(await all(webhooks.listDeliveries(endpoint_id, { state: "failed", pageSize: 2 }))).to.deep.equal([]);
      expect(await webhooks.redeliverFailed(endpoint_id, 0)).to.equal(0);
      const unknown = await failure(webhooks.redeliver(endpoint_id, randomUUID()));
      expect(unknown).to.include({ name: "ServiceError", code: "EVENT_UNKNOWN", status: 404 });
      await webhooks.delete(endpoint_id);
      expect(await webhooks.list()).to.deep.equal([]);
    });

    it("checks its arguments before it sends a request", async () => {
      const { webhooks } = client();
      const calls = [
        webhooks.create("https://a.example/", { types: "key.published" as never }),
        webhooks.redeliverFailed("x", -1),
        webhooks.listDeliveries("x", { state: "lost" as never }).next(),
      ];
      for (const call of calls) expect(await failure(call)).to.include({ code: "ARGUMENT_INVALID" });
      expect(proxy.seen).to.be.empty;
    });
  });

  describe("for events", () => {
    it("lists each event after a cursor exactly once", async () => {
      const partner = client();
      const ids = Array.from({ length: 3 }, () => randomUserID());
      for (const id of ids) await partner.createUser(id, "us-west-2");
      const first = await partner.listEvents({ limit: 2 });
      const second = await partner.listEvents({ after: first.cursor });
      const listed = [...first.events, ...second.events];
      expect(listed.map(({ type, data }) => [type, data["user_id"]])).to.deep.equal(
        ids.map((id) => ["user.created", id]),
      );
      expect(listed[0]).to.have.all.keys("type", "at", "id", "data");
      expect((await partner.listEvents({ after: second.cursor })).events).to.be.empty;
    });

    it("requires a cursor that belongs to the same partner", async () => {
      await client().createUser(randomUserID(), "us-west-2");
      const { cursor: after } = await client().listEvents();
      const other = client(await newPartner(service));
      expect(await failure(other.listEvents({ after }))).to.include({ code: "CURSOR_UNKNOWN", status: 404 });
      for (const limit of [0, 1001, 1.5])
        expect(await failure(client().listEvents({ limit }))).to.include({ code: "ARGUMENT_INVALID" });
    });
  });

  describe("for refresh tokens", () => {
    it("creates, lists and revokes tokens", async () => {
      const [userID, partner] = [randomUserID(), client()];
      await partner.createUser(userID, "us-west-2");
      expect(await partner.createUserRefreshToken(userID, "telephone")).to.match(/^kru_us-west-2_[\w-]{43}$/);
      const [token, ...others] = await all(partner.listRefreshTokens(userID));
      expect(others).to.be.empty;
      expect(token).to.include({ context: "telephone", revoked: null });
      const revoked = await partner.revokeRefreshToken(userID, token?.token_id ?? "");
      expect(revoked.revoked).to.be.a("number");
      expect(await partner.revokeRefreshToken(userID, revoked.token_id)).to.deep.equal(revoked);
      expect(await all(partner.listRefreshTokens(userID))).to.deep.equal([revoked]);
      expect(await failure(partner.revokeRefreshToken(userID, randomUUID()))).to.include({ code: "TOKEN_UNKNOWN" });
    });

    it("checks the idempotency key before it sends a request", async () => {
      for (const idempotencyKey of [
        "",
        "x".repeat(31),
        "x".repeat(129),
        " ".repeat(32),
        "ü".repeat(32),
        "\n".repeat(32),
      ]) {
        const error = await failure(client().createUserRefreshToken(randomUserID(), "a", { idempotencyKey }));
        expect(error).to.include({ name: "ArgumentError", code: "IDEMPOTENCY_KEY_INVALID" });
      }
      expect(proxy.seen).to.be.empty;
    });

    it("creates a token only once if the connection breaks after the request", async () => {
      const [userID, partner] = [randomUserID(), client()];
      await partner.createUser(userID, "us-west-2");
      proxy.fail("/users/createRefreshToken", "reset after", "reset after");
      await partner.createUserRefreshToken(userID, "a");
      const keys = proxy.to("/users/createRefreshToken").map(({ headers }) => headers["idempotency-key"]);
      expect(keys).to.have.lengthOf(3);
      expect(new Set(keys).size).to.equal(1);
      expect(await all(partner.listRefreshTokens(userID))).to.have.lengthOf(1);
    });
  });

  describe("for server tokens", () => {
    it("throws ACCESS_TOKEN_REVOKED after its token is revoked", async () => {
      const [partner, other] = [client(), client()];
      const [token] = await all(partner.listServerTokens());
      expect(token).to.include({ name: null, revoked: null });
      await all(other.listServerTokens());
      const revoked = await partner.revokeServerToken(token?.token_id ?? "");
      expect(revoked.revoked).to.be.a("number");
      for (const one of [partner, other]) {
        expect(await failure(all(one.listServerTokens()))).to.include({ code: "ACCESS_TOKEN_REVOKED", status: 401 });
      }
      expect(exchanges()).to.equal(2);
      expect(await failure(all(client().listServerTokens()))).to.include({
        code: "REFRESH_TOKEN_REFUSED",
        status: 401,
      });
    });
  });

  describe("with an access token", () => {
    it("replaces the token at most once per call", async () => {
      const partner = client();
      const body = JSON.stringify({ code: "ACCESS_TOKEN_INVALID", detail: "no" });
      proxy.disturb(({ path }) => (path.endsWith("/list") ? { status: 401, body } : undefined));
      for (const exchanged of [2, 3, 4]) {
        expect(await failure(all(partner.listServerTokens()))).to.include({
          code: "ACCESS_TOKEN_INVALID",
          status: 401,
        });
        expect(exchanges()).to.equal(exchanged);
      }
    });
  });

  describe("after a failed request", () => {
    it("repeats the request after the statuses 429 and 503, and after broken connections", async () => {
      const faults = [
        { status: 429, headers: { "Retry-After": "0" } },
        { status: 503 },
        "reset before",
        "reset after",
      ] as const;
      for (const fault of faults) {
        const [userID, partner] = [randomUserID(), client()];
        proxy.fail("/auth/jwt", fault);
        proxy.fail("/users/create", fault);
        const { created } = await partner.createUser(userID, "us-west-2");
        expect(await partner.getUser(userID)).to.include({ user_id: userID, created });
      }
    });
  });

  describe("with an invalid response", () => {
    const userID = randomUserID();
    const token = { token_id: randomUUID(), context: "c", created: 1, revoked: null, last_used: 2 };
    const place = { bucket: "b", region: "us-west-2", stage: "s" };
    const shadowUser = { user_id: userID, ...place, salt: "0".repeat(32), created: 1 };
    const user = { status: 201, ...shadowUser };
    const listed = { ...shadowUser, deactivated: null };

    /** Creates a client. Its service exchanges tokens, and sends this response to every other operation. */
    const answered = (answer: unknown) => client(scriptedService(200, JSON.stringify(answer)));

    const INVALID = {
      createUser: [
        {},
        [],
        null,
        "text",
        { ...user, status: 200 },
        { ...user, user_id: randomUserID() },
        { ...user, user_id: 7 },
        { ...user, region: "eu-west-1" },
        { ...user, region: "mars" },
        { ...user, salt: "0" },
        { ...user, created: -1 },
        { ...user, created: "1" },
        { ...user, bucket: undefined },
      ],
      createUserRefreshToken: [{}, { token: 7 }, { token: "" }, { token: "krs_abc" }, { token: "kru_a b" }],
      getUser: [{}, { ...listed, user_id: randomUserID() }],
      listUsers: [
        {},
        { users: [], next: userID },
        { users: [listed], next: "" },
        { users: [7], next: null },
        { users: {} },
      ],
      listRefreshTokens: [
        {},
        { tokens: [] },
        { tokens: [{}], next: null },
        { tokens: [{ ...token, revoked: "no" }], next: null },
        { tokens: [{ ...token, last_used: "no" }], next: null },
        { tokens: [{ ...token, token_id: "1" }], next: null },
        { tokens: [token], next: "1" },
        { tokens: [], next: token.token_id },
        { tokens: Array.from({ length: 101 }, () => token), next: null },
      ],
      revokeRefreshToken: [{}, { ...token, token_id: randomUUID() }],
      listServerTokens: [{}, { tokens: [token], next: null }, { tokens: [{ ...token, name: 7 }], next: null }],
      revokeServerToken: [{}, { ...token, name: "n", token_id: randomUUID() }],
    } satisfies Partial<Record<keyof PartnerClient, unknown[]>>;

    const CALLS: Record<keyof typeof INVALID, (partner: PartnerClient) => Promise<unknown>> = {
      createUser: (partner) => partner.createUser(userID, "us-west-2"),
      createUserRefreshToken: (partner) => partner.createUserRefreshToken(userID, "c"),
      getUser: (partner) => partner.getUser(userID),
      listUsers: (partner) => all(partner.listUsers()),
      listRefreshTokens: (partner) => all(partner.listRefreshTokens(userID)),
      revokeRefreshToken: (partner) => partner.revokeRefreshToken(userID, token.token_id),
      listServerTokens: (partner) => all(partner.listServerTokens()),
      revokeServerToken: (partner) => partner.revokeServerToken(token.token_id),
    };

    for (const [operation, answers] of Object.entries(INVALID) as [keyof typeof INVALID, unknown[]][]) {
      it(`rejects a malformed response to ${operation}`, async () => {
        for (const answer of answers) {
          const error = await failure(CALLS[operation](answered(answer)));
          expect(error, JSON.stringify(answer)).to.include({ name: "TransportError", code: "SERVICE_ANSWER_INVALID" });
        }
      });
    }

    it("rejects a repeated page", async () => {
      const seen: string[] = [];
      const list = answered({ users: [listed], next: userID }).listUsers();
      const error = await failure(
        (async () => {
          for await (const { user_id } of list) seen.push(user_id);
        })(),
      );
      expect(error).to.include({ code: "SERVICE_ANSWER_INVALID" });
      expect(seen).to.deep.equal([userID, userID]);
    });

    it("removes unknown fields from a response", async () => {
      expect(await answered({ ...user, newer: 1 }).createUser(userID, "us-west-2")).to.deep.equal(user);
    });
  });

  describe("with secrets", () => {
    it("hides secrets in its properties", async () => {
      const partner = client();
      await all(partner.listServerTokens());
      const shown = inspect(partner, { depth: null, showHidden: true }) + JSON.stringify(partner);
      expect(shown).not.to.include("krs_").and.not.to.include("eyJ");
    });

    it("omits secrets from every error", async () => {
      const echo = JSON.stringify({ code: "DEFECT", detail: partner.serverToken, request_id: partner.serverToken });
      const jwt = `{"jwt":"${partner.serverToken}"}`;
      const faults = ["reset before", "silence", { status: 500, body: echo }, { status: 302 }] as const;
      for (const fault of [...faults, { status: 200, body: jwt }, { status: 200, body: partner.serverToken }]) {
        for (const path of ["/auth/jwt", "/serverTokens/list"]) {
          proxy.disturb((request) => (request.path.endsWith(path) ? fault : undefined));
          const error = await failure(all(client({ retries: 1, timeoutMs: 60 }).listServerTokens()));
          const shown = inspect(error, { depth: null, showHidden: true }) + JSON.stringify(error);
          expect(shown)
            .not.to.include(partner.serverToken.slice(4))
            .and.not.to.match(/eyJ[\w-]+\.|Bearer/);
        }
      }
    });
  });

  describe("in a browser", () => {
    for (const name of ["document", "importScripts"]) {
      it(`throws BROWSER_REFUSED if there is a global ${name}`, () => {
        Object.assign(globalThis, { [name]: {} });
        try {
          expect(refusalOf(client)).to.equal("BROWSER_REFUSED");
        } finally {
          Reflect.deleteProperty(globalThis, name);
        }
      });
    }
  });
});
