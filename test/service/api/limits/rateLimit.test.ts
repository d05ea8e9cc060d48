import { expect } from "chai";
import { count } from "drizzle-orm";
import { setTimeout as sleep } from "node:timers/promises";
import { type Databases, openDatabases } from "../../../../packages/service/src/api/database/database.ts";
import { passkeyChallenges } from "../../../../packages/service/src/staff/tables.ts";
import { rateLimits } from "../../../../packages/service/src/api/limits/tables.ts";
import { wireTo } from "../../../support/service/brokenWire.ts";
import {
  type Answer,
  expectProblem,
  randomHex,
  type RequestOptions,
  type TestPartner,
} from "../../../support/service/caller.ts";
import { callDashboard } from "../../../support/service/dashboardPerson.ts";
import { sendRaw } from "../../../support/support.ts";
import {
  ADMIN_TOKEN,
  migratedDatabaseUrl,
  TestService,
  type TestServiceOptions,
} from "../../../support/service/support.ts";

const LIMIT = 10;
const LIST = "/v1/authdBizSrv/users/list";
const RECORD = "/v1/authdUser/record/get";
const EXCHANGE = "/v1/public/auth/jwt";

describe("the rate limits", () => {
  let url: string;
  let unlimited: TestService;
  let closing: AsyncDisposableStack;

  before(async () => {
    url = await migratedDatabaseUrl();
  });
  beforeEach(async () => {
    closing = new AsyncDisposableStack();
    unlimited = await replica({ rateLimits: {} });
    await unlimited.databases.home.execute("delete from rate_limits");
  });
  afterEach(() => closing.disposeAsync());

  /** Starts a service with its own connections, like a separate process. */
  async function replica(options: TestServiceOptions = {}): Promise<TestService> {
    const databases: Databases = closing.use(await openDatabases({ url, connections: 4 }));
    const service = await new TestService().start(databases, { rateLimits: { caller: LIMIT }, ...options });
    closing.defer(() => service.close());
    return service;
  }
  const list = (service: TestService, { jwt }: TestPartner) => service.post(LIST, {}, { token: jwt });
  const createMany = (service: TestService, { jwt }: TestPartner, count: number) => {
    const users = Array.from({ length: count }, () => ({ user_id_hex: randomHex(), region: "us-west-2" }));
    return service.post("/v1/authdBizSrv/users/createMany", { users }, { token: jwt });
  };
  const from = (address: string) => ({ headers: { "X-Forwarded-For": address } });
  const refused = (service: TestService, address = "192.0.2.1") => service.post(LIST, {}, from(address));
  /** Repeats a request. @returns the number of responses without RATE_LIMITED */
  const passed = async (times: number, send: (i: number) => Promise<{ status: number }>) => {
    let count = 0;
    for (let i = 0; i < times; i++) if ((await send(i)).status !== 429) count++;
    return count;
  };
  const rows = async () => {
    const counted = await unlimited.databases.home.select({ rows: count() }).from(rateLimits);
    return counted[0]?.rows ?? 0;
  };

  /**
   * Uses up a limit of 100 at the first replica. The second replica still accepts up to a tenth before it shares its
   * count, and some more requests until the database responds.
   */
  const expectShared = async (kind: "address" | "refused", send: (service: TestService) => Promise<Answer>) => {
    const limit = 100;
    const [a, b] = [await replica({ rateLimits: { [kind]: limit } }), await replica({ rateLimits: { [kind]: limit } })];
    expect(await passed(2 * limit, () => send(a))).to.equal(limit);
    const reported = async () => (await unlimited.databases.home.select().from(rateLimits))[0]?.points;
    // A replica may not have shared the last tenth yet.
    while (((await reported()) ?? 0) <= limit - limit / 10) await sleep(10);
    expect(await passed(limit / 10, () => send(b))).to.equal(limit / 10);
    let more = 0;
    for (; (await send(b)).status !== 429; more++) await sleep(500);
    expect(more).to.be.below(limit / 2);
  };

  describe("the rate limit for callers", () => {
    it("is shared exactly by all replicas", async () => {
      const [a, b] = [await replica(), await replica()];
      const partner = await unlimited.createPartner();
      const answers = await Promise.all(Array.from({ length: 3 * LIMIT }, (_, i) => list(i % 2 ? a : b, partner)));
      const passed = answers.filter(({ status }) => status === 200);
      const refused = answers.filter(({ status }) => status !== 200);
      expect(passed).to.have.length(LIMIT);
      for (const answer of refused) expectProblem(answer, [429, "RATE_LIMITED"]);
      for (const service of [a, b]) expectProblem(await list(service, partner), [429, "RATE_LIMITED"]);
    });

    it("sends the remaining seconds of the minute in Retry-After", async () => {
      const service = await replica();
      const partner = await unlimited.createPartner();
      const started = Date.now();
      for (let i = 0; i < LIMIT; i++) expect((await list(service, partner)).status).to.equal(200);
      const { headers } = await list(service, partner);
      const seconds = Number(headers.get("retry-after"));
      const passed = Math.ceil((Date.now() - started) / 1000);
      expect(seconds).to.be.within(60 - passed, 60);
    });

    it("ends after the time in Retry-After", async () => {
      const service = await replica();
      const partner = await unlimited.createPartner();
      for (let i = 0; i <= LIMIT; i++) await list(service, partner);
      // The minute ends in the database, which another replica reads. The first replica still rejects from memory.
      await unlimited.databases.home.execute(`update rate_limits set expire = now() - interval '1 ms'`);
      expect((await list(await replica(), partner)).status).to.equal(200);
    });

    it("counts partners and their users separately", async () => {
      const service = await replica();
      const [partner, other] = [await unlimited.createPartner(), await unlimited.createPartner()];
      const user = await unlimited.createUser(partner);
      for (let i = 0; i <= LIMIT; i++) await list(service, partner);
      expectProblem(await list(service, partner), [429, "RATE_LIMITED"]);
      expect((await list(service, other)).status).to.equal(200);
      expect((await service.post(RECORD, {}, { token: user.jwt })).status).to.equal(200);
    });

    it("also counts token exchanges", async () => {
      const service = await replica();
      const { bizID, refreshToken } = await unlimited.createPartner();
      const exchange = () => service.post(EXCHANGE, { biz_id: bizID, token: refreshToken });
      expect(await passed(LIMIT + 3, exchange)).to.equal(LIMIT);
      const user = await unlimited.createUser(await unlimited.createPartner());
      expect((await service.post(RECORD, {}, { token: user.jwt })).status).to.equal(200);
    });

    it("counts each user in a list", async () => {
      const service = await replica();
      const partner = await unlimited.createPartner();
      const create = (users: number) => createMany(service, partner, users);
      const first = await create(LIMIT - 3);
      expect(first.status).to.equal(200);
      expect(first.headers.get("ratelimit")).to.match(/^"caller";r=3;t=\d+$/);
      const tooLong = await create(LIMIT + 1);
      expectProblem(tooLong, [400, "FIELD_INVALID"]);
      expect(tooLong.body["detail"])
        .to.include(`has ${LIMIT + 1} items.`)
        .and.include(`the limit is ${LIMIT} requests`);
      expect((await create(2)).status).to.equal(200);
      expectProblem(await create(1), [429, "RATE_LIMITED"]);
    });

    it("creates no user from a list that exceeds the limit", async () => {
      const service = await replica();
      const partner = await unlimited.createPartner();
      expect((await list(service, partner)).status).to.equal(200);
      expectProblem(await createMany(service, partner, LIMIT), [429, "RATE_LIMITED"]);
      expect((await list(unlimited, partner)).body["users"]).to.deep.equal([]);
    });

    it("accepts shorter lists after a list that exceeds the limit", async () => {
      const [a, b] = [await replica(), await replica()];
      const partner = await unlimited.createPartner();
      expect((await createMany(a, partner, LIMIT - 4)).status).to.equal(200);
      // Each rejected request counts as one request.
      for (const [i, service] of [a, b].entries()) {
        const refused = await createMany(service, partner, LIMIT);
        expectProblem(refused, [429, "RATE_LIMITED"]);
        expect(refused.headers.get("ratelimit")).to.match(new RegExp(`^"caller";r=${3 - i};t=\\d+$`));
      }
      expect((await createMany(a, partner, 2)).status).to.equal(200);
      expect((await createMany(b, partner, 1)).status).to.equal(429);
    });

    it("counts the operator's requests from any address", async () => {
      const service = await replica({ trustedProxies: ["127.0.0.1"] });
      const create = (i: number) =>
        service.post("/v1/admin/partners/create", { name: "A" }, { token: ADMIN_TOKEN, ...from(`192.0.2.${i}`) });
      expect(await passed(LIMIT + 3, create)).to.equal(LIMIT);
    });
  });

  describe("the rate limit for addresses", () => {
    const address = { address: LIMIT };

    it("counts every request from an address", async () => {
      const service = await replica({ rateLimits: address, trustedProxies: ["127.0.0.1"] });
      const partner = await unlimited.createPartner();
      const user = await unlimited.createUser(partner);
      const exchange = JSON.stringify({ biz_id: "biz_1", token: "krs_1" });
      type Request = [method: string, path: string, token?: string | undefined, body?: string, type?: string];
      const requests: Record<string, Request> = {
        "of a partner": ["POST", LIST, partner.jwt],
        "of a user": ["POST", RECORD, user.jwt],
        "of the operator": ["POST", "/v1/admin/publishRegistered", ADMIN_TOKEN],
        "without a token": ["POST", LIST],
        "with a forged token": ["POST", LIST, `${partner.jwt}x`],
        "with a guessed admin token": ["POST", "/v1/admin/publishRegistered", "guess"],
        "to exchange": ["POST", EXCHANGE, undefined, exchange],
        "to exchange, malformed": ["POST", EXCHANGE, undefined, "{"],
        "of another content type": ["POST", EXCHANGE, undefined, "x", "text/plain"],
        "to an unknown path": ["POST", "/v1/nowhere"],
        "to /readyz": ["GET", "/readyz"],
        "to a malformed path": ["GET", "/v1/%zz"],
        "with another method": ["DELETE", LIST],
        "that is a preflight": ["OPTIONS", EXCHANGE],
        "for the signing keys": ["GET", "/.well-known/jwks.json"],
        "for the description": ["GET", "/openapi.json"],
        "for the page": ["GET", "/docs/static/index.css"],
      };
      for (const [i, [what, request]] of Object.entries(requests).entries()) {
        const [method, path, token, body = "{}", type = "application/json"] = request;
        const headers = {
          ...from(`192.0.2.${i}`).headers,
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
          ...(method === "POST" && { "Content-Type": type }),
        };
        const send = () => fetch(service.url + path, { method, headers, ...(method === "POST" && { body }) });
        expect(await passed(LIMIT + 5, send), what).to.equal(LIMIT);
      }
    });

    it("counts a 64-bit IPv6 network as one address", async () => {
      const service = await replica({ rateLimits: address, trustedProxies: ["127.0.0.1"] });
      const of = (addresses: (i: number) => string) =>
        passed(3 * LIMIT, (i) => service.post(EXCHANGE, {}, from(addresses(i))));
      expect(await of((i) => `2001:db8:1:2:${i.toString(16)}::${i}`)).to.equal(LIMIT);
      expect(await of((i) => `2001:db8:1:${i}::1`)).to.equal(3 * LIMIT - 1);
      expect(await of((i) => (i % 2 ? "192.0.2.7" : "::ffff:192.0.2.7"))).to.equal(LIMIT);
      expect(await of((i) => (i % 2 ? "2001:DB8:7::1" : "2001:db8:7:0:0:0:0:2"))).to.equal(LIMIT);
    });

    it("counts an invalid IP address as the proxy's address", async () => {
      const service = await replica({ rateLimits: address, trustedProxies: ["127.0.0.1"] });
      expect(await passed(2 * LIMIT, (i) => service.post(EXCHANGE, {}, from(`unknown-${i}`)))).to.equal(LIMIT);
    });

    for (const trustedProxies of [[], ["192.0.2.0/24"]]) {
      it(`ignores X-Forwarded-For from an untrusted sender with trusted proxies ${trustedProxies[0] ?? "none"}`, async () => {
        const service = await replica({ rateLimits: address, trustedProxies });
        expect(await passed(2 * LIMIT, (i) => service.post(EXCHANGE, {}, from(`10.0.0.${i}`)))).to.equal(LIMIT);
      });
    }

    it("uses the address that the trusted proxy added", async () => {
      const service = await replica({ rateLimits: address, trustedProxies: ["127.0.0.1"] });
      const send = (i: number) => service.post(EXCHANGE, {}, from(`10.9.9.${i}, 10.0.0.3`));
      expect(await passed(2 * LIMIT, send)).to.equal(LIMIT);
      expect((await service.post(EXCHANGE, {}, from("10.0.0.4"))).status).to.equal(400);
    });

    it("is shared by all replicas", async () => {
      await expectShared("address", (service) => service.get("/.well-known/jwks.json"));
    });

    it("adds at most 1,000 rows per minute", async () => {
      const { rateLimits: limits } = (await replica({ rateLimits: { address: 20 } })).context;
      type Counted = Parameters<typeof limits.countAddress>;
      const reply = { header: () => undefined, getHeader: () => undefined } as unknown as Counted[1];
      const countEach = () => {
        for (let i = 0; i < 1500; i++) {
          const request = { ip: `2001:db8:${i.toString(16)}::1` } as Counted[0];
          limits.countAddress(request, reply);
        }
      };
      countEach();
      await sleep(100);
      expect(await rows()).to.equal(0);
      countEach();
      while ((await rows()) < 1000) await sleep(10);
      await limits.dropExpired();
      expect(await rows()).to.equal(1000);
      await unlimited.databases.home.execute(`update rate_limits set expire = expire - interval '125 s'`);
      await limits.dropExpired();
      expect(await rows()).to.equal(0);
    });

    it("still applies while the database is unreachable", async () => {
      const wire = await wireTo(url);
      closing.defer(() => wire.close());
      const databases = closing.use(await openDatabases({ url: wire.url, connections: 2 }));
      const service = await new TestService().start(databases, { rateLimits: address });
      closing.defer(() => service.close());
      wire.cut();
      expect(await passed(2 * LIMIT, () => service.get("/.well-known/jwks.json"))).to.equal(LIMIT);
    });
  });

  describe("the rate limit for rejected requests", () => {
    const limits = { refused: LIMIT };

    it("stops callers that guess tokens or send malformed requests", async () => {
      const partner = await unlimited.createPartner();
      const { bizID: biz_id, refreshToken } = partner;
      const guesses: Record<string, (service: TestService, i: number, more: RequestOptions) => Promise<Answer>> = {
        "forged access tokens": (service, i, more) =>
          service.post(LIST, {}, { token: `${partner.jwt.slice(0, -9)}${1e8 + i}`, ...more }),
        "no tokens": (service, _, more) => service.post(LIST, {}, more),
        "refresh tokens": (service, i, more) => service.post(EXCHANGE, { biz_id, token: `krs_${i}` }, more),
        "malformed exchanges": (service, _, more) => service.post(EXCHANGE, "{", more),
        "admin tokens": (service, i, more) =>
          service.post("/v1/admin/publishRegistered", {}, { token: `guess-${i}`, ...more }),
        "unknown paths": (service, i, more) => service.post(`/v1/${i}`, {}, more),
      };
      const service = await replica({ rateLimits: limits, trustedProxies: ["127.0.0.1"] });
      for (const [address, [what, send]] of Object.entries(guesses).entries()) {
        const more = from(`192.0.2.${address}`);
        expect(await passed(2 * LIMIT, (i) => send(service, i, more)), what).to.equal(LIMIT);
        expect((await service.post(EXCHANGE, { biz_id, token: refreshToken }, more)).status).to.equal(200);
      }
    });

    it("counts bytes that are not HTTP", async () => {
      const service = await replica({ rateLimits: limits });
      const answers: string[] = [];
      for (let i = 0; i < LIMIT + 2; i++) answers.push(await sendRaw(service.url, "\x16\x03\x01\r\n\r\n"));
      expect(answers.filter((text) => text.startsWith("HTTP/1.1 400 "))).to.have.length(LIMIT);
      expect(answers.slice(LIMIT)).to.deep.equal(["", ""]);
      expectProblem(await service.post(LIST, {}), [429, "RATE_LIMITED"]);
    });

    it("counts malformed paths together for all callers behind a proxy", async () => {
      const service = await replica({ rateLimits: limits, trustedProxies: ["127.0.0.1"] });
      const send = (i: number) => service.post("/v1/%zz", {}, from(`192.0.2.${i}`));
      expect(await passed(2 * LIMIT, send)).to.equal(LIMIT);
      expect((await refused(service)).status).to.equal(401);
    });

    it("does not count requests of known callers, even if they fail", async () => {
      const service = await replica({ rateLimits: limits });
      const partner = await unlimited.createPartner();
      const invalid = () => service.post(LIST, { limit: "x" }, { token: partner.jwt });
      expect(await passed(3 * LIMIT, invalid)).to.equal(3 * LIMIT);
    });

    it("does not affect valid tokens and public documents at the same address", async () => {
      const service = await replica({ rateLimits: limits });
      const partner = await unlimited.createPartner();
      const user = await unlimited.createUser(partner);
      for (let i = 0; i < LIMIT; i++) expectProblem(await service.post(LIST, {}), [401, "ACCESS_TOKEN_MISSING"]);
      expectProblem(await service.post(LIST, {}), [429, "RATE_LIMITED"]);
      // None of these tokens was used at this replica before.
      expect((await list(service, partner)).status).to.equal(200);
      expect((await service.post(RECORD, {}, { token: user.jwt })).status).to.equal(200);
      const { bizID: biz_id, refreshToken: token, tokenID } = partner;
      expect((await service.post(EXCHANGE, { biz_id, token })).status).to.equal(200);
      for (const path of ["/", "/openapi.json", "/docs", "/.well-known/jwks.json"])
        expect((await service.get(path)).status, path).to.be.below(400);
      await unlimited.done("/v1/authdBizSrv/serverTokens/revoke", { token_id: tokenID }, { token: partner.jwt });
      expectProblem(await list(service, partner), [429, "RATE_LIMITED"]);
    });

    it("rejects guesses of the admin token without a check", async () => {
      const service = await replica({ rateLimits: limits });
      for (let i = 0; i < LIMIT; i++) await service.post(LIST, {});
      const publish = service.post("/v1/admin/partners/list", {}, { token: service.adminToken });
      expectProblem(await publish, [429, "RATE_LIMITED"]);
    });

    it("counts revoked tokens and tokens of the wrong kind", async () => {
      const service = await replica({ rateLimits: limits, trustedProxies: ["127.0.0.1"] });
      const partner = await unlimited.createPartner();
      const user = await unlimited.createUser(partner);
      expect((await list(service, partner)).status).to.equal(200);
      const { tokenID } = partner;
      await unlimited.done("/v1/authdBizSrv/serverTokens/revoke", { token_id: tokenID }, { token: partner.jwt });
      for (const [i, jwt] of [partner.jwt, user.jwt].entries()) {
        const send = () => service.post(LIST, {}, { token: jwt, ...from(`192.0.2.${i}`) });
        expect(await passed(3 * LIMIT, send)).to.equal(LIMIT);
        const atOnce = await Promise.all(Array.from({ length: LIMIT }, send));
        expect(atOnce.map(({ status }) => status)).to.deep.equal(atOnce.map(() => 429));
      }
    });

    it("stops callers that guess secrets at operations without access tokens", async () => {
      const service = await replica({ rateLimits: limits, trustedProxies: ["127.0.0.1"] });
      const { bizID: biz_id, jwt: token } = await unlimited.createPartner();
      expect((await service.post(LIST, {}, { token })).status).to.equal(200);
      const guesses: ((i: number) => [path: string, body: object])[] = [
        (i) => [EXCHANGE, { biz_id, token: `krs_${i}` }],
        (i) => ["/v1/dashboard/invitations/accept", { token: `guess-${i}` }],
        (i) => [`/v1/${i}`, {}],
      ];
      for (const [address, guess] of guesses.entries()) {
        const Origin = service.url.replace("127.0.0.1", "localhost");
        const more = { token, headers: { ...from(`192.0.2.${address}`).headers, Origin } };
        expect(await passed(2 * LIMIT, (i) => service.post(...guess(i), more))).to.equal(LIMIT);
      }
    });

    it("counts each sign-in challenge", async () => {
      const service = await replica({ rateLimits: limits });
      const stored = async () => (await unlimited.databases.home.select().from(passkeyChallenges)).length;
      const before = await stored();
      const path = "/v1/dashboard/session/signInOptions";
      expect(await passed(2 * LIMIT, () => callDashboard(service, path))).to.equal(LIMIT);
      expect(await stored()).to.equal(before + LIMIT);
    });

    it("counts each address behind a trusted proxy separately", async () => {
      const service = await replica({ rateLimits: limits, trustedProxies: ["127.0.0.1"] });
      expect(await passed(2 * LIMIT, () => refused(service, "192.0.2.1"))).to.equal(LIMIT);
      expect((await refused(service, "192.0.2.2")).status).to.equal(401);
    });

    it("is shared by all replicas", async () => {
      await expectShared("refused", refused);
    });
  });

  describe("the rate limits in response headers", () => {
    const three = { address: 30, refused: 20, caller: LIMIT };

    it("contain the remaining requests of each limit", async () => {
      const service = await replica({ rateLimits: three });
      const partner = await unlimited.createPartner();
      const { headers } = await list(service, partner);
      expect(parseList(headers.get("ratelimit-policy"))).to.deep.equal({
        address: { q: 30, w: 60 },
        refused: { q: 20, w: 60 },
        caller: { q: LIMIT, w: 60 },
      });
      expect(parseList(headers.get("ratelimit"))).to.deep.equal({
        address: { r: 29, t: 60 },
        caller: { r: LIMIT - 1, t: 60 },
      });
      const again = await service.post(LIST, {});
      expect(parseList(again.headers.get("ratelimit"))).to.deep.equal({
        address: { r: 28, t: 60 },
        refused: { r: 19, t: 60 },
      });
    });

    it("contain the exceeded limit and its reset time", async () => {
      const service = await replica({ rateLimits: three });
      const partner = await unlimited.createPartner();
      for (let i = 0; i < LIMIT; i++) await list(service, partner);
      const expectExceeded = (policy: string, answer: Answer) => {
        expectProblem(answer, [429, "RATE_LIMITED"]);
        const item = parseList(answer.headers.get("ratelimit"))[policy];
        expect(item).to.deep.equal({ r: 0, t: Number(answer.headers.get("retry-after")) });
      };
      for (let i = 0; i < 2; i++) expectExceeded("caller", await list(service, partner));
      while ((await service.post(LIST, {})).status === 401);
      expectExceeded("address", await service.post(LIST, {}));
      const other = await replica({ rateLimits: { refused: 2 } });
      while ((await other.post(LIST, {})).status === 401);
      expectExceeded("refused", await other.post(LIST, {}));
    });

    it("are missing if the service has no limits", async () => {
      const { headers } = await unlimited.post(LIST, {});
      expect([headers.get("ratelimit"), headers.get("ratelimit-policy")]).to.deep.equal([null, null]);
    });

    it("can be read by web pages, even in a rejected response", async () => {
      const service = await replica({ rateLimits: { address: 1 } });
      for (const status of [401, 429]) {
        const { headers, status: actual } = await service.post(RECORD, {});
        expect(actual).to.equal(status);
        expect(headers.get("access-control-allow-origin")).to.equal("*");
        expect(headers.get("access-control-expose-headers")).to.match(/RateLimit, RateLimit-Policy, Retry-After/);
      }
    });
  });
});

/** Parses a structured field (RFC 9651): a list of strings with integers as parameters. */
function parseList(field: string | null): Record<string, Record<string, number>> {
  expect(field).to.match(/^"[a-z]+"(?:;[a-z]+=\d+)+(?:, "[a-z]+"(?:;[a-z]+=\d+)+)*$/);
  const items = (field ?? "").split(", ").map((item) => {
    const [name = "", ...parameters] = item.split(";");
    const entries = parameters.map((parameter) => {
      const [key = "", value] = parameter.split("=");
      return [key, Number(value)] as const;
    });
    return [JSON.parse(name) as string, Object.fromEntries(entries)] as const;
  });
  return Object.fromEntries(items);
}
