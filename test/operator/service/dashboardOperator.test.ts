import { expect } from "chai";
import { TransportError } from "../../../packages/keyroot/src/errors.ts";
import { KeyPublisher, type PublishedBatch } from "../../../packages/operator/src/service/publishing/keyPublisher.ts";
import type { Author } from "../../../packages/operator/src/service/store/changes.ts";
import { describeOnBoth, freshRegistry } from "../../../fixtures/freshRegistry.ts";
import { expectProblem, randomHex, type TestPartner } from "../../support/service/caller.ts";
import { DASHBOARD_CALLS } from "../../support/service/dashboardCalls.ts";
import { callDashboard, signInPerson, type TestPerson } from "../../support/service/dashboardPerson.ts";
import { contentsOf } from "../../support/service/dump.ts";
import { freshDatabases, serviceOnPostgres, TestService } from "../../support/service/support.ts";
import { temporaryFolder } from "../../support/support.ts";

const ids = { chain_id: 1, contract: `0x${"5fbd".repeat(10)}` };
const OPERATOR_CALLS = DASHBOARD_CALLS.filter(({ staff }) => staff === "operator");

describe("the operator's console", () => {
  const log: string[] = [];
  const service = serviceOnPostgres({ log });
  let partner: TestPartner;
  let operator: TestPerson;
  let reader: TestPerson;
  let ofPartner: TestPerson;

  before(async () => {
    partner = await service.createPartner("Acme");
    operator = await signInPerson(service, null, "Olga");
    reader = await signInPerson(service, null, "Otto", { role: "reader" });
    ofPartner = await signInPerson(service, partner.bizID, "Ada");
  });

  /** A valid body for each call. */
  const bodyOf = (path: string): object => {
    const ofBiz = { biz_id: partner.bizID };
    const bodies: Record<string, object> = {
      "operator/getPartner": ofBiz,
      "operator/createPartner": { name: "New" },
      "operator/suspendPartner": ofBiz,
      "operator/resumePartner": ofBiz,
      "operator/setUserLimit": ofBiz,
      "operator/inviteStaff": { ...ofBiz, name: "New", role: "reader" },
      "operator/listServerTokens": ofBiz,
      "operator/revokeServerToken": { token_id: partner.tokenID },
      "serverTokens/revoke": { token_id: partner.tokenID },
      "users/get": { user_id_hex: randomHex() },
      "users/create": { user_id_hex: randomHex(), region: "us-west-2" },
      "users/listTokens": { user_id_hex: randomHex() },
      "users/createToken": { user_id_hex: randomHex(), context: "x" },
      "users/discardKey": { user_id_hex: randomHex(), keyID: Buffer.alloc(16).toString("base64") },
      "users/approveKey": { user_id_hex: randomHex(), keyID: Buffer.alloc(16).toString("base64") },
      "users/revokeToken": { user_id_hex: randomHex(), token_id: partner.tokenID },
    };
    return bodies[path] ?? {};
  };
  const contents = () => contentsOf(service);

  it("has calls for every part", () => {
    expect(OPERATOR_CALLS).to.have.length(12);
  });

  describe("its calls", () => {
    it("refuse partners' people, whatever their role, and change nothing for them", async () => {
      await service.context.refreshTokens.storeUses();
      const before = await contents();
      for (const { path } of OPERATOR_CALLS) {
        await ofPartner.verify();
        expectProblem(await ofPartner.call(path, bodyOf(path)), [403, "ROLE_REFUSED"]);
      }
      expect(await contents()).to.deep.equal(before);
    });

    it("refuse requests without a session, and of other origins", async () => {
      for (const { path } of OPERATOR_CALLS) {
        expectProblem(await callDashboard(service, path, bodyOf(path)), [401, "SESSION_REQUIRED"]);
        const headers = { Origin: "https://evil.example" };
        const forged = await callDashboard(service, path, bodyOf(path), { cookie: operator.cookie, headers });
        expectProblem(forged, [403, "ORIGIN_REFUSED"]);
      }
    });

    it("let readers look, and change nothing", async () => {
      const before = await contents();
      for (const { path, access } of OPERATOR_CALLS) {
        await reader.verify();
        const answer = await reader.call(path, bodyOf(path));
        if (access === "administrator") expectProblem(answer, [403, "ROLE_REFUSED"]);
        else expect(answer.status, path).to.equal(200);
      }
      expect(await contents()).to.deep.equal(before);
    });

    it("permit nothing before a passkey was added", async () => {
      const { call } = await signInPerson(service, null, "Newcomer", { passkey: false });
      for (const { path } of OPERATOR_CALLS) expectProblem(await call(path, bodyOf(path)), [403, "PASSKEY_REQUIRED"]);
    });

    it("end with the session, also when the person is removed", async () => {
      const leaving = await signInPerson(service, null, "Leaving");
      expect((await leaving.call("operator/listPartners")).status).to.equal(200);
      expect((await operator.call("staff/remove", { person_id: leaving.personID })).status).to.equal(200);
      for (const { path } of OPERATOR_CALLS)
        expectProblem(await leaving.call(path, bodyOf(path)), [401, "SESSION_REQUIRED"]);
    });
  });

  it("does not open partners' calls to the operator's people", async () => {
    for (const { path, access, staff } of DASHBOARD_CALLS) {
      if (staff !== "partner" || access === "anyone" || access === "invited") continue;
      await operator.verify();
      expectProblem(await operator.call(path, bodyOf(path)), [403, "ROLE_REFUSED"]);
    }
  });

  it("keeps its people apart from partners' people", async () => {
    const names = async ({ call }: TestPerson) =>
      ((await call("staff/list")).body as { people: { name: string }[] }).people.map(({ name }) => name);
    expect(await names(operator))
      .to.include.members(["Olga", "Otto"])
      .and.not.include("Ada");
    expect(await names(ofPartner)).to.deep.equal(["Ada"]);
    for (const [person, target] of [
      [operator, ofPartner],
      [ofPartner, operator],
    ] as const) {
      const removed = await person.call("staff/remove", { person_id: target.personID });
      expectProblem(removed, [404, "PERSON_UNKNOWN"]);
    }
    expect((await operator.call("session/get")).body["partner"]).to.equal(null);
  });

  it("has no two people with one name, also if they are invited at once", async () => {
    const one = await signInPerson(service, null, "One");
    const two = await signInPerson(service, null, "Two");
    const answers = await Promise.all(
      [one, two].map(async ({ verify, call }) => {
        await verify();
        return call("staff/invite", { name: "Same name", role: "reader" });
      }),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409]);
    for (const { personID } of [one, two]) await operator.call("staff/remove", { person_id: personID });
  });

  it("keeps a last administrator, also if all remove each other at once", async () => {
    const another = await signInPerson(service, null, "Another");
    const answers = await Promise.all([
      operator.call("staff/remove", { person_id: another.personID }),
      another.call("staff/remove", { person_id: operator.personID }),
    ]);
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    if (answers[0].status !== 200) operator = another;
    expectProblem(await operator.call("staff/remove", { person_id: operator.personID }), [409, "LAST_ADMINISTRATOR"]);
    // For the tests below, which name her.
    if (operator === another) operator = await signInPerson(service, null, "Olga");
  });

  it("creates partners, and invites their first administrator after fresh verification", async () => {
    const { biz_id } = (await operator.call("operator/createPartner", { name: "Created" })).body;
    const unverified = await signInPerson(service, null, "Unverified");
    const invite = () => unverified.call("operator/inviteStaff", { biz_id, name: "First", role: "administrator" });
    expectProblem(await invite(), [403, "VERIFICATION_REQUIRED"]);
    await unverified.verify();
    const { body } = await invite();
    const token = String(body["url"]).split("/").at(-1);
    const accepted = await callDashboard(service, "invitations/accept", { token });
    expect(accepted.body).to.have.nested.property("partner.biz_id", biz_id);
    const line = log.find((entry) => entry.includes('"partner.created"') && entry.includes(String(biz_id)));
    expect(line).to.contain('"name":"Olga"');
  });

  it("suspends, resumes and limits partners, and revokes their tokens", async () => {
    const own = await service.createPartner("Managed");
    const ofOwn = { biz_id: own.bizID };
    const createUser = () =>
      service.post(
        "/v1/authdBizSrv/users/create",
        { user_id_hex: randomHex(), region: "us-west-2" },
        { token: own.jwt },
      );
    expect((await operator.call("operator/suspendPartner", ofOwn)).body["suspended"]).to.be.a("number");
    expectProblem(await createUser(), [403, "PARTNER_SUSPENDED"]);
    expect((await operator.call("operator/resumePartner", ofOwn)).body["suspended"]).to.equal(null);
    const limited = await operator.call("operator/setUserLimit", { ...ofOwn, user_limit: 0 });
    expect(limited.body["user_limit"]).to.equal(0);
    expectProblem(await createUser(), [409, "USER_LIMIT_REACHED"]);
    const { tokens } = (await operator.call("operator/listServerTokens", ofOwn)).body as { tokens: object[] };
    expect(tokens).to.have.length(1);
    const revoked = await operator.call("operator/revokeServerToken", { token_id: own.tokenID });
    expect(revoked.body).to.include(ofOwn);
    expectProblem(await createUser(), [401, "ACCESS_TOKEN_REVOKED"]);
  });

  it("answers unknown ids as unknown", async () => {
    for (const { path } of OPERATOR_CALLS) {
      const body = bodyOf(path);
      await operator.verify();
      if ("biz_id" in body)
        expectProblem(await operator.call(path, { ...body, biz_id: "biz_x" }), [404, "PARTNER_UNKNOWN"]);
    }
    const token_id = "00000000-0000-4000-8000-000000000000";
    expectProblem(await operator.call("operator/revokeServerToken", { token_id }), [404, "TOKEN_UNKNOWN"]);
  });

  it("starts publishing at once, runs it once, and shows its outcome when it ends", async () => {
    const outcome = Promise.withResolvers<PublishedBatch[]>();
    const authors: Author[] = [];
    const lines: string[] = [];
    const status = { chain: { ...ids, error: undefined, state: null }, stores: [], publishable: 3, running: false };
    await using databases = await freshDatabases();
    const publishing = await new TestService().start(databases, {
      log: lines,
      publish: (author) => {
        authors.push(author);
        return outcome.promise;
      },
      publishing: () => Promise.resolve(status),
    });
    try {
      const { call, personID } = await signInPerson(publishing, null, "Olga");
      const lastRun = async () =>
        ((await call("operator/getStatus")).body["publishing"] as { last_run: object }).last_run;
      expect(await lastRun()).to.equal(null);
      for (let calls = 0; calls < 2; calls++)
        expect((await call("operator/publish")).body).to.include({ ended: null, error: null });
      expect(authors).to.have.length(1);
      expect(authors[0]?.actor).to.include({ kind: "person", person: personID, name: "Olga" });
      expect(await lastRun()).to.include({ ended: null });
      const batch = { root: "7e".repeat(32), users: 3, transaction: `0x${"a".repeat(64)}`, block: 9 };
      outcome.resolve([batch]);
      await outcome.promise;
      const ended = (await lastRun()) as { ended: number; batches: object[]; error: null };
      expect(ended.ended).to.be.a("number");
      expect(ended).to.deep.include({ batches: [batch], error: null });
    } finally {
      await publishing.close();
    }
  });

  it("shows the code of what failed, and logs no URL that may contain a secret", async () => {
    const secret = "hunter2";
    const failure = (code: TransportError["code"]) =>
      new TransportError(code, `https://user:${secret}@rpc.test:8545/v3/${secret}?key=${secret} did not answer.`, {
        cause: new Error(`connect wss://rpc.test/${secret}`),
      });
    const lines: string[] = [];
    await using databases = await freshDatabases();
    const failing = await new TestService().start(databases, {
      log: lines,
      publish: () => Promise.reject(failure("RPC_ERROR")),
      publishing: () =>
        Promise.resolve({
          chain: { ...ids, error: failure("UNREACHABLE"), state: null },
          ...{ stores: [], publishable: 0, running: false },
        }),
    });
    try {
      const { call } = await signInPerson(failing, null, "Olga");
      await call("operator/publish");
      const { text } = await call("operator/getStatus");
      expect(text).to.contain('"UNREACHABLE"').and.contain('"RPC_ERROR"').and.not.contain(secret);
      const logged = lines.join("");
      expect(logged).to.contain("https://rpc.test:8545/<redacted> did not answer").and.contain("publishing failed");
      expect(logged).to.contain("wss://rpc.test/<redacted>").and.not.contain(secret);
    } finally {
      await failing.close();
    }
  });

  it("says that a service without a chain does not publish", async () => {
    const { body } = await operator.call("operator/getStatus");
    expect(body).to.deep.equal({
      databases: [{ name: "home, us-west-2, eu-west-1", error: null }],
      publishing: null,
    });
  });
});

describeOnBoth("the console's state of publishing", (startChain) => {
  const fresh = freshRegistry(startChain);
  const folder = temporaryFolder();

  it("shows the chain, the stores and the keys, and by its code what does not answer", async () => {
    const databases = await freshDatabases();
    const config = {
      ...{ rpcUrl: fresh.rpcUrl, contract: fresh.contract, chainId: fresh.chainId, confirmations: 1 },
      limits: "local" as const,
      files: { "us-west-2": folder.path, "eu-west-1": folder.path },
    };
    try {
      const status = await new KeyPublisher(databases, config, undefined).status();
      expect(status.chain).to.deep.include({ chain_id: fresh.chainId, contract: fresh.contract, error: undefined });
      expect(status.chain.state?.owner).to.equal(fresh.owner);
      expect(BigInt(status.chain.state?.balance ?? 0) > 0n).to.equal(true);
      expect(status.stores.map(({ error }) => error)).to.deep.equal([undefined, undefined]);
      expect(status).to.include({ publishable: 0, running: false });

      const broken = {
        ...config,
        rpcUrl: "http://127.0.0.1:1/secret",
        files: { ...config.files, "eu-west-1": "s3://none" },
      };
      const failed = await new KeyPublisher(databases, broken, undefined).status();
      expect(failed.chain.state).to.equal(null);
      expect(failed.chain.error).to.include({ code: "UNREACHABLE" });
      expect(failed.stores.map(({ error }) => error === undefined)).to.deep.equal([true, false]);
      const wrong = await new KeyPublisher(databases, { ...config, chainId: 5 }, undefined).status();
      expect(wrong.chain.error).to.include({ code: "CHAIN_ID_MISMATCH" });
    } finally {
      await databases[Symbol.asyncDispose]();
    }
  });
});
