import { expect } from "chai";
import { eq } from "drizzle-orm";
import { REGIONS } from "../../../packages/keyroot/src/identity/region.ts";
import { userIDFromHex } from "../../../packages/keyroot/src/identity/userID.ts";
import { auditEntries } from "../../../packages/service/src/auditLog/tables.ts";
import { events } from "../../../packages/service/src/webhooks/tables.ts";
import { type Answer, expectProblem, randomHex, type TestPartner } from "../../support/service/caller.ts";
import { dump } from "../../support/service/dump.ts";
import { describeOnEachDatabase } from "../../support/service/support.ts";

const CREATE_MANY = "/v1/authdBizSrv/users/createMany";
const CREATE = "/v1/authdBizSrv/users/create";
const CREATE_TOKEN = "/v1/authdBizSrv/users/createRefreshToken";
const LIST_TOKENS = "/v1/authdBizSrv/users/listRefreshTokens";
const DAY = 24 * 60 * 60 * 1000;

type Result = Record<string, unknown>;
interface Wanted {
  user_id_hex: string;
  region: string;
  context?: string;
}

describeOnEachDatabase("users/createMany", (service) => {
  let partner: TestPartner;
  let other: TestPartner;

  beforeEach(async () => {
    [partner, other] = [await service.createPartner(), await service.createPartner()];
  });

  const send = (users: unknown, idempotencyKey?: string, { jwt: token } = partner): Promise<Answer> =>
    service.post(CREATE_MANY, { users }, { token, ...(idempotencyKey !== undefined && { idempotencyKey }) });
  const create = async (users: Wanted[], idempotencyKey?: string, by = partner): Promise<Result[]> => {
    const { status, text, body } = await send(users, idempotencyKey, by);
    expect(status, text).to.equal(200);
    return body["users"] as Result[];
  };
  const wanted = (context?: string, region = "us-west-2"): Wanted => ({
    ...{ user_id_hex: randomHex(), region },
    ...(context !== undefined && { context }),
  });
  const inTurns = (count: number, context?: string) =>
    Array.from({ length: count }, (_, i) => wanted(context, REGIONS[i % 2]));
  const done = (path: string, body: object) => service.done(path, body, { token: partner.jwt });
  const tokensOf = async ({ user_id_hex }: Wanted) => {
    const { tokens } = await done(LIST_TOKENS, { user_id_hex });
    return (tokens as { context: string }[]).map(({ context }) => context);
  };
  const codes = (results: Result[]) => results.map(({ status, code }) => code ?? status);

  describe("with valid users", () => {
    it("returns the same fields as create, in the order of the list", async () => {
      const users = inTurns(7);
      const before = Date.now();
      const results = await create(users);
      expect(results.map(({ user_id }) => user_id)).to.deep.equal(users.map((user) => userIDFromHex(user.user_id_hex)));
      for (const [i, result] of results.entries()) {
        const { user_id_hex, region = "" } = users[i] ?? {};
        expect(result).to.deep.equal(
          (await service.post(CREATE, { user_id_hex, region }, { token: partner.jwt })).body,
        );
        expect(result["created"]).to.be.within(before, Date.now());
      }
      expect(new Set(results.map(({ salt }) => salt)).size).to.equal(7);
    });

    it("creates a refresh token for each user with a context", async () => {
      const [phone, watch, none] = [wanted("A phone"), wanted("A watch 💚", "eu-west-1"), wanted()];
      const results = await create([phone, none, watch]);
      expect(results.map((result) => "token" in result)).to.deep.equal([true, false, true]);
      for (const result of [results[0], results[2]]) {
        const token = String(result?.["token"]);
        expect(token).to.match(new RegExp(`^kru_${String(result?.["region"])}_[A-Za-z0-9_-]{43}$`));
        const jwt = await service.exchange(partner.bizID, token);
        const record = await service.done("/v1/authdUser/record/get", {}, { token: jwt });
        expect(record["user_id"]).to.equal(result?.["user_id"]);
      }
      expect([await tokensOf(phone), await tokensOf(none), await tokensOf(watch)]).to.deep.equal([
        ["A phone"],
        [],
        ["A watch 💚"],
      ]);
    });

    it("accepts up to 500 users with contexts of 200 characters", async () => {
      const users = inTurns(500, "字".repeat(200));
      const escaped = JSON.stringify({ users }).replaceAll("字", "\\u5b57");
      const { status, body } = await service.post(CREATE_MANY, escaped, { token: partner.jwt });
      expect(status).to.equal(200);
      const results = body["users"] as Result[];
      expect(new Set(results.map(({ token }) => token)).size).to.equal(500);
      expect(await tokensOf(users[499] ?? wanted())).to.deep.equal(["字".repeat(200)]);
      expectProblem(await send([...users, wanted()]), [400, "FIELD_INVALID"]);
      expectProblem(await send([]), [400, "FIELD_INVALID"]);
    });

    it("returns a separate error for each user", async () => {
      const [mine, taken, elsewhere, deactivated, erased] = inTurns(5) as [Wanted, Wanted, Wanted, Wanted, Wanted];
      const first = await create([mine, elsewhere, deactivated, erased]);
      await create([taken], undefined, other);
      await done("/v1/authdBizSrv/users/deactivate", { user_id_hex: deactivated.user_id_hex });
      await done("/v1/authdBizSrv/users/erase", { user_id_hex: erased.user_id_hex });
      const moved = { ...elsewhere, region: "eu-west-1" };
      const list = [
        wanted(),
        mine,
        taken,
        moved,
        deactivated,
        { ...deactivated, context: "A phone" },
        erased,
        wanted(),
      ];
      const results = await create(list);
      const refused = ["USER_ID_TAKEN", "USER_ID_TAKEN", 201, "USER_DEACTIVATED", "USER_ERASED"];
      expect(codes(results)).to.deep.equal([201, 201, ...refused, 201]);
      expect(results[1]).to.deep.equal(first[0]);
      const statuses = results.map(({ status }) => status);
      expect(statuses).to.deep.equal([201, 201, 409, 409, 201, 403, 409, 201]);
      // Each error is the same as for a separate request for this user.
      for (const i of [2, 3, 6]) {
        const { user_id_hex, region } = list[i] ?? wanted();
        const { body } = await service.post(CREATE, { user_id_hex, region }, { token: partner.jwt });
        expect(results[i]).to.deep.equal({ status: body["status"], code: body["code"], detail: body["detail"] });
      }
    });

    it("treats a repeated user like separate requests", async () => {
      const user = wanted("A phone");
      const again = { ...user, user_id_hex: user.user_id_hex.toUpperCase() };
      const list = [user, again, { ...user, context: "A watch" }, { ...user, region: "eu-west-1" }];
      const results = await create(list, randomHex());
      expect(codes(results)).to.deep.equal([201, 201, 201, "USER_ID_TAKEN"]);
      expect(results[1]).to.deep.equal(results[0]);
      expect(results[2]?.["token"]).not.to.equal(results[0]?.["token"]);
      expect(await tokensOf(user)).to.have.members(["A phone", "A watch"]);
      // Without an Idempotency-Key, each request for a token creates one.
      const [one, two] = await create([user, user]);
      expect(one?.["token"]).not.to.equal(two?.["token"]);
      expect(await tokensOf(user)).to.have.length(4);
    });

    it("creates users up to the partner's limit", async () => {
      const earlier = wanted();
      await create([earlier]);
      await service.admin("/v1/admin/partners/setUserLimit", { biz_id: partner.bizID, user_limit: 4 });
      const users = inTurns(5, "A phone");
      const results = await create([users[0] ?? earlier, earlier, ...users]);
      const full = ["USER_LIMIT_REACHED", "USER_LIMIT_REACHED"];
      expect(codes(results)).to.deep.equal([201, 201, 201, 201, 201, ...full]);
      expect(results[5]?.["detail"]).to.match(/^You have 4 users, and your limit is 4\./);
      expect(codes(await create([...users, earlier]))).to.deep.equal([201, 201, 201, ...full, 201]);
    });

    it("creates at most 100 active tokens per user", async () => {
      const user = wanted("A phone");
      await done(CREATE, { user_id_hex: user.user_id_hex, region: user.region });
      await done(CREATE_TOKEN, { user_id_hex: user.user_id_hex, context: "First" });
      const results = await create(Array.from({ length: 101 }, () => user));
      expect(codes(results)).to.deep.equal([
        ...Array<number>(99).fill(201),
        "TOKEN_LIMIT_REACHED",
        "TOKEN_LIMIT_REACHED",
      ]);
    });
  });

  describe("with an Idempotency-Key", () => {
    it("returns the same response to a repeated request", async () => {
      const [users, key] = [[...inTurns(5, "A phone"), ...inTurns(2)], randomHex()];
      await create([users[0] ?? wanted()], undefined, other);
      const first = await send(users, key);
      service.ahead = 60_000;
      expect((await send(users, key)).text).to.equal(first.text);
      expect(await tokensOf(users[1] ?? wanted())).to.deep.equal(["A phone"]);
      const [, again] = await create(users, randomHex());
      expect(again?.["token"]).not.to.equal((first.body["users"] as Result[])[1]?.["token"]);
    });

    it("returns the same token for the same user and context", async () => {
      const [[a, b, c], key] = [inTurns(3, "A phone") as [Wanted, Wanted, Wanted], randomHex()];
      const [first, second] = await create([a, b], key);
      expect(await create([c, b], key)).to.deep.include(second);
      expect(await create([{ ...a, context: "A watch" }, a], key)).to.deep.include(first);
    });

    it("rejects a revoked or expired token only for its own user", async () => {
      const [[a, b], key] = [inTurns(2, "A phone") as [Wanted, Wanted], randomHex()];
      const first = await create([a, b], key);
      const { tokens } = await done(LIST_TOKENS, { user_id_hex: a.user_id_hex });
      const [{ token_id }] = tokens as [{ token_id: string }];
      await done("/v1/authdBizSrv/users/revokeRefreshToken", { user_id_hex: a.user_id_hex, token_id });
      const again = await create([a, b], key);
      expect([codes(again), again[1]]).to.deep.equal([["IDEMPOTENCY_KEY_REUSED", 201], first[1]]);
      service.ahead = DAY + 1;
      partner = { ...partner, jwt: await service.exchange(partner.bizID, partner.refreshToken) };
      expect(codes(await create([a, b], key))).to.deep.equal(["IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_KEY_REUSED"]);
    });

    it("stores no plain token and no plain idempotency key", async () => {
      const key = randomHex();
      const results = await create(inTurns(3, "A phone"), key);
      const secrets = [key, ...results.map(({ token }) => String(token).slice(-43))];
      expect(Object.values(await dump(service.databases.home, secrets)).flat()).to.deep.equal([]);
    });
  });

  describe("in the audit log and the events", () => {
    const home = () => service.databases.home;
    const recorded = async () => {
      const entries = await home().select().from(auditEntries).where(eq(auditEntries.bizID, partner.bizID));
      const outbox = await home().select().from(events).where(eq(events.bizID, partner.bizID));
      return {
        entries: entries.flatMap(({ action, userID }) => (userID === null ? [] : `${action} ${userID}`)).sort(),
        outbox: outbox.flatMap(({ type, userID }) => (userID === null ? [] : `${type} ${userID}`)).sort(),
        authors: new Set(
          entries.flatMap(({ userID, requestID, actorID }) => (userID ? `${requestID} ${actorID}` : [])),
        ),
      };
    };

    it("records each new user and token once", async () => {
      const [users, key] = [[...inTurns(3, "A phone"), wanted()], randomHex()];
      await create([...users, users[0] ?? wanted()], key);
      const ids = users.map(({ user_id_hex }) => userIDFromHex(user_id_hex));
      const expected = [
        ...ids.map((id) => `user.created ${id}`),
        ...ids.slice(0, 3).map((id) => `refreshToken.created ${id}`),
      ].sort();
      const { entries, outbox, authors } = await recorded();
      expect(entries).to.deep.equal(expected);
      expect(outbox).to.deep.equal(expected);
      expect([...authors]).to.have.length(1);
      expect([...authors][0]).to.match(new RegExp(`^[0-9a-f-]{36} ${partner.tokenID}$`));
      await create(users, key);
      expect((await recorded()).entries).to.deep.equal(expected);
    });

    it("records nothing if its transaction fails", async () => {
      const users = inTurns(4, "A phone");
      // The last statement of the transaction fails.
      await home().execute(
        "alter table events add constraint refusing check (type <> 'refreshToken.created') not valid",
      );
      try {
        expectProblem(await send(users), [500, "DEFECT"]);
      } finally {
        await home().execute("alter table events drop constraint refusing");
      }
      expect(await recorded()).to.deep.equal({ entries: [], outbox: [], authors: new Set() });
      const { users: listed } = await done("/v1/authdBizSrv/users/list", {});
      expect(listed).to.deep.equal([]);
      expect(codes(await create(users))).to.deep.equal([201, 201, 201, 201]);
    });
  });

  describe("with an invalid list", () => {
    const invalid: [what: string, user: unknown, code: string, detail: RegExp][] = [
      ["an invalid id", { user_id_hex: "x", region: "us-west-2" }, "USER_ID_INVALID", /users\.1\.user_id_hex must/],
      ["an unknown region", { user_id_hex: randomHex(), region: "mars" }, "REGION_UNKNOWN", /users\.1\.region must/],
      ["a long context", wanted("x".repeat(201)), "TEXT_TOO_LONG", /users\.1\.context must have at most 200 char/],
      ["an unknown field", { ...wanted(), salt: "x" }, "FIELD_UNKNOWN", /salt is not a field/],
      ["a text", "user", "FIELD_INVALID", /users\.1 must be of type object/],
    ];
    for (const [what, user, code, detail] of invalid) {
      it(`rejects ${what} with ${code}`, async () => {
        const good = wanted();
        const answer = await send([good, user]);
        expectProblem(answer, [400, code]);
        expect(answer.body["detail"]).to.match(detail);
        const { user_id_hex } = good;
        const got = await service.post("/v1/authdBizSrv/users/get", { user_id_hex }, { token: partner.jwt });
        expectProblem(got, [404, "USER_UNKNOWN"]);
      });
    }

    it("lists at most 20 invalid fields", async () => {
      const { body } = await send(inTurns(500).map((user) => ({ ...user, region: "mars" })));
      expect(body["errors"]).to.have.length(20);
    });

    it("rejects a body larger than the largest valid list", async () => {
      const answer = await service.post(CREATE_MANY, " ".repeat(768_001), { token: partner.jwt });
      expectProblem(answer, [413, "BODY_TOO_LARGE"]);
      expect(answer.body["detail"]).to.include("768000");
    });
  });
});
