import { expect } from "chai";
import { createTenant, OPERATIONS, type Operation, type Tenant } from "../../support/service/operations.ts";
import { serviceOnPostgres } from "../../support/service/support.ts";

const EXCHANGE = "/v1/public/auth/jwt";
const ORIGIN = "https://app.test";

/** Whether web pages may call an operation. Users' apps may, but not partners' servers and the operator. */
const isForBrowsers = ({ tag }: Operation) => tag === "public" || tag === "user";

describe("web pages in browsers", () => {
  const service = serviceOnPostgres();
  let tenant: Tenant;
  before(async () => {
    tenant = await createTenant(service);
  });

  /** The preflight request of a browser. */
  const preflight = (path: string) => {
    const headers = { Origin: ORIGIN, "Access-Control-Request-Method": "POST" };
    return fetch(service.url + path, { method: "OPTIONS", headers });
  };
  const corsHeaders = ({ headers }: { headers: Headers }) =>
    [...headers].filter(([name]) => name.startsWith("access-control-"));

  for (const operation of OPERATIONS) {
    const { path, tag } = operation;
    const token = () => ({ token: tenant.tokens[tag] ?? "", headers: { Origin: ORIGIN } });

    if (isForBrowsers(operation)) {
      it(`may call ${path} and read its errors`, async () => {
        const answer = await preflight(path);
        expect([answer.status, await answer.text()]).to.deep.equal([204, ""]);
        expect(Object.fromEntries(corsHeaders(answer))).to.include({
          "access-control-allow-origin": "*",
          "access-control-allow-methods": "POST",
          "access-control-allow-headers": "Authorization, Content-Type",
        });
        const { headers } = await service.post(path, "{", token());
        expect(headers.get("access-control-allow-origin")).to.equal("*");
        expect(headers.get("access-control-allow-credentials")).to.equal(null);
      });
    } else {
      it(`may not call ${path}`, async () => {
        const answer = await preflight(path);
        expect([answer.status, corsHeaders(answer)]).to.deep.equal([405, []]);
        for (const body of ["{", {}]) expect(corsHeaders(await service.post(path, body, token()))).to.deep.equal([]);
      });
    }
  }

  it("may exchange only users' refresh tokens", async () => {
    const { partner, user } = tenant;
    const exchange = (token: string) => service.post(EXCHANGE, { biz_id: partner.bizID, token });
    const ofUser = await exchange(user.refreshToken);
    expect([ofUser.status, ofUser.headers.get("access-control-allow-origin")]).to.deep.equal([200, "*"]);
    const ofServer = await exchange(partner.refreshToken);
    expect([ofServer.status, corsHeaders(ofServer)]).to.deep.equal([200, []]);
  });

  it("may not call a path outside the API's operations", async () => {
    for (const path of [
      "/",
      "/v1/nowhere",
      "/openapi.json",
      "/openapi-operator.json",
      "/docs",
      "/.well-known/jwks.json",
    ]) {
      const answer = await preflight(path);
      expect([path, answer.status, corsHeaders(answer)]).to.deep.equal([path, answer.status, []]);
      expect(answer.status).to.be.oneOf([404, 405]);
      expect(corsHeaders(await service.get(path))).to.deep.equal([]);
    }
  });
});
