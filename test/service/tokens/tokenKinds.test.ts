import { expect } from "chai";
import { type Answer, expectProblem } from "../../support/service/caller.ts";
import { signInPerson, type TestPerson } from "../../support/service/dashboardPerson.ts";
import { dump } from "../../support/service/dump.ts";
import { type Forged, forgedTokens } from "../../support/service/forgedTokens.ts";
import {
  goodBody,
  createTenant,
  needsNoAccounts,
  OPERATIONS,
  TABLE,
  type Tag,
  type Tenant,
} from "../../support/service/operations.ts";
import { ADMIN_TOKEN, describeOnEachDatabase } from "../../support/service/support.ts";

/** Operations that a partner's staff may call with a session. */
const PARTNERS_PEOPLE: ReadonlySet<string> = new Set(
  TABLE.filter(({ callers }) => callers.includes("partnerStaff")).map(({ path }) => path),
);

describeOnEachDatabase("tokens in each operation", (service) => {
  let tenant: Tenant;
  let stranger: Tenant;
  /** The tokens that each tag's operations must reject. */
  const rejected = {} as Record<Tag, Forged>;

  before(async () => {
    [tenant, stranger] = await Promise.all([createTenant(service), createTenant(service)]);
    const { partner, user } = tenant;
    const [revokedServer, revokedUser] = await Promise.all([
      service.createServerToken(partner.bizID),
      service.createUser(partner),
    ]);
    const token = partner.jwt;
    await service.done("/v1/authdBizSrv/serverTokens/revoke", { token_id: revokedServer.tokenID }, { token });
    const ofUser = { user_id_hex: revokedUser.hex };
    const { tokens } = await service.done("/v1/authdBizSrv/users/listRefreshTokens", ofUser, { token });
    const [{ token_id }] = tokens as [{ token_id: string }];
    await service.done("/v1/authdBizSrv/users/revokeRefreshToken", { ...ofUser, token_id }, { token });

    rejected.partner = await forgedTokens(partner.jwt, user.jwt, revokedServer.jwt, partner, user);
    rejected.user = await forgedTokens(user.jwt, partner.jwt, revokedUser.jwt, partner, user);
    const { "no token": none, ...others } = rejected.partner;
    delete others["the admin token"];
    rejected.operator = {
      "no token": none ?? [undefined, ""],
      ...Object.fromEntries(
        Object.entries({
          ...others,
          "a valid token of a partner": [partner.jwt],
          "the admin token without its first character": [ADMIN_TOKEN.slice(1)],
          "the admin token with an additional character": [`${ADMIN_TOKEN}A`],
        }).map(([kind, [value]]) => [kind, [value, "ADMIN_TOKEN_REFUSED"]]),
      ),
    };
  });

  describe("an operation that requires a token", () => {
    let rows: unknown;
    before(async () => {
      await service.context.refreshTokens.storeUses();
      rows = await dump(service.databases.home);
    });

    for (const operation of OPERATIONS.filter(({ tag }) => tag !== "public")) {
      const { path, tag } = operation;

      it(`rejects every token except a valid ${tag} token: ${path}`, async () => {
        const expected = Object.entries(rejected[tag]);
        expect(expected).to.have.length.greaterThan(30);
        const outcomes = expected.map(async ([kind, [token]]) => {
          const answer = await service.post(path, goodBody(operation, tenant), token === undefined ? {} : { token });
          expectProblem(answer);
          if (token !== undefined) expect(answer.text).not.to.include(token);
          return [kind, answer.status, answer.body["code"]];
        });
        expect(await Promise.all(outcomes)).to.deep.equal(
          expected.map(([kind, [, code]]) => [kind, code === "ACCESS_TOKEN_KIND" ? 403 : 401, code]),
        );
      });

      it(`accepts tokens only with the Bearer scheme: ${path}`, async () => {
        const token = tenant.tokens[tag] ?? "";
        const authorizations = [token, `Basic ${token}`, `Bearer`, `Bearer ${token} ${token}`, `Bearer "${token}"`];
        for (const Authorization of authorizations)
          expectProblem(await service.post(path, goodBody(operation, tenant), { headers: { Authorization } }), [
            401,
            "ACCESS_TOKEN_MISSING",
          ]);
        expectProblem(await service.post(`${path}?access_token=${token}`, goodBody(operation, tenant)), [
          401,
          "ACCESS_TOKEN_MISSING",
        ]);
      });

      it(`accepts a valid ${tag} token: ${path}`, async () => {
        const { status, text } = await service.post(path, {}, { token: tenant.tokens[tag] ?? "" });
        // 503: this service has no contract for which it could publish keys. It has no accounts either.
        if (needsNoAccounts({ path })) expect(status, text).to.be.oneOf([200, 400, 503]);
        else expect(text).to.match(/"code":"(?:ACCOUNTS_DISABLED|FIELD_MISSING)"/);
      });
    }

    it("changes nothing in the database if it rejects a token", async () => {
      expect(await dump(service.databases.home)).to.deep.equal(rows);
    });
  });

  describe("the token exchange", () => {
    const EXCHANGE = "/v1/public/auth/jwt";

    it("is the only operation that requires no token", () => {
      expect(OPERATIONS.filter(({ tag }) => tag === "public").map(({ path }) => path)).to.deep.equal([EXCHANGE]);
    });

    it("accepts only refresh tokens", async () => {
      const { bizID } = tenant.partner;
      for (const [kind, [token = ""]] of Object.entries({
        ...rejected.partner,
        "a valid access token": [tenant.partner.jwt],
      })) {
        if (kind.endsWith("refresh token")) continue;
        const answer = await service.post(EXCHANGE, { biz_id: bizID, token });
        expectProblem(answer);
        expect([kind, answer.body["code"]]).to.deep.equal([kind, codeOfNoRefreshToken(token)]);
      }
    });

    it("ignores the Authorization header", async () => {
      const { bizID, refreshToken } = tenant.partner;
      for (const [kind, [token]] of Object.entries(rejected.partner)) {
        const answer = await service.post(
          EXCHANGE,
          { biz_id: bizID, token: refreshToken },
          token === undefined ? {} : { token },
        );
        expect([kind, answer.status]).to.deep.equal([kind, 200]);
      }
    });
  });

  describe("another partner or its user", () => {
    let person: TestPerson;
    before(async () => {
      person = await signInPerson(service, stranger.partner.bizID, "Mallory");
    });
    const others = OPERATIONS.filter(({ tag }) => tag === "partner" || tag === "user").filter(needsNoAccounts);

    for (const operation of others) {
      const { path, tag } = operation;

      it(`cannot read or change this partner's data with ${path}`, async () => {
        const body = goodBody(operation, tenant);
        await expectUnchanged(path, body, () => service.post(path, body, { token: stranger.tokens[tag] ?? "" }));
        if (!PARTNERS_PEOPLE.has(path)) return;
        await person.verify();
        await expectUnchanged(path, body, () => person.call(path, body));
      });
    }

    /** Checks that another partner's request with this partner's ids reads and changes nothing. */
    async function expectUnchanged(path: string, body: object, send: () => Promise<Answer>): Promise<void> {
      const mine = await rowsOf(tenant);
      const answer = await send();
      const { partner, user, tokenID } = tenant;
      for (const secret of [partner.bizID, user.userID, user.hex, tokenID, partner.tokenID, user.refreshToken])
        expect(answer.text).not.to.include(secret);
      if (path.endsWith("/audit/list")) {
        expect(answer.body, answer.text).to.deep.equal({ entries: [], next: null });
      } else if ("user_id_hex" in body || "user_id" in body) {
        const taken = path.endsWith("/create");
        expectProblem(answer, taken ? [409, "USER_ID_TAKEN"] : [404, "USER_UNKNOWN"]);
      } else if ("token_id" in body || path.endsWith("/serverTokens/list")) {
        expectProblem(answer, [404, "TOKEN_UNKNOWN"]);
      } else if ("endpoint_id" in body && !path.endsWith("/delete")) {
        expectProblem(answer, [404, "WEBHOOK_UNKNOWN"]);
      } else {
        expect(answer.status, answer.text).to.equal(200);
      }
      expect(await rowsOf(tenant)).to.deep.equal(mine);
    }

    it("cannot revoke this partner's server token", async () => {
      const path = "/v1/authdBizSrv/serverTokens/revoke";
      const body = { token_id: tenant.partner.tokenID };
      expectProblem(await service.post(path, body, { token: stranger.partner.jwt }), [404, "TOKEN_UNKNOWN"]);
      await service.exchange(tenant.partner.bizID, tenant.partner.refreshToken);
    });

    it("cannot exchange its refresh token with this partner's biz_id", async () => {
      const { bizID } = tenant.partner;
      const answer = await service.post("/v1/public/auth/jwt", { biz_id: bizID, token: stranger.user.refreshToken });
      expectProblem(answer, [401, "REFRESH_TOKEN_REFUSED"]);
    });

    /** Returns all rows that contain the ids of this partner or its user. */
    async function rowsOf({ partner, user }: Tenant): Promise<string[]> {
      return Object.values(await dump(service.databases.home, [partner.bizID, user.userID])).flat();
    }
  });
});

/**
 * Returns the error code of a malformed refresh token, which is the same as for an unknown one, except for wrong
 * lengths.
 */
function codeOfNoRefreshToken(token: string): string {
  if (token === "") return "FIELD_INVALID";
  return token.length > 128 ? "TEXT_TOO_LONG" : "REFRESH_TOKEN_REFUSED";
}
