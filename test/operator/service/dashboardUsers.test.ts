import { expect } from "chai";
import { randomBytes } from "node:crypto";
import { generateKeyPair, type KeyPair } from "../../../packages/keyroot/src/identity/newPublicKey.ts";
import { userIDFromHex } from "../../../packages/keyroot/src/identity/userID.ts";
import { sampleKeyPairs } from "../../../fixtures/samples.ts";
import { keyFieldsOf } from "../../../fixtures/service/answerChallenge.ts";
import { expectProblem, type TestPartner } from "../../support/service/caller.ts";
import { signInPerson, type TestPerson } from "../../support/service/dashboardPerson.ts";
import { dump } from "../../support/service/dump.ts";
import { serviceOnPostgres } from "../../support/service/support.ts";

describe("the dashboard's calls about users", () => {
  const log: string[] = [];
  const service = serviceOnPostgres({
    log,
    holdMs: 60_000,
    holdOnConflict: true,
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
    expect(key).to.include({ state: "pending", possession: "proven", root: null, transaction: null });
    expect(key["other_keys"]).to.deep.equal([]);
    expect(key["publishable_at"]).to.be.above(Date.now());
  });

  describe("a pending key while another one was offered", () => {
    const [own, offered] = sampleKeyPairs as [KeyPair, KeyPair];
    const [keyID, otherID] = [keyFieldsOf(own).keyID, keyFieldsOf(offered).keyID];

    /** A user whose key waits for the partner's decision. */
    const disputed = async () => {
      const user = await service.createUser(partner);
      await service.registerKey(user, own);
      expectProblem(await service.registerKey(user, offered), [409, "PUBLIC_KEY_REGISTERED"]);
      const get = async () => {
        const { key } = (await admin.call("users/get", { user_id_hex: user.hex })).body;
        return key as Record<string, unknown> | null;
      };
      const decide = async (decision: "discardKey" | "approveKey", id = keyID) => {
        await admin.verify();
        return admin.call(`users/${decision}`, { user_id_hex: user.hex, keyID: id });
      };
      return { user, get, decide };
    };
    const logged = (action: string, userID: string) =>
      log.filter((line) => line.includes(`"${action}"`) && line.includes(userID));

    it("is shown with the other one and its time, and is approved once, in the person's name", async () => {
      const { user, get, decide } = await disputed();
      const key = await get();
      expect(key).to.include({ state: "pending", publishable_at: null });
      const [other, ...more] = key?.["other_keys"] as Record<string, unknown>[];
      expect(more).to.deep.equal([]);
      expect(other).to.include({ keyID: otherID, withdrawn: false });
      expect(other?.["offered"]).to.be.closeTo(Date.now(), 60_000);

      expectProblem(await decide("approveKey", otherID), [404, "PUBLIC_KEY_UNKNOWN"]);
      expect((await decide("approveKey")).status).to.equal(200);
      expect((await decide("approveKey")).status).to.equal(200);
      const approved = await get();
      expect(approved?.["publishable_at"]).to.be.above(Date.now());
      expect(approved?.["other_keys"]).to.deep.equal([]);
      const [line, ...others] = logged("key.approved", user.userID);
      expect(line).to.contain('"name":"Ada"').and.contain(admin.personID);
      expect(others).to.deep.equal([]);
    });

    it("is discarded, after which the user can register another one", async () => {
      const { user, get, decide } = await disputed();
      expect((await decide("discardKey")).status).to.equal(200);
      expect(await get()).to.equal(null);
      expect((await decide("discardKey")).status).to.equal(200);
      const [line, ...others] = logged("key.discarded", user.userID);
      expect(line).to.contain('"name":"Ada"').and.contain(admin.personID);
      expect(others).to.deep.equal([]);
      expect((await service.registerKey(user, offered)).status).to.be.below(300);
      expect(await get()).to.include({ keyID: otherID, state: "pending" });
    });

    it("cannot be decided by readers, other partners' people, or without a new verification", async () => {
      const { user, get, decide } = await disputed();
      const before = await get();
      const body = { user_id_hex: user.hex, keyID };
      const reader = await signInPerson(service, partner.bizID, "Rita", { role: "reader" });
      const stranger = await signInPerson(service, (await service.createPartner("Other")).bizID, "Mallory");
      for (const path of ["users/discardKey", "users/approveKey"]) {
        await reader.verify();
        expectProblem(await reader.call(path, body), [403, "ROLE_REFUSED"]);
        await stranger.verify();
        expectProblem(await stranger.call(path, body), [404, "USER_UNKNOWN"]);
        expectProblem(await admin.call(path, body), [403, "VERIFICATION_REQUIRED"]);
      }
      expect((await reader.call("users/get", { user_id_hex: user.hex })).body["key"]).to.deep.equal(before);
      expect((await decide("approveKey")).status).to.equal(200);
    });

    it("that a publisher has taken cannot be decided any more", async () => {
      const { user, get, decide } = await disputed();
      expect((await decide("approveKey")).status).to.equal(200);
      const taken = await service.context.publicKeys.takePublishable("us-west-2", Date.now() + 120_000);
      expect(taken.map(({ userID }) => userID)).to.include(user.userID);
      for (const decision of ["discardKey", "approveKey"] as const)
        expectProblem(await decide(decision), [409, "PUBLIC_KEY_SUBMITTED"]);
      expect(await get()).to.include({ keyID, state: "submitted" });
    });
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
