import { expect } from "chai";
import { generateKeyPair } from "../../../packages/keyroot/src/identity/newPublicKey.ts";
import { provePossession } from "../../../packages/keyroot/src/identity/possession/curve41417.ts";
import { dropExpiredChallenges } from "../../../packages/service/src/keys/challenges.ts";
import { sampleKeyPairs } from "../../support/samples.ts";
import { keyFieldsOf, statementOf } from "../../support/service/answerChallenge.ts";
import { AppSession, FALSE_REGISTRATIONS } from "../../support/service/falseRegistrations.ts";
import { expectProblem, type TestPartner, type TestUser } from "../../support/service/caller.ts";
import { dump } from "../../support/service/dump.ts";
import { describeOnEachDatabase, serviceOnPostgres, twoReplicas } from "../../support/service/support.ts";

const CHALLENGE = "/v1/authdUser/publicKey/challenge";
const REGISTER = "/v1/authdUser/publicKey/register";
const RECORD = "/v1/authdUser/record/get";
const MINUTE = 60_000;
const [KEYS = generateKeyPair(), OTHER_KEYS = KEYS] = sampleKeyPairs;

describeOnEachDatabase("proof of possession", (service) => {
  let partner: TestPartner;
  let user: TestUser;
  before(async () => {
    partner = await service.createPartner();
  });
  beforeEach(async () => {
    user = await service.createUser(partner);
  });

  const challengeFor = async ({ publicKey } = KEYS) =>
    statementOf(await service.done(CHALLENGE, keyFieldsOf({ publicKey }), { token: user.jwt }), publicKey);
  const answer = async (statement: Awaited<ReturnType<typeof challengeFor>>, keys = KEYS) =>
    service.post(REGISTER, bodyOf(statement, provePossession(statement, keys.privateKey)), { token: user.jwt });
  const bodyOf = ({ nonce, publicKey }: Awaited<ReturnType<typeof challengeFor>>, response: Uint8Array) => ({
    ...keyFieldsOf({ publicKey }),
    challenge: Buffer.from(nonce).toString("base64"),
    response: Buffer.from(response).toString("base64"),
  });
  const stateOf = async () => (await service.done(RECORD, {}, { token: user.jwt }))["state"];

  describe("a challenge", () => {
    it("contains the user, service, chain, contract and expiry", async () => {
      const before = Date.now();
      const body = await service.done(CHALLENGE, keyFieldsOf(KEYS), { token: user.jwt });
      expect(body).to.include({ user_id: user.userID, state: "unregistered", service: service.url });
      expect(body).to.include({ chain_id: null, contract: null });
      expect(body["expires"]).to.be.within(before + 5 * MINUTE, Date.now() + 5 * MINUTE);
    });

    it("can be answered for 5 minutes", async () => {
      service.stopClock();
      const [late, inTime] = [await challengeFor(), await challengeFor()];
      service.ahead = 5 * MINUTE - 5000;
      const other = await challengeFor();
      service.ahead = 5 * MINUTE + 1000;
      expectProblem(await answer(late), [400, "POSSESSION_REFUSED"]);
      expect(await stateOf()).to.equal("unregistered");
      service.ahead = 5 * MINUTE - 1000;
      expect((await answer(inTime)).status).to.equal(200);
      expect(other.nonce).not.to.deep.equal(inTime.nonce);
    });

    it("replaces the oldest of three open challenges", async () => {
      const [oldest, second] = [await challengeFor(), await challengeFor()];
      for (let i = 0; i < 2; i++) {
        service.ahead += 1000;
        await challengeFor();
      }
      expectProblem(await answer(oldest), [400, "POSSESSION_REFUSED"]);
      expect((await answer(second)).status).to.equal(200);
    });

    it("is made only for a user without a key", async () => {
      await service.registerKey(user, KEYS);
      const same = await service.done(CHALLENGE, keyFieldsOf(KEYS), { token: user.jwt });
      expect(same).to.include({ user_id: user.userID, state: "pending" });
      // The app compares these fields with its options even if the key is already registered.
      const fields = ["chain_id", "contract", "key_type", "service", "state", "user_id"];
      expect(Object.keys(same).sort()).to.deep.equal(fields);
      const other = await service.post(CHALLENGE, keyFieldsOf(OTHER_KEYS), { token: user.jwt });
      expectProblem(other, [409, "PUBLIC_KEY_REGISTERED"]);
    });

    it("is limited to 10 per user and minute", async () => {
      for (let i = 0; i < 10; i++) await challengeFor();
      const eleventh = await service.post(CHALLENGE, keyFieldsOf(KEYS), { token: user.jwt });
      expectProblem(eleventh, [429, "RATE_LIMITED"]);
      expect(Number(eleventh.headers.get("retry-after"))).to.be.within(1, 60);
      const other = await service.createUser(partner);
      expect((await service.registerKey(other, KEYS)).status).to.equal(200);
      for (let i = 0; i < 12; i++) expect((await service.registerKey(other, KEYS)).status).to.equal(200);
    });

    it("is stored without secrets until its use or expiry", async () => {
      const [used, open] = [await challengeFor(), await challengeFor(OTHER_KEYS)];
      const response = provePossession(used, KEYS.privateKey);
      const rowsOf = async () =>
        (await dump(service.databases.regions["us-west-2"]))["possession_challenges"]?.filter((row) =>
          row.includes(user.userID),
        ) ?? [];
      const text = (await rowsOf()).join();
      expect(await rowsOf()).to.have.length(2);
      for (const bytes of [response, Buffer.from(response)]) {
        expect(text).not.to.include(Buffer.from(bytes).toString("base64"));
        expect(text).not.to.include(Buffer.from(bytes).toString("hex"));
      }
      expect((await answer(used)).status).to.equal(200);
      expect(await rowsOf()).to.have.length(1);
      await dropExpiredChallenges(service.databases, open.expires);
      expect(await rowsOf()).to.be.empty;
    });
  });

  describe("registration", () => {
    it("requires a response", async () => {
      const refused = await service.post(REGISTER, keyFieldsOf(KEYS), { token: user.jwt });
      expectProblem(refused, [400, "POSSESSION_REQUIRED"]);
      expect(await stateOf()).to.equal("unregistered");
    });

    it("requires the challenge and the response together", async () => {
      const { challenge, response, ...key } = bodyOf(await challengeFor(), new Uint8Array(32));
      for (const half of [{ challenge }, { response }]) {
        const refused = await service.post(REGISTER, { ...key, ...half }, { token: user.jwt });
        expectProblem(refused, [400, "FIELD_MISSING"]);
      }
    });

    it("has one effect if it is repeated", async () => {
      const statement = await challengeFor();
      const first = await answer(statement);
      const again = await answer(statement);
      expect([again.status, again.text]).to.deep.equal([200, first.text]);
    });
  });
});

describe("registration of a key without its private key", () => {
  const service = serviceOnPostgres();
  let partner: TestPartner;
  before(async () => {
    partner = await service.createPartner();
  });
  const open = () => AppSession.open(service, partner, service.databases);

  for (const [kind, prepare] of Object.entries(FALSE_REGISTRATIONS)) {
    it(`is rejected ${kind}`, async () => {
      const attacker = await open();
      const attempt = await prepare({ attacker, victim: await open() });
      for (let i = 0; i < 3; i++) {
        const { status, body } = await attempt();
        expect(status, JSON.stringify(body)).to.equal(400);
      }
      expect(await attacker.hasKey()).to.equal(false);
    });
  }

  it("succeeds only for the owner of the private key", async () => {
    const session = await open();
    expect((await session.registerHonestly(session.own)).body).to.include({ possession: "proven" });
  });
});

describe("a registration without a proof", () => {
  const service = serviceOnPostgres();
  let partner: TestPartner;
  before(async () => {
    partner = await service.createPartner();
  });

  it("is rejected", async () => {
    const user = await service.createUser(partner);
    const answer = await service.post(REGISTER, keyFieldsOf(KEYS), { token: user.jwt });
    expectProblem(answer, [400, "POSSESSION_REQUIRED"]);
    expect(await service.done(RECORD, {}, { token: user.jwt })).to.include({ state: "unregistered" });
  });

  it("marks a key with a correct response as proven", async () => {
    const user = await service.createUser(partner);
    const wrong = { ...keyFieldsOf(KEYS), challenge: "A".repeat(43) + "=", response: "A".repeat(43) + "=" };
    expectProblem(await service.post(REGISTER, wrong, { token: user.jwt }), [400, "POSSESSION_REFUSED"]);
    expect((await service.registerKey(user, KEYS)).body).to.include({ possession: "proven" });
  });
});

describe("a challenge of one replica", () => {
  const [a, b] = twoReplicas({ serviceUrl: "https://keys.test" });

  it("can be answered at another replica", async () => {
    const { jwt: token } = await a.createUser(await a.createPartner());
    const statement = statementOf(await a.done(CHALLENGE, keyFieldsOf(KEYS), { token }), KEYS.publicKey);
    expect(statement.service).to.equal("https://keys.test");
    const response = Buffer.from(provePossession(statement, KEYS.privateKey)).toString("base64");
    const challenge = Buffer.from(statement.nonce).toString("base64");
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        (i % 2 ? a : b).post(REGISTER, { ...keyFieldsOf(KEYS), challenge, response }, { token }),
      ),
    );
    // One request uses the challenge. All other requests find the key already registered.
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).to.equal(1);
    expect(answers[0]?.body).to.include({ state: "pending", possession: "proven" });
    expect(await b.done(RECORD, {}, { token })).to.deep.equal(answers[0]?.body);
  });
});
