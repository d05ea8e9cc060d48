import { expect } from "chai";
import { eq, sql } from "drizzle-orm";
import { randomBytes, randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { userIDFromHex } from "../../../packages/keyroot/src/identity/userID.ts";
import { rowsOf } from "../../../packages/service/src/api/database/database.ts";
import { userTokens } from "../../../packages/service/src/tokens/tables.ts";
import { users } from "../../../packages/service/src/users/tables.ts";
import { sha256 } from "../../support/samples.ts";
import {
  type Answer,
  type RequestOptions,
  expectProblem,
  pagesOf,
  type TestPartner,
  type TestUser,
} from "../../support/service/caller.ts";
import { dump } from "../../support/service/dump.ts";
import { describeOnEachDatabase, serviceOnPostgres } from "../../support/service/support.ts";

const EXCHANGE = "/v1/public/auth/jwt";
const CREATE = "/v1/authdBizSrv/users/createRefreshToken";
const LIST = "/v1/authdBizSrv/users/listRefreshTokens";
const REVOKE = "/v1/authdBizSrv/users/revokeRefreshToken";
const SERVER_CREATE = "/v1/admin/serverTokens/create";
const SERVER_LIST = "/v1/authdBizSrv/serverTokens/list";
const SERVER_REVOKE = "/v1/authdBizSrv/serverTokens/revoke";
const RECORD = "/v1/authdUser/record/get";
const DAY = 24 * 60 * 60 * 1000;

interface TokenInfo {
  token_id: string;
  context?: string;
  name?: string | null;
  created: number;
  revoked: number | null;
}

describeOnEachDatabase("refresh tokens", (service) => {
  let partner: TestPartner;
  let other: TestPartner;
  let user: TestUser;

  const asPartner = (path: string, body: unknown, more: RequestOptions = {}) =>
    service.post(path, body, { token: partner.jwt, ...more });
  const create = (context: string, idempotencyKey?: string) =>
    asPartner(CREATE, { user_id_hex: user.hex, context }, idempotencyKey === undefined ? {} : { idempotencyKey });
  const list = async () =>
    (await service.done(LIST, { user_id_hex: user.hex }, { token: partner.jwt }))["tokens"] as TokenInfo[];
  const createAndFind = async (context: string) => {
    await create(context);
    return (await list()).find((token) => token.context === context)?.token_id ?? "";
  };
  /** Adds tokens to the database. They are revoked by default. */
  const insertTokens = (count: number, { revoked = 2 }: { revoked?: number | null } = {}) =>
    service.databases.regions["eu-west-1"].insert(userTokens).values(
      Array.from({ length: count }, () => ({
        ...{ tokenID: randomUUID(), tokenHash: sha256(randomUUID()), created: 1, revoked },
        ...{ userID: userIDFromHex(user.hex), context: "Another" },
      })),
    );
  const tokenOf = ({ body }: Answer) => body["token"] as string;
  const newKey = () => randomBytes(24).toString("base64url");

  before(async () => {
    [partner, other] = await Promise.all([service.createPartner(), service.createPartner()]);
  });
  beforeEach(async () => {
    user = await service.createUser(partner, "eu-west-1");
  });

  describe("a user's refresh tokens", () => {
    it("have 256 random bits after a prefix with the region", async () => {
      const answer = await create("A laptop");
      expect(answer.status).to.equal(200);
      expect(Object.keys(answer.body)).to.deep.equal(["token"]);
      expect(tokenOf(answer)).to.match(/^kru_eu-west-1_[A-Za-z0-9_-]{43}$/);
      expect(tokenOf(await create("A laptop"))).not.to.equal(tokenOf(answer));
    });

    it("are listed in the order of creation, without their values", async () => {
      await create("Second");
      service.ahead = 1000;
      await create("Ｔｈｉｒｄ 👩‍🚀");
      const tokens = await list();
      expect(tokens.map(({ context }) => context)).to.deep.equal(["A phone", "Second", "Ｔｈｉｒｄ 👩‍🚀"]);
      for (const token of tokens) {
        expect(Object.keys(token).sort()).to.deep.equal(["context", "created", "last_used", "revoked", "token_id"]);
        expect(token.revoked).to.equal(null);
        expect(token.created).to.be.closeTo(Date.now(), 60_000);
      }
    });

    it("are revoked once, even if the request is repeated", async () => {
      // The responses contain the last use, which is otherwise stored only within a second.
      await service.context.refreshTokens.storeUses();
      const [token] = await list();
      const body = { user_id_hex: user.hex.toUpperCase(), token_id: token?.token_id };
      const first = await asPartner(REVOKE, body);
      expect(first.status).to.equal(200);
      expect(first.body).to.deep.equal({ ...token, revoked: first.body["revoked"] });
      expect(first.body["revoked"]).to.be.closeTo(Date.now(), 60_000);
      service.ahead = 5000;
      expect((await asPartner(REVOKE, body)).text).to.equal(first.text);
      expect(await list()).to.deep.equal([first.body]);
    });

    it("invalidate their own access tokens immediately when revoked", async () => {
      const jwt = await service.exchange(partner.bizID, tokenOf(await create("Second")));
      const [token] = await list();
      await service.done(RECORD, {}, { token: user.jwt });
      await asPartner(REVOKE, { user_id_hex: user.hex, token_id: token?.token_id });
      expectProblem(await service.post(RECORD, {}, { token: user.jwt }), [401, "ACCESS_TOKEN_REVOKED"]);
      const exchange = { biz_id: partner.bizID, token: user.refreshToken };
      expectProblem(await service.post(EXCHANGE, exchange), [401, "REFRESH_TOKEN_REFUSED"]);
      await service.done(RECORD, {}, { token: jwt });
    });

    it("cannot be revoked with another user's id", async () => {
      const [token] = await list();
      const another = await service.createUser(partner);
      const body = { user_id_hex: another.hex, token_id: token?.token_id };
      expectProblem(await asPartner(REVOKE, body), [404, "TOKEN_UNKNOWN"]);
      await service.done(RECORD, {}, { token: user.jwt });
    });

    it("are listed in pages while other tokens are created or revoked", async () => {
      const ids = (await list()).map(({ token_id }) => token_id);
      for (let i = 0; i < 6; i++) {
        // Some tokens are created in the same millisecond.
        service.ahead = Math.floor(i / 3) * 1000;
        await create(`Device ${i}`);
      }
      for (const { token_id } of await list()) if (!ids.includes(token_id)) ids.push(token_id);
      const seen: string[] = [];
      const listThree = async (after: object) =>
        (await asPartner(LIST, { user_id_hex: user.hex, limit: 3, ...after })).body;
      for await (const page of pagesOf(listThree)) {
        const tokens = page["tokens"] as TokenInfo[];
        expect(tokens).to.have.length.at.most(3);
        seen.push(...tokens.map(({ token_id }) => token_id));
        await asPartner(REVOKE, { user_id_hex: user.hex, token_id: seen[0] });
        service.ahead = 5000;
        if (seen.length === 3) ids.push(await createAndFind("Late"));
      }
      expect(seen).to.deep.equal(ids);
    });

    it("are listed in pages of 100 by default", async () => {
      await insertTokens(250);
      const page = await service.done(LIST, { user_id_hex: user.hex }, { token: partner.jwt });
      expect(page["tokens"]).to.have.length(100);
      expect(page["next"]).to.equal((page["tokens"] as TokenInfo[]).at(-1)?.token_id);
      const all = await service.done(LIST, { user_id_hex: user.hex, limit: 1000 }, { token: partner.jwt });
      expect([(all["tokens"] as TokenInfo[]).length, all["next"]]).to.deep.equal([251, null]);
      for (const limit of [0, 1001, "5"])
        expectProblem(await asPartner(LIST, { user_id_hex: user.hex, limit }), [400, "FIELD_INVALID"]);
    });

    it("are not listed after a token that does not belong to the user", async () => {
      const [strangers] = (
        await service.done(LIST, { user_id_hex: (await service.createUser(partner)).hex }, { token: partner.jwt })
      )["tokens"] as [TokenInfo];
      for (const after of [strangers.token_id, randomUUID()])
        expectProblem(await asPartner(LIST, { user_id_hex: user.hex, after }), [404, "TOKEN_UNKNOWN"]);
      for (const after of ["x", 7, "y".repeat(32)])
        expectProblem(await asPartner(LIST, { user_id_hex: user.hex, after }), [400, "FIELD_INVALID"]);
    });

    it("are limited to 100 active tokens", async () => {
      await insertTokens(95, { revoked: null });
      // Revoked tokens do not count toward the limit.
      await insertTokens(300);
      const key = newKey();
      const first = await create("A watch", key);
      const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => create(`Device ${i}`)));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(3);
      for (const answer of answers) if (answer.status !== 200) expectProblem(answer, [409, "TOKEN_LIMIT_REACHED"]);
      expectProblem(await create("One more", newKey()), [409, "TOKEN_LIMIT_REACHED"]);
      expect((await create("A watch", key)).text).to.equal(first.text);
      const page = await service.done(LIST, { user_id_hex: user.hex, limit: 1000 }, { token: partner.jwt });
      const active = (page["tokens"] as TokenInfo[]).find(({ revoked }) => revoked === null)?.token_id;
      await asPartner(REVOKE, { user_id_hex: user.hex, token_id: active });
      expect((await create("One more")).status).to.equal(200);
      expectProblem(await create("Another"), [409, "TOKEN_LIMIT_REACHED"]);
    });

    for (const [what, context, code] of [
      ["no context", undefined, "FIELD_MISSING"],
      ["an empty context", "", "FIELD_INVALID"],
      ["a context of 201 characters", "x".repeat(201), "TEXT_TOO_LONG"],
      ["a NUL, which PostgreSQL cannot store", "a\0b", "FIELD_INVALID"],
      ["an unpaired surrogate", "a\ud800", "FIELD_INVALID"],
    ] as const) {
      it(`are not created with ${what} (${code})`, async () => {
        expectProblem(await asPartner(CREATE, { user_id_hex: user.hex, context }), [400, code]);
        expect(await list()).to.have.length(1);
      });
    }
  });

  describe("a server's refresh tokens", () => {
    it("have 256 random bits after a prefix", async () => {
      const { bizID: biz_id } = partner;
      const named = await service.admin(SERVER_CREATE, { biz_id, name: "Prod" });
      expect(Object.keys(named).sort()).to.deep.equal(["created", "name", "token", "token_id"]);
      expect(named["token"]).to.match(/^krs_[A-Za-z0-9_-]{43}$/);
      expect(named["name"]).to.equal("Prod");
      expect((await service.admin(SERVER_CREATE, { biz_id }))["name"]).to.equal(null);
    });

    it("are listed and revoked by their partner", async () => {
      const company = await service.createPartner();
      const second = await service.createServerToken(company.bizID);
      const tokens = (await service.done(SERVER_LIST, {}, { token: company.jwt }))["tokens"] as TokenInfo[];
      expect(tokens.map(({ token_id }) => token_id)).to.deep.equal([company.tokenID, second.tokenID]);
      for (const token of tokens)
        expect(Object.keys(token).sort()).to.deep.equal(["created", "last_used", "name", "revoked", "token_id"]);

      await service.context.refreshTokens.storeUses();
      const body = { token_id: second.tokenID };
      const first = await service.post(SERVER_REVOKE, body, { token: company.jwt });
      service.ahead = 5000;
      expect((await service.post(SERVER_REVOKE, body, { token: company.jwt })).text).to.equal(first.text);
      expectProblem(await service.post(SERVER_LIST, {}, { token: second.jwt }), [401, "ACCESS_TOKEN_REVOKED"]);

      await service.done(SERVER_REVOKE, { token_id: company.tokenID }, { token: company.jwt });
      expectProblem(await service.post(SERVER_LIST, {}, { token: company.jwt }), [401, "ACCESS_TOKEN_REVOKED"]);
    });

    it("are listed in pages", async () => {
      const { bizID, jwt: token, tokenID } = await service.createPartner();
      const ids = [tokenID];
      for (let i = 0; i < 3; i++) ids.push((await service.createServerToken(bizID)).tokenID);
      const page = async (body: object) => {
        const { tokens, next } = await service.done(SERVER_LIST, body, { token });
        return [(tokens as TokenInfo[]).map(({ token_id }) => token_id), next];
      };
      expect(await page({ limit: 3 })).to.deep.equal([ids.slice(0, 3), ids[2]]);
      expect(await page({ limit: 3, after: ids[2] })).to.deep.equal([ids.slice(3), null]);
      const after = partner.tokenID;
      expectProblem(await service.post(SERVER_LIST, { after }, { token }), [404, "TOKEN_UNKNOWN"]);
    });

    it("are limited to 100 active tokens", async () => {
      const { bizID: biz_id } = await service.createPartner();
      const make = () => service.post(SERVER_CREATE, { biz_id }, { token: service.adminToken });
      const answers = await Promise.all(Array.from({ length: 103 }, make));
      expect(answers.filter(({ status }) => status === 201)).to.have.length(99);
      for (const answer of answers) if (answer.status !== 201) expectProblem(answer, [409, "TOKEN_LIMIT_REACHED"]);
    });

    it("are not created for an unknown partner", async () => {
      const answer = await service.post(SERVER_CREATE, { biz_id: "biz_nobody" }, { token: service.adminToken });
      expectProblem(answer, [404, "PARTNER_UNKNOWN"]);
    });
  });

  describe("the token exchange", () => {
    it("returns one field for a partner's or user's token", async () => {
      for (const token of [partner.refreshToken, user.refreshToken]) {
        const answer = await service.post(EXCHANGE, { biz_id: partner.bizID, token });
        expect([answer.status, Object.keys(answer.body)]).to.deep.equal([200, ["jwt"]]);
        expect(answer.headers.get("cache-control")).to.equal("no-store");
      }
    });

    it("does not reveal whether a token or a biz_id exists", async () => {
      const [token] = await list();
      await asPartner(REVOKE, { user_id_hex: user.hex, token_id: token?.token_id });
      const { bizID, refreshToken } = partner;
      const unknown = randomBytes(32).toString("base64url");
      const requests = {
        "an unknown token of a server": { biz_id: bizID, token: `krs_${unknown}` },
        "an unknown token of a user": { biz_id: bizID, token: `kru_us-west-2_${unknown}` },
        "a token with an unknown region": { biz_id: bizID, token: `kru_us-east-1_${unknown}` },
        "a text that is not a token": { biz_id: bizID, token: "x" },
        "a revoked token": { biz_id: bizID, token: user.refreshToken },
        "another partner's biz_id": { biz_id: other.bizID, token: refreshToken },
        "an unknown biz_id": { biz_id: "biz_AAAAAAAAAAAAAAAAAAAAAA", token: refreshToken },
        "an invalid biz_id": { biz_id: "x", token: refreshToken },
        "both unknown": { biz_id: "x", token: `krs_${unknown}` },
        "a token in upper case": { biz_id: bizID, token: refreshToken.toUpperCase() },
      };
      const answers = new Map<string, string[]>();
      for (const [what, body] of Object.entries(requests)) {
        const answer = await service.post(EXCHANGE, body);
        expectProblem(answer, [401, "REFRESH_TOKEN_REFUSED"]);
        const id = answer.body["request_id"] as string;
        const headers = [...answer.headers].filter(([name]) => name !== "date");
        const bytes = (JSON.stringify(headers) + answer.text).replaceAll(id, "");
        answers.set(bytes, [...(answers.get(bytes) ?? []), what]);
      }
      expect([...answers.values()]).to.deep.equal([Object.keys(requests)]);
    });
  });

  describe("a request's Idempotency-Key", () => {
    it("makes a repeated request return the same token", async () => {
      service.stopClock();
      const key = newKey();
      const first = await create("A watch", key);
      service.ahead = DAY - 60_000;
      // The partner's access token has also expired.
      partner = { ...partner, jwt: await service.exchange(partner.bizID, partner.refreshToken) };
      expect((await create("A watch", key)).text).to.equal(first.text);
      expect(await list()).to.have.length(2);
      service.ahead = 0;
      partner = { ...partner, jwt: await service.exchange(partner.bizID, partner.refreshToken) };
    });

    it("is rejected with a different context", async () => {
      const key = newKey();
      const { text } = await create("A watch", key);
      expectProblem(await create("A car", key), [409, "IDEMPOTENCY_KEY_REUSED"]);
      expect(await list()).to.have.length(2);
      expect((await create("A watch", key)).text).to.equal(text);
    });

    it("is separate for each user", async () => {
      const key = newKey();
      const { text } = await create("A watch", key);
      const hex = (await service.createUser(partner)).hex;
      const answer = await asPartner(CREATE, { user_id_hex: hex, context: "A watch" }, { idempotencyKey: key });
      expect(answer.status).to.equal(200);
      expect(answer.text).not.to.equal(text);
    });

    it("is rejected after 24 hours or if its token is revoked", async () => {
      const key = newKey();
      await create("A watch", key);
      service.ahead = DAY + 1000;
      const { jwt } = await service.createServerToken(partner.bizID);
      const again = { user_id_hex: user.hex, context: "A watch" };
      expectProblem(await service.post(CREATE, again, { token: jwt, idempotencyKey: key }), [
        409,
        "IDEMPOTENCY_KEY_REUSED",
      ]);
      service.ahead = 0;
      expect((await create("A watch", key)).status).to.equal(200);
      const watch = (await list()).find(({ context }) => context === "A watch");
      await asPartner(REVOKE, { user_id_hex: user.hex, token_id: watch?.token_id });
      expectProblem(await create("A watch", key), [409, "IDEMPOTENCY_KEY_REUSED"]);
      expect(await list()).to.have.length(2);
    });

    it("also works for a server's token", async () => {
      const idempotencyKey = newKey();
      const company = await service.createPartner();
      const make = (name: string) =>
        service.post(SERVER_CREATE, { biz_id: company.bizID, name }, { token: service.adminToken, idempotencyKey });
      const answers = await Promise.all(Array.from({ length: 20 }, () => make("Prod")));
      expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
      expect(answers[0]?.status).to.equal(201);
      expectProblem(await make("Test"), [409, "IDEMPOTENCY_KEY_REUSED"]);
      const { tokens } = await service.done(SERVER_LIST, {}, { token: company.jwt });
      expect(tokens).to.have.length(2);
    });

    it("also works for a partner", async () => {
      const idempotencyKey = newKey();
      const make = (name: string) =>
        service.post("/v1/admin/partners/create", { name }, { token: service.adminToken, idempotencyKey });
      const answers = await Promise.all(Array.from({ length: 20 }, () => make("Acme")));
      expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
      expect(answers[0]?.status).to.equal(201);
      expectProblem(await make("Ajax"), [409, "IDEMPOTENCY_KEY_REUSED"]);
      service.ahead = 2 * DAY;
      expect((await make("Acme")).text).to.equal(answers[0]?.text);
    });

    it("keeps a sealed copy of the token for 24 hours", async () => {
      const sealed = async () =>
        ((await dump(service.databases.regions["eu-west-1"]))["user_tokens"] ?? []).filter(
          (row) => row.includes(user.userID) && !row.includes('"sealed_token":null'),
        ).length;
      await create("A watch", newKey());
      expect(await sealed()).to.equal(1);
      await service.context.refreshTokens.dropSealed(Date.now() + DAY - 60_000);
      expect(await sealed()).to.equal(1);
      await service.context.refreshTokens.dropSealed(Date.now() + DAY + 60_000);
      expect(await sealed()).to.equal(0);
    });
  });

  describe("the database", () => {
    it("contains only the SHA-256 of tokens and Idempotency-Keys", async () => {
      const idempotencyKey = newKey();
      const watch = tokenOf(await create("A watch", idempotencyKey));
      const rows = JSON.stringify(await dump(service.databases.home));
      const secrets = [watch, user.refreshToken, partner.refreshToken, user.jwt, partner.jwt, idempotencyKey];
      for (const secret of [...secrets, service.adminToken]) {
        expect(rows).not.to.include(secret);
        expect(rows).not.to.include(secret.slice(-20));
        expect(rows).not.to.include(Buffer.from(secret).toString("base64").slice(2, 22));
      }
      for (const token of [watch, user.refreshToken, partner.refreshToken]) expect(rows).to.include(sha256(token));
    });
  });
});

describe("a refresh token that is created while the user is erased", () => {
  const service = serviceOnPostgres();

  it("is rejected", async () => {
    const partner = await service.createPartner();
    const { hex } = await service.createUser(partner);
    const userID = userIDFromHex(hex);
    const database = service.databases.regions["eu-west-1"];
    const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    const creating = await database.transaction(async (transaction) => {
      await transaction.update(users).set({ deactivated: 1 }).where(eq(users.userID, userID));
      const answer = service.post(CREATE, { user_id_hex: hex, context: "A watch" }, { token: partner.jwt });
      while (rowsOf(await service.databases.home.execute(waiting)).length === 0) await setImmediate();
      await transaction.delete(userTokens).where(eq(userTokens.userID, userID));
      return { answer };
    });
    expectProblem(await creating.answer, [403, "USER_DEACTIVATED"]);
    const rows = await database.select().from(userTokens).where(eq(userTokens.userID, userID));
    expect(rows).to.have.length(0);
  });
});
