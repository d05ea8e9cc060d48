import { expect } from "chai";
import { type Databases, openDatabases } from "../../../packages/operator/src/service/store/database.ts";
import { sampleKeyPairs } from "../../../fixtures/samples.ts";
import { expectProblem, randomHex, type TestPartner } from "../../support/service/caller.ts";
import { dump } from "../../support/service/dump.ts";
import { freshDatabaseUrl, TestService } from "../../support/service/support.ts";

const CREATE = "/v1/authdBizSrv/users/create";

describe("two replicas over one PostgreSQL", () => {
  const opened: Databases[] = [];
  const [a, b] = [new TestService(), new TestService()];
  let partner: TestPartner;
  let other: TestPartner;

  before(async () => {
    const url = await freshDatabaseUrl();
    // Each has its own connections, like two processes.
    for (const replica of [a, b]) {
      const databases = await openDatabases({ url });
      opened.push(databases);
      await databases.migrate();
      await replica.start(databases);
    }
    [partner, other] = [await a.createPartner(), await b.createPartner()];
  });
  after(async () => {
    for (const replica of [a, b]) await replica.close();
    for (const databases of opened) await databases[Symbol.asyncDispose]();
  });

  const create = (replica: TestService, { jwt }: TestPartner, user_id_hex: string, region = "us-west-2") =>
    replica.post(CREATE, { user_id_hex, region }, { token: jwt });
  const rowsWith = async (text: string) =>
    Object.values(await dump(a.databases.home)).flatMap((rows) => rows.filter((row) => row.includes(text)));

  it("give an id that two partners claim at once to exactly one of them", async () => {
    for (let round = 0; round < 20; round++) {
      const hex = randomHex();
      const answers = await Promise.all([create(a, partner, hex), create(b, other, hex)]);
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, 409]);
      const loser = answers.find(({ status }) => status === 409);
      if (loser) expectProblem(loser, [409, "USER_ID_TAKEN"]);
    }
  });

  it("give an id that one partner claims in two regions at once to exactly one of them", async () => {
    for (let round = 0; round < 20; round++) {
      const hex = randomHex();
      const answers = await Promise.all([create(a, partner, hex), create(b, partner, hex, "eu-west-1")]);
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, 409]);
    }
  });

  it("create one user for 200 concurrent requests, and return the same response to each", async () => {
    const hex = randomHex();
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => create(i % 2 ? a : b, partner, hex)));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([201]));
    expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
    // The claim, the user, its entry in the audit log, and its event.
    expect(await rowsWith(answers[0]?.body["user_id"] as string)).to.have.length(4);
  });

  it("accept one of two keys that are registered at once", async () => {
    const keys = sampleKeyPairs.slice(0, 2);
    for (let round = 0; round < 10; round++) {
      const user = await a.createUser(partner);
      const answers = await Promise.all(keys.map((pair, i) => (i === 0 ? a : b).registerKey(user, pair)));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409]);
      const accepted = keys[answers.findIndex(({ status }) => status === 200)];
      const { pubKey } = await b.done("/v1/authdUser/record/get", {}, { token: user.jwt });
      expect(pubKey).to.equal(Buffer.from(accepted?.publicKey ?? []).toString("base64"));
    }
  });

  it("create one token for 40 concurrent requests with one Idempotency-Key", async () => {
    const { hex } = await a.createUser(partner);
    const body = { user_id_hex: hex, context: "A watch" };
    const carried = { token: partner.jwt, idempotencyKey: randomHex() };
    const path = "/v1/authdBizSrv/users/createRefreshToken";
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 2 ? a : b).post(path, body, carried)));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
    expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
  });

  it("create exactly as many tokens as a user may have", async () => {
    const { hex: user_id_hex } = await a.createUser(partner);
    const path = "/v1/authdBizSrv/users/createRefreshToken";
    const create = (i: number) =>
      (i % 2 ? a : b).post(path, { user_id_hex, context: `Device ${i}` }, { token: partner.jwt });
    const answers = await Promise.all(Array.from({ length: 120 }, (_, i) => create(i)));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(99);
    for (const answer of answers) if (answer.status !== 200) expectProblem(answer, [409, "TOKEN_LIMIT_REACHED"]);
  });

  it("reject at once what the other one revoked", async () => {
    const { refreshToken, tokenID, jwt } = await a.createServerToken(partner.bizID);
    const list = () => b.post("/v1/authdBizSrv/users/list", {}, { token: jwt });
    expect((await list()).status).to.equal(200);
    await a.done("/v1/authdBizSrv/serverTokens/revoke", { token_id: tokenID }, { token: partner.jwt });
    expectProblem(await list(), [401, "ACCESS_TOKEN_REVOKED"]);
    const exchange = { biz_id: partner.bizID, token: refreshToken };
    expectProblem(await b.post("/v1/public/auth/jwt", exchange), [401, "REFRESH_TOKEN_REFUSED"]);
  });

  it("accept what the other one issued", async () => {
    const { jwt } = await a.createServerToken(partner.bizID);
    expect((await create(b, { ...partner, jwt }, randomHex())).status).to.equal(201);
  });
});
