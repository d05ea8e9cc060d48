import { expect } from "chai";
import { type Answer, expectProblem } from "../../support/service/caller.ts";
import { dump } from "../../support/service/dump.ts";
import { type Forged, forgedTokens } from "../../support/service/forgedTokens.ts";
import { goodBody, makeWorld, OPERATIONS, type Taker, type World } from "../../support/service/operations.ts";
import { ADMIN_TOKEN, describeOnEachDatabase } from "../../support/service/support.ts";

describeOnEachDatabase("tokens at every operation", (service) => {
  let world: World;
  let stranger: World;
  /** What each taker's operations refuse. */
  const refused = {} as Record<Taker, Forged>;

  before(async () => {
    [world, stranger] = await Promise.all([makeWorld(service), makeWorld(service)]);
    const { partner, user } = world;
    const [revokedServer, revokedUser] = await Promise.all([
      service.makeServerToken(partner.bizID),
      service.makeUser(partner),
    ]);
    const token = partner.jwt;
    await service.done("/v1/authdBizSrv/serverTokens/revoke", { token_id: revokedServer.tokenID }, { token });
    const ofUser = { user_id_hex: revokedUser.hex };
    const { tokens } = await service.done("/v1/authdBizSrv/users/listRefreshTokens", ofUser, { token });
    const [{ token_id }] = tokens as [{ token_id: string }];
    await service.done("/v1/authdBizSrv/users/revokeRefreshToken", { ...ofUser, token_id }, { token });

    refused.partner = await forgedTokens(partner.jwt, user.jwt, revokedServer.jwt, partner, user);
    refused.user = await forgedTokens(user.jwt, partner.jwt, revokedUser.jwt, partner, user);
    const { "no token": none, ...others } = refused.partner;
    delete others["the operator's"];
    refused.operator = {
      "no token": none ?? [undefined, ""],
      ...Object.fromEntries(
        Object.entries({
          ...others,
          "a good one of a partner": [partner.jwt],
          "the operator's, one character short": [ADMIN_TOKEN.slice(1)],
          "the operator's, one character long": [`${ADMIN_TOKEN}A`],
        }).map(([kind, [value]]) => [kind, [value, "ADMIN_TOKEN_REFUSED"]]),
      ),
    };
  });

  describe("an operation that takes a token", () => {
    let rows: unknown;
    before(async () => {
      rows = await dump(service.databases.home);
    });

    for (const operation of OPERATIONS.filter(({ taker }) => taker !== "public")) {
      const { path, taker } = operation;

      it(`${path} refuses every token but a good one of its ${taker}, each for its reason`, async () => {
        const expected = Object.entries(refused[taker]);
        expect(expected).to.have.length.greaterThan(30);
        const outcomes = expected.map(async ([kind, [token]]) => {
          const answer = await service.post(path, goodBody(operation, world), token === undefined ? {} : { token });
          expectProblem(answer);
          if (token !== undefined) expect(answer.text).not.to.include(token);
          return [kind, answer.status, answer.body["code"]];
        });
        expect(await Promise.all(outcomes)).to.deep.equal(
          expected.map(([kind, [, code]]) => [kind, code === "ACCESS_TOKEN_KIND" ? 403 : 401, code]),
        );
      });

      it(`${path} takes no token in another way than as Bearer`, async () => {
        const token = world.tokens[taker] ?? "";
        const authorizations = [token, `Basic ${token}`, `Bearer`, `Bearer ${token} ${token}`, `Bearer "${token}"`];
        for (const Authorization of authorizations)
          expectProblem(await service.post(path, goodBody(operation, world), { headers: { Authorization } }), [
            401,
            "ACCESS_TOKEN_MISSING",
          ]);
        expectProblem(await service.post(`${path}?access_token=${token}`, goodBody(operation, world)), [
          401,
          "ACCESS_TOKEN_MISSING",
        ]);
      });

      it(`${path} lets a good token of its ${taker} in`, async () => {
        const { status, text } = await service.post(path, {}, { token: world.tokens[taker] ?? "" });
        expect(status, text).to.be.oneOf([200, 400]);
      });
    }

    it("changed nothing in the database, refusing", async () => {
      expect(await dump(service.databases.home)).to.deep.equal(rows);
    });
  });

  describe("the exchange", () => {
    const EXCHANGE = "/v1/public/auth/jwt";

    it("is the only operation that needs no token", () => {
      expect(OPERATIONS.filter(({ taker }) => taker === "public").map(({ path }) => path)).to.deep.equal([EXCHANGE]);
    });

    it("exchanges nothing but refresh tokens", async () => {
      const { bizID } = world.partner;
      for (const [kind, [token = ""]] of Object.entries({ ...refused.partner, "a good one": [world.partner.jwt] })) {
        if (kind.endsWith("refresh token")) continue;
        const answer = await service.post(EXCHANGE, { biz_id: bizID, token });
        expectProblem(answer);
        expect([kind, answer.body["code"]]).to.deep.equal([kind, codeOfNoRefreshToken(token)]);
      }
    });

    it("does not mind what token the request carries", async () => {
      const { bizID, refreshToken } = world.partner;
      for (const [kind, [token]] of Object.entries(refused.partner)) {
        const answer = await service.post(
          EXCHANGE,
          { biz_id: bizID, token: refreshToken },
          token === undefined ? {} : { token },
        );
        expect([kind, answer.status]).to.deep.equal([kind, 200]);
      }
    });
  });

  describe("another partner, or another partner's user", () => {
    const others = OPERATIONS.filter(({ taker }) => taker === "partner" || taker === "user");

    for (const operation of others) {
      const { path, taker } = operation;

      it(`learns and changes nothing of this partner's by ${path}`, async () => {
        const mine = await rowsOf(world);
        const body = goodBody(operation, world);
        const answer: Answer = await service.post(path, body, { token: stranger.tokens[taker] ?? "" });
        const { partner, user, tokenID } = world;
        for (const secret of [partner.bizID, user.userID, user.hex, tokenID, partner.tokenID, user.refreshToken])
          expect(answer.text).not.to.include(secret);
        if ("user_id_hex" in body || "user_id" in body) {
          const taken = path.endsWith("/create");
          expectProblem(answer, taken ? [409, "USER_ID_TAKEN"] : [404, "USER_UNKNOWN"]);
        } else if ("token_id" in body) {
          expectProblem(answer, [404, "TOKEN_UNKNOWN"]);
        } else {
          expect(answer.status, answer.text).to.equal(200);
        }
        expect(await rowsOf(world)).to.deep.equal(mine);
      });
    }

    it("revokes no server token of this partner's", async () => {
      const path = "/v1/authdBizSrv/serverTokens/revoke";
      const body = { token_id: world.partner.tokenID };
      expectProblem(await service.post(path, body, { token: stranger.partner.jwt }), [404, "TOKEN_UNKNOWN"]);
      await service.exchange(world.partner.bizID, world.partner.refreshToken);
    });

    it("is not let in as another's user by its own partner's refresh token", async () => {
      const { bizID } = world.partner;
      const answer = await service.post("/v1/public/auth/jwt", { biz_id: bizID, token: stranger.user.refreshToken });
      expectProblem(answer, [401, "REFRESH_TOKEN_REFUSED"]);
    });

    /** All rows that name this partner or its user. */
    async function rowsOf({ partner, user }: World): Promise<string[]> {
      const rows = Object.values(await dump(service.databases.home)).flat();
      return rows.filter((row) => row.includes(partner.bizID) || row.includes(user.userID)).sort();
    }
  });
});

/** A text that is no refresh token is refused like one that is unknown, unless its length alone is wrong. */
function codeOfNoRefreshToken(token: string): string {
  if (token === "") return "FIELD_INVALID";
  return token.length > 128 ? "TEXT_TOO_LONG" : "REFRESH_TOKEN_REFUSED";
}
