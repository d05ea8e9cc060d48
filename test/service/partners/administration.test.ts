import { expect } from "chai";
import { makeKeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { generateKeyPair } from "../../../packages/keyroot/src/identity/newPublicKey.ts";
import { takePublishable } from "../../../packages/service/src/publishing/takePublishable.ts";
import { sampleKeyPairs } from "../../support/samples.ts";
import {
  type Answer,
  expectProblem,
  pagesOf,
  randomHex,
  type TestPartner,
  type TestUser,
} from "../../support/service/caller.ts";
import { markPublished } from "../../support/service/markPublished.ts";
import {
  describeOnEachDatabase,
  serviceWithRegions,
  type TestService,
  twoReplicas,
} from "../../support/service/support.ts";

const EXCHANGE = "/v1/public/auth/jwt";
const LIST = "/v1/authdBizSrv/users/list";
const RECORD = "/v1/authdUser/record/get";
const HOUR = 60 * 60 * 1000;
const [KEYS = generateKeyPair()] = sampleKeyPairs;
const { pubKey } = makeKeyRecord("y".repeat(32), KEYS.publicKey);

/** Returns the service's response codes for each kind of token of a partner and its user. */
async function codesOf(service: TestService, partner: TestPartner, user: TestUser): Promise<unknown[]> {
  const { bizID: biz_id } = partner;
  const answers = await Promise.all([
    service.post(EXCHANGE, { biz_id, token: partner.refreshToken }),
    service.post(EXCHANGE, { biz_id, token: user.refreshToken }),
    service.post(LIST, {}, { token: partner.jwt }),
    service.post(RECORD, {}, { token: user.jwt }),
  ]);
  return answers.map((answer) => {
    if (answer.status !== 200) expectProblem(answer);
    return answer.body["code"] ?? answer.status;
  });
}
const ACCEPTED = [200, 200, 200, 200];
/** Users can still read their own record. */
const SUSPENDED = ["PARTNER_SUSPENDED", 200, "PARTNER_SUSPENDED", 200];

describeOnEachDatabase("administration", (service) => {
  const of = (partner: TestPartner) => ({ biz_id: partner.bizID });
  const create = (partner: TestPartner, user_id_hex = randomHex()): Promise<Answer> =>
    service.post("/v1/authdBizSrv/users/create", { user_id_hex, region: "eu-west-1" }, { token: partner.jwt });
  /** Publishes all keys of a region like the publisher. */
  const publishAll = async (root: string) => {
    const keys = await takePublishable(service.databases, "us-west-2", { now: Date.now() + 1 });
    await markPublished(service.databases, { root, userIDs: keys.map(({ userID }) => userID) });
  };

  describe("a partner", () => {
    it("is returned with its numbers", async () => {
      const partner = await service.createPartner("Acme");
      const fresh = await service.admin("/v1/admin/partners/get", of(partner));
      expect(fresh).to.deep.include({ ...of(partner), name: "Acme", suspended: null, user_limit: null });
      expect(fresh).to.include({ users: 0, pending_keys: 0, published_keys: 0, server_tokens: 1 });
      const [first, second] = [await service.createUser(partner), await service.createUser(partner)];
      await service.createUser(partner, "eu-west-1");
      // A repeated creation of the same user is not counted.
      await service.done(
        "/v1/authdBizSrv/users/create",
        { user_id_hex: first.hex, region: "us-west-2" },
        { token: partner.jwt },
      );
      await service.registerKey(first, KEYS);
      await publishAll("a".repeat(64));
      await service.registerKey(second, KEYS);
      const spare = await service.createServerToken(partner.bizID);
      await service.createServerToken(partner.bizID);
      await service.admin("/v1/admin/serverTokens/revoke", { token_id: spare.tokenID });
      const later = await service.admin("/v1/admin/partners/get", of(partner));
      expect(later).to.include({ users: 3, pending_keys: 1, published_keys: 1, server_tokens: 2 });
    });

    it("is found by part of its name or the beginning of its biz_id", async () => {
      const unusual = randomHex();
      const partner = await service.createPartner(`Große Firma ${unusual} 100%`);
      await service.createPartner(`Another firm ${randomHex()}`);
      const find = async (search: string) => {
        const { partners, next } = await service.admin("/v1/admin/partners/list", { search });
        expect(next).to.equal(null);
        return (partners as { biz_id: string }[]).map(({ biz_id }) => biz_id);
      };
      expect(await find(unusual.toUpperCase())).to.deep.equal([partner.bizID]);
      expect(await find(`GROßE FIRMA ${unusual}`)).to.deep.equal([partner.bizID]);
      expect(await find(partner.bizID.slice(0, 20))).to.deep.equal([partner.bizID]);
      for (const search of [`${unusual}%_`, `%${unusual}%`, partner.bizID.slice(1), partner.bizID.toUpperCase()])
        expect(await find(search), search).to.deep.equal([]);
    });

    it("is listed once over all pages, in the order of creation", async () => {
      const name = randomHex();
      const created: string[] = [];
      for (let i = 0; i < 7; i++) created.push((await service.createPartner(name)).bizID);
      const listed: string[] = [];
      const list = (after: object) => service.admin("/v1/admin/partners/list", { search: name, limit: 3, ...after });
      for await (const page of pagesOf(list))
        listed.push(...(page["partners"] as { biz_id: string }[]).map(({ biz_id }) => biz_id));
      expect(listed).to.deep.equal(created);
      const unknown = await service.post("/v1/admin/partners/list", { after: "biz_x" }, { token: service.adminToken });
      expectProblem(unknown, [404, "PARTNER_UNKNOWN"]);
    });
  });

  describe("a partner's suspension", () => {
    it("makes all tokens of the partner invalid until it is resumed", async () => {
      const [partner, other] = [await service.createPartner(), await service.createPartner()];
      const users = await Promise.all([service.createUser(partner), service.createUser(partner, "eu-west-1")]);
      const otherUser = await service.createUser(other);
      const suspended = await service.admin("/v1/admin/partners/suspend", of(partner));
      expect(suspended["suspended"]).to.be.closeTo(Date.now(), 60_000);
      for (const user of users) expect(await codesOf(service, partner, user)).to.deep.equal(SUSPENDED);
      expect(await codesOf(service, other, otherUser)).to.deep.equal(ACCEPTED);
      // Repeating the request does not change the time.
      service.ahead = HOUR;
      expect(await service.admin("/v1/admin/partners/suspend", of(partner))).to.deep.equal(suspended);
      service.ahead = 0;
      for (let i = 0; i < 2; i++)
        expect((await service.admin("/v1/admin/partners/resume", of(partner)))["suspended"]).to.equal(null);
      for (const user of users) expect(await codesOf(service, partner, user)).to.deep.equal(ACCEPTED);
    });

    it("does not hide an earlier revocation of a token", async () => {
      const partner = await service.createPartner();
      const { tokenID, jwt, refreshToken } = await service.createServerToken(partner.bizID);
      await service.admin("/v1/admin/serverTokens/revoke", { token_id: tokenID });
      await service.admin("/v1/admin/partners/suspend", of(partner));
      expectProblem(await service.post(LIST, {}, { token: jwt }), [401, "ACCESS_TOKEN_REVOKED"]);
      const exchange = await service.post(EXCHANGE, { ...of(partner), token: refreshToken });
      expectProblem(exchange, [401, "REFRESH_TOKEN_REFUSED"]);
    });

    it("does not change published keys", async () => {
      const partner = await service.createPartner();
      const user = await service.createUser(partner);
      await service.registerKey(user, KEYS);
      await publishAll("b".repeat(64));
      await service.admin("/v1/admin/partners/suspend", of(partner));
      const key = await service.context.publicKeys.get("us-west-2", user.userID);
      expect(key).to.include({ pubKey, state: "published" });
    });
  });

  describe("a partner's user limit", () => {
    const limit = (partner: TestPartner, user_limit: number | null) =>
      service.admin("/v1/admin/partners/setUserLimit", { ...of(partner), ...(user_limit !== null && { user_limit }) });

    it("prevents more users until it is raised or removed", async () => {
      const partner = await service.createPartner();
      const first = randomHex();
      expect((await create(partner, first)).status).to.equal(201);
      expect((await limit(partner, 2))["user_limit"]).to.equal(2);
      expect((await create(partner)).status).to.equal(201);
      const refused = await create(partner);
      expectProblem(refused, [409, "USER_LIMIT_REACHED"]);
      expect(refused.body["detail"]).to.match(/^You have 2 users, and your limit is 2\./);
      // For an existing user, the response is the same as before.
      expect((await create(partner, first)).status).to.equal(201);
      await limit(partner, 3);
      expect((await create(partner)).status).to.equal(201);
      expectProblem(await create(partner), [409, "USER_LIMIT_REACHED"]);
      await limit(partner, null);
      expect((await create(partner)).status).to.equal(201);
      expect(await service.admin("/v1/admin/partners/get", of(partner))).to.include({ users: 4, user_limit: null });
    });

    it("deletes no user if it is lower than the number of users", async () => {
      const partner = await service.createPartner();
      const user = await service.createUser(partner);
      expect(await limit(partner, 0)).to.include({ users: 1, user_limit: 0 });
      expectProblem(await create(partner), [409, "USER_LIMIT_REACHED"]);
      expect(await codesOf(service, partner, user)).to.deep.equal(ACCEPTED);
    });

    it("does not reveal whether another partner's id exists", async () => {
      const [partner, other] = [await service.createPartner(), await service.createPartner()];
      const hex = randomHex();
      await create(other, hex);
      for (const max of [5, 0]) {
        await limit(partner, max);
        expectProblem(await create(partner, hex), [409, "USER_ID_TAKEN"]);
      }
    });
  });

  describe("a server token", () => {
    it("can be listed and revoked by the operator", async () => {
      const partner = await service.createPartner();
      const second = await service.createServerToken(partner.bizID);
      const { tokens, next } = await service.admin("/v1/admin/serverTokens/list", { ...of(partner), limit: 1 });
      expect(tokens).to.have.length(1);
      expect(next).to.equal(partner.tokenID);
      const page = await service.admin("/v1/admin/serverTokens/list", { ...of(partner), after: next });
      expect(page["tokens"]).to.have.length(1);
      const token_id = second.tokenID;
      const revoked = await service.admin("/v1/admin/serverTokens/revoke", { token_id });
      expect(revoked).to.include({ ...of(partner), token_id });
      expect(await service.admin("/v1/admin/serverTokens/revoke", { token_id })).to.deep.equal(revoked);
      expectProblem(await service.post(LIST, {}, { token: second.jwt }), [401, "ACCESS_TOKEN_REVOKED"]);
      const unknown = { token_id: "00000000-0000-4000-8000-000000000000" };
      const answer = await service.post("/v1/admin/serverTokens/revoke", unknown, { token: service.adminToken });
      expectProblem(answer, [404, "TOKEN_UNKNOWN"]);
    });
  });

  describe("a token's last use", () => {
    it("is the hour of its last exchange or accepted access token", async () => {
      const partner = await service.createPartner();
      const user = await service.createUser(partner);
      const ofUser = { user_id_hex: user.hex };
      const lastUsed = async () => {
        await service.context.refreshTokens.storeUses();
        const { tokens } = await service.done("/v1/authdBizSrv/serverTokens/list", {}, { token: partner.jwt });
        const listed = await service.done("/v1/authdBizSrv/users/listRefreshTokens", ofUser, { token: partner.jwt });
        const all = [...(tokens as object[]), ...(listed["tokens"] as object[])] as { last_used: number | null }[];
        return all.map(({ last_used }) => last_used);
      };
      const spare = await service.admin("/v1/admin/serverTokens/create", of(partner));
      const hour = hourOf(service);
      expect(await lastUsed()).to.deep.equal([hour, null, hour]);
      service.ahead = HOUR;
      await service.done(RECORD, {}, { token: user.jwt });
      expect(await lastUsed()).to.deep.equal([hour, null, hour + HOUR]);
      expect(await lastUsed()).to.deep.equal([hour + HOUR, null, hour + HOUR]);
      await service.exchange(partner.bizID, spare["token"] as string);
      expect(await lastUsed()).to.deep.equal([hour + HOUR, hour + HOUR, hour + HOUR]);
    });

    it("is written at most once per token and hour", async () => {
      const partner = await service.createPartner();
      await service.context.refreshTokens.storeUses();
      const written = () => versionsOf(service, partner.tokenID);
      const before = await written();
      for (let i = 0; i < 5; i++) {
        await service.done(LIST, {}, { token: partner.jwt });
        await service.context.refreshTokens.storeUses();
      }
      expect(await written()).to.equal(before);
      service.ahead = HOUR;
      await service.done(LIST, {}, { token: partner.jwt });
      await service.context.refreshTokens.storeUses();
      expect(await written()).not.to.equal(before);
    });

    it("is not changed by a rejected token", async () => {
      const partner = await service.createPartner();
      await service.context.refreshTokens.storeUses();
      await service.admin("/v1/admin/partners/suspend", of(partner));
      service.ahead = HOUR;
      expectProblem(await service.post(LIST, {}, { token: partner.jwt }), [403, "PARTNER_SUSPENDED"]);
      await service.context.refreshTokens.storeUses();
      const { tokens } = await service.admin("/v1/admin/serverTokens/list", of(partner));
      expect((tokens as { last_used: number }[])[0]?.last_used).to.equal(hourOf(service) - HOUR);
    });
  });

  describe("a deactivated user", () => {
    it("loses its tokens but not its published key", async () => {
      const partner = await service.createPartner();
      const [user, other] = [await service.createUser(partner), await service.createUser(partner)];
      await service.registerKey(user, KEYS);
      await publishAll("c".repeat(64));
      const body = { user_id_hex: user.hex };
      const deactivated = await service.done("/v1/authdBizSrv/users/deactivate", body, { token: partner.jwt });
      expect(deactivated["user_id"]).to.equal(user.userID);
      service.ahead = HOUR;
      expect(await service.done("/v1/authdBizSrv/users/deactivate", body, { token: partner.jwt })).to.deep.equal(
        deactivated,
      );
      expect(await codesOf(service, partner, user)).to.deep.equal([200, "USER_DEACTIVATED", 200, "USER_DEACTIVATED"]);
      const refresh = { ...body, context: "A phone" };
      const answer = await service.post("/v1/authdBizSrv/users/createRefreshToken", refresh, { token: partner.jwt });
      expectProblem(answer, [403, "USER_DEACTIVATED"]);
      const key = await service.done("/v1/authdUser/publicKey/get", { user_id: user.userID }, { token: other.jwt });
      expect(key).to.include({ public_key: pubKey, state: "published" });
    });
  });

  describe("an erased user", () => {
    const erase = (partner: TestPartner, { hex }: TestUser) =>
      service.done("/v1/authdBizSrv/users/erase", { user_id_hex: hex }, { token: partner.jwt });

    it("leaves only its id", async () => {
      const partner = await service.createPartner();
      const user = await service.createUser(partner);
      await service.registerKey(user, KEYS);
      const erased = await erase(partner, user);
      expect(erased).to.include({ user_id: user.userID, key: "deleted" });
      service.ahead = HOUR;
      expect(await erase(partner, user)).to.deep.equal(erased);
      expect(await codesOf(service, partner, user)).to.deep.equal([
        200,
        "REFRESH_TOKEN_REFUSED",
        200,
        "ACCESS_TOKEN_REVOKED",
      ]);
      const { users } = await service.done(LIST, {}, { token: partner.jwt });
      expect(users).to.deep.equal([]);
      const get = await service.post("/v1/authdBizSrv/users/get", { user_id_hex: user.hex }, { token: partner.jwt });
      expectProblem(get, [409, "USER_ERASED"]);
      for (const operation of ["publicKeys/get", "users/deactivate", "users/listRefreshTokens"]) {
        const path = `/v1/authdBizSrv/${operation}`;
        expectProblem(await service.post(path, { user_id: user.userID }, { token: partner.jwt }), [409, "USER_ERASED"]);
        const other = await service.createPartner();
        expectProblem(await service.post(path, { user_id: user.userID }, { token: other.jwt }), [404, "USER_UNKNOWN"]);
      }
      expect(await service.context.publicKeys.get("us-west-2", user.userID)).to.equal(undefined);
    });

    it("cannot be created again by any partner", async () => {
      const [partner, other] = [await service.createPartner(), await service.createPartner()];
      const user = await service.createUser(partner, "eu-west-1");
      await erase(partner, user);
      expectProblem(await create(partner, user.hex), [409, "USER_ERASED"]);
      expectProblem(await create(other, user.hex), [409, "USER_ID_TAKEN"]);
    });

    it("keeps a key that is on the chain", async () => {
      const partner = await service.createPartner();
      const user = await service.createUser(partner);
      await service.registerKey(user, KEYS);
      await publishAll("d".repeat(64));
      expect(await erase(partner, user)).to.include({ key: "remains" });
      expect(await service.context.publicKeys.get("us-west-2", user.userID)).to.include({ state: "published" });
    });
  });
});

describe("administration with two replicas", () => {
  const [a, b] = twoReplicas();

  it("suspends a partner at both replicas immediately", async () => {
    const partner = await a.createPartner();
    const user = await a.createUser(partner);
    for (const replica of [a, b]) expect(await codesOf(replica, partner, user)).to.deep.equal(ACCEPTED);
    await a.admin("/v1/admin/partners/suspend", { biz_id: partner.bizID });
    for (const replica of [a, b]) expect(await codesOf(replica, partner, user)).to.deep.equal(SUSPENDED);
    await b.admin("/v1/admin/partners/resume", { biz_id: partner.bizID });
    for (const replica of [a, b]) expect(await codesOf(replica, partner, user)).to.deep.equal(ACCEPTED);
  });

  it("counts users that both replicas create at the same time", async () => {
    const [first, second] = [await a.createPartner(), await b.createPartner()];
    const create = (i: number) =>
      (i % 2 ? a : b).post(
        "/v1/authdBizSrv/users/create",
        { user_id_hex: randomHex(), region: "us-west-2" },
        { token: (i % 3 ? first : second).jwt },
      );
    await Promise.all(Array.from({ length: 300 }, (_, i) => create(i)));
    const counts = await Promise.all(
      [first, second].map(({ bizID }) => a.admin("/v1/admin/partners/get", { biz_id: bizID })),
    );
    expect(counts.map(({ users }) => users)).to.deep.equal([200, 100]);
  });
});

describe("administration with a database per region", () => {
  const service = serviceWithRegions();

  it("suspends a partner in every region", async () => {
    const partner = await service.createPartner();
    const users = [await service.createUser(partner), await service.createUser(partner, "eu-west-1")];
    for (const user of users) expect((await service.registerKey(user, KEYS)).status).to.equal(200);
    const get = () => service.admin("/v1/admin/partners/get", { biz_id: partner.bizID });
    expect(await get()).to.include({ users: 2, pending_keys: 2 });
    await service.admin("/v1/admin/partners/suspend", { biz_id: partner.bizID });
    for (const user of users) expect(await codesOf(service, partner, user)).to.deep.equal(SUSPENDED);
    await service.admin("/v1/admin/partners/resume", { biz_id: partner.bizID });
    for (const user of users) expect(await codesOf(service, partner, user)).to.deep.equal(ACCEPTED);
  });
});

function hourOf({ ahead }: TestService): number {
  const now = Date.now() + ahead;
  return now - (now % HOUR);
}

/** Returns a value that changes each time PostgreSQL writes the token's row. */
async function versionsOf(service: TestService, tokenID: string): Promise<string> {
  const query = `select xmin::text as version from server_tokens where token_id = '${tokenID}'`;
  const { rows } = (await service.databases.home.execute<Record<string, string>>(query)) as {
    rows: { version: string }[];
  };
  return rows.map(({ version }) => version).join();
}
