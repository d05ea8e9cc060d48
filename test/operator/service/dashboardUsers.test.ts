import { expect } from "chai";
import { randomBytes } from "node:crypto";
import { generateKeyPair } from "../../../packages/keyroot/src/identity/newPublicKey.ts";
import { userIDFromHex } from "../../../packages/keyroot/src/identity/userID.ts";
import { expectProblem, type TestPartner } from "../../support/service/caller.ts";
import { signInPerson, type TestPerson } from "../../support/service/dashboardPerson.ts";
import { dump } from "../../support/service/dump.ts";
import { serviceOnPostgres } from "../../support/service/support.ts";

describe("the dashboard's calls about users", () => {
  const log: string[] = [];
  const service = serviceOnPostgres({ log, holdMs: 60_000, explorerUrl: "https://explorer.test/" });
  let partner: TestPartner;
  let admin: TestPerson;
  const newHex = () => randomBytes(20).toString("hex");

  before(async () => {
    partner = await service.createPartner("Acme");
    admin = await signInPerson(service, partner.bizID, "Ada");
  });

  const createToken = async (user_id_hex: string, context = "A phone") => {
    await admin.verify();
    const { status, body, text } = await admin.call("users/createToken", { user_id_hex, context });
    expect(status, text).to.equal(200);
    return body as { token_id: string; token: string };
  };

  it("create a user as the API does, and name the person in the log", async () => {
    const hex = newHex();
    const body = { user_id_hex: hex, region: "eu-west-1" };
    const created = await admin.call("users/create", body);
    expect(created.body).to.include({ user_id: userIDFromHex(hex), region: "eu-west-1", deactivated: null });
    const seen = await service.done("/v1/authdBizSrv/users/get", { user_id_hex: hex }, { token: partner.jwt });
    expect(seen).to.include({ user_id: userIDFromHex(hex), region: "eu-west-1" });
    expect((await admin.call("users/create", body)).body).to.deep.equal(created.body);
    const moved = await admin.call("users/create", { ...body, region: "us-west-2" });
    expectProblem(moved, [409, "USER_ID_TAKEN"]);
    const line = log.find((entry) => entry.includes('"user.created"') && entry.includes(userIDFromHex(hex)));
    expect(line).to.contain('"name":"Ada"').and.contain(admin.personID);
  });

  it("count users against the partner's limit", async () => {
    const limited = await service.createPartner("Limited");
    await service.admin("/v1/admin/partners/setUserLimit", { biz_id: limited.bizID, user_limit: 1 });
    const { call } = await signInPerson(service, limited.bizID, "Lena");
    const create = () => call("users/create", { user_id_hex: newHex(), region: "us-west-2" });
    expect((await create()).status).to.equal(200);
    expectProblem(await create(), [409, "USER_LIMIT_REACHED"]);
  });

  it("create a token that works until it is revoked, and is stored and logged nowhere", async () => {
    const user = await service.createUser(partner);
    const { token, token_id } = await createToken(user.hex, "<b>tablet</b>");
    expect(token).to.match(/^kru_[\w-]+$/);
    const jwt = await service.exchange(partner.bizID, token);
    const listed = (await admin.call("users/listTokens", { user_id_hex: user.hex })).text;
    expect(listed).to.contain("<b>tablet</b>").and.not.contain(token);
    const revoked = await admin.call("users/revokeToken", { user_id_hex: user.hex, token_id });
    expect(revoked.body["revoked"]).to.be.a("number");
    expectProblem(await service.post("/v1/authdUser/record/get", {}, { token: jwt }), [401, "ACCESS_TOKEN_REVOKED"]);
    expect(log.join("")).to.not.contain(token);
    expect(JSON.stringify(await dump(service.databases.home))).to.not.contain(token);
  });

  it("show the state of the key", async () => {
    const user = await service.createUser(partner);
    const get = async () => (await admin.call("users/get", { user_id_hex: user.hex })).body;
    expect((await get())["key"]).to.equal(null);
    await service.registerKey(user, generateKeyPair());
    const { key } = (await get()) as { key: Record<string, unknown> };
    expect(key).to.include({ state: "pending", possession: "proven", root: null, transaction: null, other_keys: 0 });
    expect(key["publishable_at"]).to.be.above(Date.now());
  });

  it("page users and their tokens", async () => {
    const own = await service.createPartner("Company with users");
    const { call } = await signInPerson(service, own.bizID, "Paula");
    const ids = (await Promise.all([0, 1, 2].map(() => service.createUser(own)))).map(({ userID }) => userID).sort();
    const first = (await call("users/list", { limit: 2 })).body as { users: { user_id: string }[]; next: string };
    expect(first.users.map(({ user_id }) => user_id)).to.deep.equal(ids.slice(0, 2));
    const rest = (await call("users/list", { limit: 2, after: first.next })).body as typeof first;
    expect(rest.users.map(({ user_id }) => user_id)).to.deep.equal(ids.slice(2));
  });

  it("of a suspended partner give no new access, and still take access away", async () => {
    const own = await service.createPartner("Suspended");
    const person = await signInPerson(service, own.bizID, "Susan");
    const { hex } = await service.createUser(own);
    await service.admin("/v1/admin/partners/suspend", { biz_id: own.bizID });
    for (const [path, body] of Object.entries({
      "users/create": { user_id_hex: newHex(), region: "us-west-2" },
      "users/createToken": { user_id_hex: hex, context: "x" },
      "serverTokens/create": {},
    })) {
      await person.verify();
      expectProblem(await person.call(path, body), [403, "PARTNER_SUSPENDED"]);
    }
    const { tokens } = (await person.call("users/listTokens", { user_id_hex: hex })).body as {
      tokens: { token_id: string }[];
    };
    const body = { user_id_hex: hex, token_id: tokens[0]?.token_id };
    expect((await person.call("users/revokeToken", body)).status).to.equal(200);
    expect((await person.call("session/get")).body).to.have.nested.property("partner.suspended", true);
  });

  it("refuse a token for a deactivated user", async () => {
    const { hex } = await service.createUser(partner);
    await service.done("/v1/authdBizSrv/users/deactivate", { user_id_hex: hex }, { token: partner.jwt });
    await admin.verify();
    const refused = await admin.call("users/createToken", { user_id_hex: hex, context: "x" });
    expectProblem(refused, [403, "USER_DEACTIVATED"]);
  });

  it("link to the configured explorer", async () => {
    expect((await admin.call("session/get")).body).to.include({ explorer_url: "https://explorer.test/" });
  });
});
