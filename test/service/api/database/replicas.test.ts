import { expect } from "chai";
import { sampleKeyPairs } from "../../../support/samples.ts";
import { expectProblem, randomHex, type TestPartner } from "../../../support/service/caller.ts";
import { dump } from "../../../support/service/dump.ts";
import { type TestService, twoReplicas } from "../../../support/service/support.ts";

const CREATE = "/v1/authdBizSrv/users/create";

describe("two replicas with one PostgreSQL database", () => {
  const [a, b] = twoReplicas();
  let partner: TestPartner;
  let other: TestPartner;

  before(async () => {
    [partner, other] = [await a.createPartner(), await b.createPartner()];
  });

  const create = (replica: TestService, { jwt }: TestPartner, user_id_hex: string, region = "us-west-2") =>
    replica.post(CREATE, { user_id_hex, region }, { token: jwt });
  const rowsWith = async (text: string) => Object.values(await dump(a.databases.home, [text])).flat();

  it("assign an id that two partners claim to exactly one partner", async () => {
    for (let round = 0; round < 20; round++) {
      const hex = randomHex();
      const answers = await Promise.all([create(a, partner, hex), create(b, other, hex)]);
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, 409]);
      const loser = answers.find(({ status }) => status === 409);
      if (loser) expectProblem(loser, [409, "USER_ID_TAKEN"]);
    }
  });

  it("assign an id that is claimed in two regions to one region", async () => {
    for (let round = 0; round < 20; round++) {
      const hex = randomHex();
      const answers = await Promise.all([create(a, partner, hex), create(b, partner, hex, "eu-west-1")]);
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, 409]);
    }
  });

  it("create only one user for 200 concurrent requests", async () => {
    const hex = randomHex();
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => create(i % 2 ? a : b, partner, hex)));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([201]));
    expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
    // The rows are the claim, the user, its audit log entry, and its event.
    expect(await rowsWith(answers[0]?.body["user_id"] as string)).to.have.length(4);
  });

  it("accept only one of two keys that are registered simultaneously", async () => {
    const keys = sampleKeyPairs.slice(0, 2);
    for (let round = 0; round < 10; round++) {
      const user = await a.createUser(partner);
      const answers = await Promise.all(keys.map((pair, i) => (i === 0 ? a : b).registerKey(user, pair)));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409]);
      const accepted = keys[answers.findIndex(({ status }) => status === 200)];
      const { public_key: pubKey } = await b.done("/v1/authdUser/record/get", {}, { token: user.jwt });
      expect(pubKey).to.equal(Buffer.from(accepted?.publicKey ?? []).toString("base64"));
    }
  });

  it("create only one token for 40 requests with the same Idempotency-Key", async () => {
    const { hex } = await a.createUser(partner);
    const body = { user_id_hex: hex, context: "A watch" };
    const carried = { token: partner.jwt, idempotencyKey: randomHex() };
    const path = "/v1/authdBizSrv/users/createRefreshToken";
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 2 ? a : b).post(path, body, carried)));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
    expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
  });

  const CREATE_MANY = "/v1/authdBizSrv/users/createMany";
  const listOf = (ids: string[], region = "us-west-2") =>
    ids.map((user_id_hex) => ({ user_id_hex, region, context: "A" }));
  const shuffled = <Item>(items: Item[]) =>
    items
      .map((item) => [Math.random(), item] as const)
      .sort(([x], [y]) => x - y)
      .map(([, item]) => item);

  it("create each user of concurrent lists once", async () => {
    const [ids, idempotencyKey] = [Array.from({ length: 60 }, () => randomHex()), randomHex()];
    const regionOf = (id: string) => (ids.indexOf(id) % 2 ? "us-west-2" : "eu-west-1");
    const results = new Map<string, Set<string>>();
    const send = async (i: number) => {
      // Each list lacks some users, so that a list finds existing users while another list creates more.
      const some = shuffled(ids).slice(0, 40);
      const users = some.flatMap((id) => listOf([id], regionOf(id)));
      const { status, body, text } = await (i % 2 ? a : b).post(
        CREATE_MANY,
        { users },
        { token: partner.jwt, idempotencyKey },
      );
      expect(status, text).to.equal(200);
      for (const [j, result] of (body["users"] as object[]).entries()) {
        const id = some[j] ?? "";
        results.set(id, (results.get(id) ?? new Set()).add(JSON.stringify(result)));
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, i) => send(i)));
    for (const [id, different] of results) {
      expect(different.size, [...different].join()).to.equal(1);
      const ofUser = { user_id_hex: id };
      const { tokens } = await a.done("/v1/authdBizSrv/users/listRefreshTokens", ofUser, { token: partner.jwt });
      expect(tokens).to.have.length(1);
    }
  });

  it("assign each id in two partners' lists to exactly one partner", async () => {
    for (let round = 0; round < 5; round++) {
      const ids = Array.from({ length: 30 }, () => randomHex());
      const answers = await Promise.all(
        [a, b, a, b].map((replica, i) => {
          const { jwt: token } = i < 2 ? partner : other;
          return replica.done(CREATE_MANY, { users: listOf(shuffled(ids)) }, { token });
        }),
      );
      const created = answers.map(({ users }) =>
        (users as { user_id?: string }[]).flatMap(({ user_id }) => user_id ?? []).sort(),
      );
      expect(created[0]).to.deep.equal(created[1]);
      expect(created[2]).to.deep.equal(created[3]);
      expect(new Set(created.flat()).size).to.equal(30);
      expect([...(created[0] ?? []), ...(created[2] ?? [])]).to.have.length(30);
    }
  });

  it("create exactly as many users as a partner may have", async () => {
    const limited = await a.createPartner();
    await a.admin("/v1/admin/partners/setUserLimit", { biz_id: limited.bizID, user_limit: 100 });
    const { jwt: token } = limited;
    const lists = Array.from({ length: 8 }, async (_, i) => {
      const users = listOf(Array.from({ length: 20 }, () => randomHex()));
      const answer = await (i % 2 ? a : b).done(CREATE_MANY, { users }, { token });
      return (answer["users"] as { status: number }[]).filter(({ status }) => status === 201).length;
    });
    const single = Array.from({ length: 20 }, async (_, i) => {
      const { status } = await create(i % 2 ? a : b, limited, randomHex());
      return status === 201 ? 1 : 0;
    });
    const created = await Promise.all([...lists, ...single]);
    expect(created.reduce((sum, users) => sum + users, 0)).to.equal(100);
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

  it("immediately reject tokens that the other replica revoked", async () => {
    const { refreshToken, tokenID, jwt } = await a.createServerToken(partner.bizID);
    const list = () => b.post("/v1/authdBizSrv/users/list", {}, { token: jwt });
    expect((await list()).status).to.equal(200);
    await a.done("/v1/authdBizSrv/serverTokens/revoke", { token_id: tokenID }, { token: partner.jwt });
    expectProblem(await list(), [401, "ACCESS_TOKEN_REVOKED"]);
    const exchange = { biz_id: partner.bizID, token: refreshToken };
    expectProblem(await b.post("/v1/public/auth/jwt", exchange), [401, "REFRESH_TOKEN_REFUSED"]);
  });

  it("accept access tokens that the other replica issued", async () => {
    const { jwt } = await a.createServerToken(partner.bizID);
    expect((await create(b, { ...partner, jwt }, randomHex())).status).to.equal(201);
  });
});
