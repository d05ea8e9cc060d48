import { expect } from "chai";
import { TransportError } from "../../../packages/keyroot/src/errors.ts";
import { KeyPublisher, type PublishedBatch } from "../../../packages/service/src/publisher/keyPublisher.ts";
import type { Author } from "../../../packages/service/src/api/base/author.ts";
import { describeOnBoth, freshRegistry } from "../../support/chain/freshRegistry.ts";
import { expectProblem, type TestPartner } from "../../support/service/caller.ts";
import { callDashboard, signInPerson, type TestPerson } from "../../support/service/dashboardPerson.ts";
import { freshDatabases, serviceOnPostgres, TestService } from "../../support/service/support.ts";
import { temporaryFolder } from "../../support/support.ts";

const ids = { chain_id: 1, contract: `0x${"5fbd".repeat(10)}` };

describe("the operator's console", () => {
  const log: string[] = [];
  const service = serviceOnPostgres({ log });
  let partner: TestPartner;
  let operator: TestPerson;
  let ofPartner: TestPerson;

  before(async () => {
    partner = await service.createPartner("Acme");
    operator = await signInPerson(service, null, "Olga");
    await signInPerson(service, null, "Otto", { role: "reader" });
    ofPartner = await signInPerson(service, partner.bizID, "Ada");
  });

  it("separates the operator's staff from partners' staff", async () => {
    const names = async ({ call }: TestPerson) =>
      ((await call("/v1/dashboard/staff/list")).body as { people: { name: string }[] }).people.map(({ name }) => name);
    expect(await names(operator))
      .to.include.members(["Olga", "Otto"])
      .and.not.include("Ada");
    expect(await names(ofPartner)).to.deep.equal(["Ada"]);
    expect((await operator.call("/v1/dashboard/session/get")).body["partner"]).to.equal(null);
  });

  it("does not let two people have the same name", async () => {
    const one = await signInPerson(service, null, "One");
    const two = await signInPerson(service, null, "Two");
    const answers = await Promise.all(
      [one, two].map(async ({ verify, call }) => {
        await verify();
        return call("/v1/dashboard/staff/invite", { name: "Same name", role: "reader" });
      }),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409]);
    for (const { personID } of [one, two]) await operator.call("/v1/dashboard/staff/remove", { person_id: personID });
  });

  it("invites a partner's first administrator after passkey verification", async () => {
    const { biz_id } = (await operator.call("/v1/admin/partners/create", { name: "Created" })).body;
    const unverified = await signInPerson(service, null, "Unverified");
    const invite = () => unverified.call("/v1/admin/staff/invite", { biz_id, name: "First", role: "administrator" });
    expectProblem(await invite(), [403, "VERIFICATION_REQUIRED"]);
    await unverified.verify();
    const { body } = await invite();
    const token = String(body["url"]).split("/").at(-1);
    const accepted = await callDashboard(service, "/v1/dashboard/invitations/accept", { token });
    expect(accepted.body).to.have.nested.property("partner.biz_id", biz_id);
    const line = log.find((entry) => entry.includes('"partner.created"') && entry.includes(String(biz_id)));
    expect(line).to.contain('"name":"Olga"');
  });

  it("starts publishing and shows its result", async () => {
    const outcome = Promise.withResolvers<PublishedBatch[]>();
    const authors: Author[] = [];
    const lines: string[] = [];
    const status = {
      chain: { ...ids, error: undefined, state: null },
      stores: [],
      publishable: 3,
      running: false,
      differences: [],
    };
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
        ((await call("/v1/dashboard/status/get")).body["publishing"] as { last_run: object }).last_run;
      expect(await lastRun()).to.equal(null);
      for (let calls = 0; calls < 2; calls++)
        expect((await call("/v1/dashboard/publishing/start")).body).to.include({ ended: null, error: null });
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

  it("hides secrets in the errors that it shows and logs", async () => {
    const secret = "hunter2";
    const failure = (code: "RPC_ERROR" | "UNREACHABLE") =>
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
          ...{ stores: [], publishable: 0, running: false, differences: [] },
        }),
    });
    try {
      const { call } = await signInPerson(failing, null, "Olga");
      await call("/v1/dashboard/publishing/start");
      const { text } = await call("/v1/dashboard/status/get");
      expect(text).to.contain('"UNREACHABLE"').and.contain('"RPC_ERROR"').and.not.contain(secret);
      const logged = lines.join("");
      expect(logged).to.contain("https://rpc.test:8545/<redacted> did not answer").and.contain("publishing failed");
      expect(logged).to.contain("wss://rpc.test/<redacted>").and.not.contain(secret);
    } finally {
      await failing.close();
    }
  });

  it("shows that a service without a chain does not publish", async () => {
    const { body } = await operator.call("/v1/dashboard/status/get");
    expect(body).to.deep.equal({
      databases: [{ name: "home, us-west-2, eu-west-1", error: null }],
      publishing: null,
    });
  });
});

describeOnBoth("the console's publishing status", (startChain) => {
  const fresh = freshRegistry(startChain);
  const folder = temporaryFolder();

  it("shows an error code for each part that does not respond", async () => {
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
      expect(status).to.deep.include({ publishable: 0, running: false, differences: [] });

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
