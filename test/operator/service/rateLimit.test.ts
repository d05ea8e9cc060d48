import { expect } from "chai";
import { type Databases, openDatabases } from "../../../packages/operator/src/service/store/database.ts";
import { expectProblem, type TestPartner } from "../../support/service/caller.ts";
import { freshDatabaseUrl, TestService, type TestServiceOptions } from "../../support/service/support.ts";

const LIMIT = 10;
const LIST = "/v1/authdBizSrv/users/list";
const EXCHANGE = "/v1/public/auth/jwt";

describe("the limit of rate", () => {
  let url: string;
  let unlimited: TestService;
  let closing: AsyncDisposableStack;

  before(async () => {
    url = await freshDatabaseUrl();
  });
  beforeEach(async () => {
    closing = new AsyncDisposableStack();
    unlimited = await replica({ rateLimit: 0 });
  });
  afterEach(() => closing.disposeAsync());

  /** A service with connections of its own, as a process of its own has them. */
  async function replica(options: TestServiceOptions = {}): Promise<TestService> {
    const databases: Databases = closing.use(await openDatabases({ url, connections: 4 }));
    await databases.migrate();
    const service = await new TestService().start(databases, { rateLimit: LIMIT, ...options });
    closing.defer(() => service.close());
    return service;
  }
  const list = (service: TestService, { jwt }: TestPartner) => service.post(LIST, {}, { token: jwt });

  it("is shared by all replicas: so many requests a minute, and not one more", async () => {
    const [a, b] = [await replica(), await replica()];
    const partner = await unlimited.makePartner();
    const answers = await Promise.all(Array.from({ length: 3 * LIMIT }, (_, i) => list(i % 2 ? a : b, partner)));
    const passed = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(passed).to.have.length(LIMIT);
    for (const answer of refused) expectProblem(answer, [429, "RATE_LIMITED"]);
    for (const service of [a, b]) expectProblem(await list(service, partner), [429, "RATE_LIMITED"]);
  });

  it("says in Retry-After how long to wait: at most the minute", async () => {
    const service = await replica();
    const partner = await unlimited.makePartner();
    const started = Date.now();
    for (let i = 0; i < LIMIT; i++) expect((await list(service, partner)).status).to.equal(200);
    const { headers } = await list(service, partner);
    const seconds = Number(headers.get("retry-after"));
    const passed = Math.ceil((Date.now() - started) / 1000);
    expect(seconds).to.be.within(60 - passed, 60);
  });

  it("is over when the time is over that Retry-After said", async () => {
    const service = await replica();
    const partner = await unlimited.makePartner();
    for (let i = 0; i <= LIMIT; i++) await list(service, partner);
    // The minute is over in the database; the replica that refused remembers, another one asks.
    await unlimited.databases.home.execute(`update rate_limits set expire = now() - interval '1 ms'`);
    expect((await list(await replica(), partner)).status).to.equal(200);
  });

  it("of one partner is not another's, nor its users'", async () => {
    const service = await replica();
    const [partner, other] = [await unlimited.makePartner(), await unlimited.makePartner()];
    const user = await unlimited.makeUser(partner);
    for (let i = 0; i <= LIMIT; i++) await list(service, partner);
    expectProblem(await list(service, partner), [429, "RATE_LIMITED"]);
    expect((await list(service, other)).status).to.equal(200);
    expect((await service.post("/v1/authdUser/record/get", {}, { token: user.jwt })).status).to.equal(200);
  });

  it("holds for the operator's token, right or wrong: it is not to be guessed", async () => {
    const service = await replica();
    const guess = () => service.post("/v1/admin/publish", {}, { token: "guess" });
    for (let i = 0; i < LIMIT; i++) expectProblem(await guess(), [401, "ADMIN_TOKEN_REFUSED"]);
    expectProblem(await guess(), [429, "RATE_LIMITED"]);
  });

  describe("of exchanges, by address", () => {
    let tries = 0;
    const exchange = async (service: TestService, forwardedFor?: string) => {
      const headers = forwardedFor === undefined ? {} : { "X-Forwarded-For": forwardedFor };
      const body = { biz_id: `biz_${++tries}`, token: "x" };
      return (await service.post(EXCHANGE, body, { headers })).status;
    };
    const forget = () => unlimited.databases.home.execute("delete from rate_limits");
    beforeEach(forget);

    it("believes no X-Forwarded-For where no proxy is trusted", async () => {
      const service = await replica();
      for (let i = 0; i < LIMIT; i++) expect(await exchange(service, `10.0.0.${i}`)).to.equal(401);
      expect(await exchange(service, "10.0.0.99")).to.equal(429);
    });

    it("believes none of a proxy that is not the trusted one", async () => {
      const service = await replica({ trustedProxies: ["192.0.2.0/24"] });
      for (let i = 0; i < LIMIT; i++) expect(await exchange(service, `10.0.0.${i}`)).to.equal(401);
      expect(await exchange(service, "10.0.0.99")).to.equal(429);
    });

    it("counts each caller of a trusted proxy by itself", async () => {
      const service = await replica({ trustedProxies: ["127.0.0.0/8"] });
      for (let i = 0; i < LIMIT; i++) expect(await exchange(service, "10.0.0.1")).to.equal(401);
      expect(await exchange(service, "10.0.0.1")).to.equal(429);
      expect(await exchange(service, "10.0.0.2")).to.equal(401);
    });

    it("believes the trusted proxy, not what the caller told it", async () => {
      const service = await replica({ trustedProxies: ["127.0.0.1"] });
      for (let i = 0; i < LIMIT; i++) expect(await exchange(service, `10.9.9.${i}, 10.0.0.3`)).to.equal(401);
      expect(await exchange(service, "10.9.9.99, 10.0.0.3")).to.equal(429);
    });
  });
});
