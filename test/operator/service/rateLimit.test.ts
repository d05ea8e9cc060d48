import { expect } from "chai";
import { type Databases, openDatabases } from "../../../packages/operator/src/service/store/database.ts";
import { expectProblem, type TestPartner } from "../../support/service/caller.ts";
import { freshDatabaseUrl, TestService, type TestServiceOptions } from "../../support/service/support.ts";

const LIMIT = 10;
const LIST = "/v1/authdBizSrv/users/list";
const EXCHANGE = "/v1/public/auth/jwt";

describe("the rate limit", () => {
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

  /** A service with its own connections, like a separate process. */
  async function replica(options: TestServiceOptions = {}): Promise<TestService> {
    const databases: Databases = closing.use(await openDatabases({ url, connections: 4 }));
    await databases.migrate();
    const service = await new TestService().start(databases, { rateLimit: LIMIT, ...options });
    closing.defer(() => service.close());
    return service;
  }
  const list = (service: TestService, { jwt }: TestPartner) => service.post(LIST, {}, { token: jwt });

  it("is shared by all replicas, and exact", async () => {
    const [a, b] = [await replica(), await replica()];
    const partner = await unlimited.createPartner();
    const answers = await Promise.all(Array.from({ length: 3 * LIMIT }, (_, i) => list(i % 2 ? a : b, partner)));
    const passed = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(passed).to.have.length(LIMIT);
    for (const answer of refused) expectProblem(answer, [429, "RATE_LIMITED"]);
    for (const service of [a, b]) expectProblem(await list(service, partner), [429, "RATE_LIMITED"]);
  });

  it("sends the remaining seconds of the minute as Retry-After", async () => {
    const service = await replica();
    const partner = await unlimited.createPartner();
    const started = Date.now();
    for (let i = 0; i < LIMIT; i++) expect((await list(service, partner)).status).to.equal(200);
    const { headers } = await list(service, partner);
    const seconds = Number(headers.get("retry-after"));
    const passed = Math.ceil((Date.now() - started) / 1000);
    expect(seconds).to.be.within(60 - passed, 60);
  });

  it("ends when the time in Retry-After is over", async () => {
    const service = await replica();
    const partner = await unlimited.createPartner();
    for (let i = 0; i <= LIMIT; i++) await list(service, partner);
    // The minute ends in the database. Another replica reads it; the first one still rejects from memory.
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
    expect((await service.post("/v1/authdUser/record/get", {}, { token: user.jwt })).status).to.equal(200);
  });

  it("applies to admin tokens, valid or not, so that they cannot be guessed", async () => {
    const service = await replica();
    const guess = () => service.post("/v1/admin/publish", {}, { token: "guess" });
    for (let i = 0; i < LIMIT; i++) expectProblem(await guess(), [401, "ADMIN_TOKEN_REFUSED"]);
    expectProblem(await guess(), [429, "RATE_LIMITED"]);
  });

  describe("of exchanges, per address", () => {
    let tries = 0;
    const exchange = async (service: TestService, forwardedFor?: string) => {
      const headers = forwardedFor === undefined ? {} : { "X-Forwarded-For": forwardedFor };
      const body = { biz_id: `biz_${++tries}`, token: "x" };
      return (await service.post(EXCHANGE, body, { headers })).status;
    };
    const resetCounts = () => unlimited.databases.home.execute("delete from rate_limits");
    beforeEach(resetCounts);

    it("ignores X-Forwarded-For without trusted proxies", async () => {
      const service = await replica();
      for (let i = 0; i < LIMIT; i++) expect(await exchange(service, `10.0.0.${i}`)).to.equal(401);
      expect(await exchange(service, "10.0.0.99")).to.equal(429);
    });

    it("ignores X-Forwarded-For from a proxy that is not trusted", async () => {
      const service = await replica({ trustedProxies: ["192.0.2.0/24"] });
      for (let i = 0; i < LIMIT; i++) expect(await exchange(service, `10.0.0.${i}`)).to.equal(401);
      expect(await exchange(service, "10.0.0.99")).to.equal(429);
    });

    it("counts each caller behind a trusted proxy separately", async () => {
      const service = await replica({ trustedProxies: ["127.0.0.0/8"] });
      for (let i = 0; i < LIMIT; i++) expect(await exchange(service, "10.0.0.1")).to.equal(401);
      expect(await exchange(service, "10.0.0.1")).to.equal(429);
      expect(await exchange(service, "10.0.0.2")).to.equal(401);
    });

    it("uses the address that the trusted proxy added, not those that the caller sent", async () => {
      const service = await replica({ trustedProxies: ["127.0.0.1"] });
      for (let i = 0; i < LIMIT; i++) expect(await exchange(service, `10.9.9.${i}, 10.0.0.3`)).to.equal(401);
      expect(await exchange(service, "10.9.9.99, 10.0.0.3")).to.equal(429);
    });
  });
});
