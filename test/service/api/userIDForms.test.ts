import { expect } from "chai";
import { operations } from "../../../packages/service/src/serve/operations.ts";
import { userIDFromHex } from "../../../packages/keyroot/src/identity/userID.ts";
import { describeOnEachDatabase } from "../../support/service/support.ts";
import { expectProblem, type TestPartner, type TestUser } from "../../support/service/caller.ts";

const GET = "/v1/authdBizSrv/users/get";
const LIST_TOKENS = "/v1/authdBizSrv/users/listRefreshTokens";
const CREATE_TOKEN = "/v1/authdBizSrv/users/createRefreshToken";

describe("the user id in a request", () => {
  it("may have two forms except in the operations of the specification", () => {
    const fieldsOf = ({ body }: (typeof operations)[number]) => Object.keys((body as { shape?: object }).shape ?? {});
    const withHex = operations.filter((operation) => fieldsOf(operation).includes("user_id_hex"));
    expect(withHex).to.have.length.above(10);
    for (const operation of withHex)
      expect(fieldsOf(operation).includes("user_id"), operation.path).to.equal(!operation.specified);
  });

  describeOnEachDatabase("in a running service", (service) => {
    let partner: TestPartner;
    let user: TestUser;
    const get = (body: unknown) => service.post(GET, body, { token: partner.jwt });

    before(async () => {
      partner = await service.createPartner();
      user = await service.createUser(partner);
    });

    it("finds the same user in either form", async () => {
      const [byID, byHex] = await Promise.all([get({ user_id: user.userID }), get({ user_id_hex: user.hex })]);
      expect(byID.status).to.equal(200);
      expect(byID.body).to.deep.equal(byHex.body);
      expect(byID.body["user_id"]).to.equal(userIDFromHex(user.hex));
    });

    it("is rejected if it is missing, malformed or present in both forms", async () => {
      expectProblem(await get({}), [400, "FIELD_MISSING"]);
      expectProblem(await get({ user_id: user.hex }), [400, "USER_ID_INVALID"]);
      expectProblem(await get({ user_id: user.userID, user_id_hex: user.hex }), [400, "FIELD_INVALID"]);
    });

    it("selects the same audit log entries in either form", async () => {
      const list = (body: object) => service.post("/v1/authdBizSrv/audit/list", body, { token: partner.jwt });
      const [byID, byHex] = await Promise.all([list({ user_id: user.userID }), list({ user_id_hex: user.hex })]);
      expect(byID.body["entries"]).to.have.length.above(0).and.to.deep.equal(byHex.body["entries"]);
      expectProblem(await list({ user_id: user.userID, user_id_hex: user.hex }), [400, "FIELD_INVALID"]);
    });

    it("lists only the user's tokens that were created at or after since", async () => {
      service.stopClock();
      service.ahead = 60_000;
      const since = Date.now() + 60_000;
      await service.done(CREATE_TOKEN, { user_id_hex: user.hex, context: "a tablet" }, { token: partner.jwt });
      const list = (body: object) =>
        service.done(LIST_TOKENS, { user_id: user.userID, ...body }, { token: partner.jwt });
      const { tokens: all } = (await list({})) as { tokens: { context: string }[] };
      const { tokens } = (await list({ since: since - 30_000 })) as { tokens: { context: string }[] };
      expect(all.length).to.be.above(1);
      expect(tokens.map(({ context }) => context)).to.deep.equal(["a tablet"]);
      expect((await list({ since: since + 30_000 }))["tokens"]).to.deep.equal([]);
    });
  });
});
