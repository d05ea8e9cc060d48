import { expect } from "chai";
import { randomBytes } from "node:crypto";
import { userIDFromHex } from "../../packages/keyroot/src/identity/userID.ts";
import { expectProblem, type TestPartner } from "../support/service/caller.ts";
import { signInPerson, type TestPerson } from "../support/service/dashboardPerson.ts";
import { dump } from "../support/service/dump.ts";
import { serviceOnPostgres } from "../support/service/support.ts";
import type { Operation } from "../../packages/service/src/app/defineOperation.ts";
import { operations } from "../../packages/service/src/app/operations.ts";
import { z } from "zod";

describe("users and tokens in the dashboard", () => {
  const log: string[] = [];
  const service = serviceOnPostgres({
    log,
    explorerUrl: "https://explorer.test/",
  });
  let partner: TestPartner;
  let admin: TestPerson;
  const newHex = () => randomBytes(20).toString("hex");

  before(async () => {
    partner = await service.createPartner("Acme");
    admin = await signInPerson(service, partner.bizID, "Ada");
  });

  const createToken = async (user_id_hex: string, context = "A phone") => {
    await admin.verify();
    const { status, body, text } = await admin.call("/v1/authdBizSrv/users/createRefreshToken", {
      user_id_hex,
      context,
    });
    expect(status, text).to.equal(200);
    return String(body["token"]);
  };

  it("create a user as the API does, and name the person in the log", async () => {
    const hex = newHex();
    const body = { user_id_hex: hex, region: "eu-west-1" };
    const created = await admin.call("/v1/authdBizSrv/users/create", body);
    expect(created.body).to.include({ user_id: userIDFromHex(hex), region: "eu-west-1", status: 201 });
    const seen = await service.done("/v1/authdBizSrv/users/get", { user_id_hex: hex }, { token: partner.jwt });
    expect(seen).to.include({ user_id: userIDFromHex(hex), region: "eu-west-1" });
    expect((await admin.call("/v1/authdBizSrv/users/create", body)).body).to.deep.equal(created.body);
    const line = log.find((entry) => entry.includes('"user.created"') && entry.includes(userIDFromHex(hex)));
    expect(line).to.contain('"name":"Ada"').and.contain(admin.personID);
  });

  it("create a token that works until it is revoked, and is stored and logged nowhere", async () => {
    const user = await service.createUser(partner);
    const token = await createToken(user.hex, "<b>tablet</b>");
    expect(token).to.match(/^kru_[\w-]+$/);
    const jwt = await service.exchange(partner.bizID, token);
    const ofUser = { user_id_hex: user.hex };
    const { text: listed, body: page } = await admin.call("/v1/authdBizSrv/users/listRefreshTokens", ofUser);
    const tokens = page["tokens"] as { token_id: string; context: string }[];
    const { token_id } = tokens.find(({ context }) => context === "<b>tablet</b>") ?? {};
    expect(listed).to.contain("<b>tablet</b>").and.not.contain(token);
    const revoked = await admin.call("/v1/authdBizSrv/users/revokeRefreshToken", { user_id_hex: user.hex, token_id });
    expect(revoked.body["revoked"]).to.be.a("number");
    expectProblem(await service.post("/v1/authdUser/record/get", {}, { token: jwt }), [401, "ACCESS_TOKEN_REVOKED"]);
    expect(log.join("")).to.not.contain(token);
    expect(JSON.stringify(await dump(service.databases.home))).to.not.contain(token);
  });

  it("refuse a token for a deactivated user", async () => {
    const { hex } = await service.createUser(partner);
    await service.done("/v1/authdBizSrv/users/deactivate", { user_id_hex: hex }, { token: partner.jwt });
    await admin.verify();
    const refused = await admin.call("/v1/authdBizSrv/users/createRefreshToken", { user_id_hex: hex, context: "x" });
    expectProblem(refused, [403, "USER_DEACTIVATED"]);
  });

  it("see no salt and no bucket of a user in any answer that a reader may get", async () => {
    const { hex, userID } = await service.createUser(partner);
    const reader = await signInPerson(service, partner.bizID, "Rob", { role: "reader" });
    const fields = (schema: z.ZodType) => JSON.stringify(z.toJSONSchema(schema, { io: "output" }));
    const readable = operations.filter(
      (operation: Operation) => operation.callers.includes("partnerStaff") && operation.role !== "administrator",
    );
    expect(readable).to.have.length.above(10);
    for (const { path, answer } of readable) expect(fields(answer), path).to.not.match(/"(?:salt|bucket)"/);
    const { body } = await reader.call("/v1/dashboard/users/get", { user_id_hex: hex });
    expect(body).to.have.all.keys("user_id", "region", "created", "deactivated").and.include({ user_id: userID });
    for (const path of ["get", "list"])
      expectProblem(await reader.call(`/v1/authdBizSrv/users/${path}`, { user_id_hex: hex }), [
        401,
        "ACCESS_TOKEN_MISSING",
      ]);
  });

  it("deactivate and erase a user after a fresh verification, as administrators only", async () => {
    const { hex, refreshToken: token, userID } = await service.createUser(partner);
    const reader = await signInPerson(service, partner.bizID, "Rita", { role: "reader" });
    for (const action of ["deactivate", "erase"]) {
      const path = `/v1/authdBizSrv/users/${action}`;
      await reader.verify();
      expectProblem(await reader.call(path, { user_id_hex: hex }), [403, "ROLE_REFUSED"]);
      expectProblem(await admin.call(path, { user_id_hex: hex }), [403, "VERIFICATION_REQUIRED"]);
      await admin.verify();
      expect((await admin.call(path, { user_id_hex: hex })).status).to.equal(200);
    }
    expectProblem(await admin.call("/v1/dashboard/users/get", { user_id_hex: hex }), [404, "USER_UNKNOWN"]);
    const exchange = await service.post("/v1/public/auth/jwt", { biz_id: partner.bizID, token });
    expect(exchange.status).to.equal(401);
    const { entries } = (await admin.call("/v1/authdBizSrv/audit/list", { user_id_hex: hex })).body as {
      entries: { action: string; actor: { name: string }; user_id: string }[];
    };
    const erased = entries.find(({ action }) => action === "user.erased");
    expect(erased).to.deep.include({ user_id: userID }).and.have.nested.property("actor.name", "Ada");
  });

  it("link to the configured explorer", async () => {
    expect((await admin.call("/v1/dashboard/session/get")).body).to.include({ explorer_url: "https://explorer.test/" });
  });
});
