import { expect } from "chai";
import { TransportError } from "../../../packages/keyroot/src/errors.ts";
import { KeyPublisher } from "../../../packages/service/src/publisher/keyPublisher.ts";
import type { PublishedBatch } from "../../../packages/service/src/publishing/publisherReport.ts";
import { PublisherState, writeReport } from "../../../packages/service/src/publishing/publisherState.ts";
import { makeLogger } from "../../../packages/service/src/api/logger.ts";
import { reporter } from "../../../packages/service/src/publisher/publisherTasks.ts";
import type { Author } from "../../../packages/service/src/api/base/author.ts";
import { describeOnBoth, freshRegistry } from "../../support/chain/freshRegistry.ts";
import { expectProblem, type TestPartner } from "../../support/service/caller.ts";
import { callDashboard, signInPerson, type TestPerson } from "../../support/service/dashboardPerson.ts";
import { freshDatabases, serviceOnPostgres, TestService } from "../../support/service/support.ts";
import { temporaryFolder } from "../../support/support.ts";

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
    for (const { personID } of [one, two]) await operator.change("/v1/dashboard/staff/remove", { person_id: personID });
  });

  it("invites a partner's first administrator after passkey verification", async () => {
    const { biz_id } = (await operator.change("/v1/admin/partners/create", { name: "Created" })).body;
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
    await using databases = await freshDatabases();
    const publishing = await new TestService().start(databases, {
      publish: (author) => {
        authors.push(author);
        return outcome.promise;
      },
    });
    try {
      const { call, change, personID } = await signInPerson(publishing, null, "Olga");
      const lastRun = async () =>
        ((await call("/v1/dashboard/status/get")).body["publishing"] as { last_run: object }).last_run;
      expect(await lastRun()).to.equal(null);
      for (let calls = 0; calls < 2; calls++)
        expect((await change("/v1/dashboard/publishing/start")).body).to.include({ ended: null, error: null });
      expect(authors).to.have.length(1);
      expect(authors[0]?.actor).to.include({ kind: "person", person: personID, name: "Olga" });
      expect(await lastRun()).to.include({ ended: null });
      const batch = { root: "7e".repeat(32), users: 3, transaction: `0x${"a".repeat(64)}`, block: 9 };
      outcome.resolve([batch]);
      await outcome.promise;
      let ended = (await lastRun()) as { ended: number | null; batches: object[]; error: null };
      while (ended.ended === null) ended = (await lastRun()) as typeof ended;
      expect(ended).to.deep.include({ batches: [batch], error: null });
    } finally {
      await publishing.close();
    }
  });

  it("shows that the publisher is silent, until it reports", async () => {
    await using databases = await freshDatabases();
    const publishing = await new TestService().start(databases, { publish: () => Promise.resolve([]) });
    try {
      const { call } = await signInPerson(publishing, null, "Olga");
      const status = async () => (await call("/v1/dashboard/status/get")).body["publishing"] as Record<string, unknown>;
      expect(await status()).to.deep.include({ reported: null, stores: [], publishable: 0, running: false });
      expect((await status())["chain"]).to.include({ error: "PUBLISHER_SILENT", state: null });
      const chain = {
        chain_id: 5,
        contract: `0x${"5f".repeat(20)}`,
        key_type: "curve41417",
        error: "UNREACHABLE",
        state: null,
      };
      await writeReport(databases.home, { chain, stores: [], every: null });
      expect(await status()).to.deep.include({ chain: { ...chain, key_type: "curve41417" }, differences: [] });
    } finally {
      await publishing.close();
    }
  });

  it("shows only the code of a failed publication, because its message may contain secrets", async () => {
    const secret = "hunter2";
    await using databases = await freshDatabases();
    const failing = await new TestService().start(databases, {
      publish: () => Promise.reject(new TransportError("RPC_ERROR", `https://rpc.test/${secret} did not answer.`)),
    });
    try {
      const { call, change } = await signInPerson(failing, null, "Olga");
      await change("/v1/dashboard/publishing/start");
      let { text } = await call("/v1/dashboard/status/get");
      while (!text.includes('"RPC_ERROR"')) ({ text } = await call("/v1/dashboard/status/get"));
      expect(text).not.to.contain(secret);
      const answer = await failing.admin("/v1/admin/publishRegistered", {}).catch(String);
      expect(JSON.stringify(answer)).to.contain("RPC_ERROR").and.not.contain(secret);
    } finally {
      await failing.close();
    }
  });

  it("hides secrets in the errors that the publisher logs", async () => {
    const secret = "hunter2";
    const lines: string[] = [];
    const error = new TransportError(
      "UNREACHABLE",
      `https://user:${secret}@rpc.test:8545/v3/${secret}?key=${secret} did not answer.`,
      {
        cause: new Error(`connect wss://rpc.test/${secret}`),
      },
    );
    const report = reporter(
      { report: () => Promise.resolve([{ part: "the chain", error }]) },
      makeLogger("info", { write: (line: string) => void lines.push(line) }),
    );
    await report();
    await report();
    expect(lines).to.have.length(1);
    expect(lines[0]).to.contain("https://rpc.test:8545/<redacted> did not answer").and.contain("the chain fails");
    expect(lines[0]).to.contain("wss://rpc.test/<redacted>").and.not.contain(secret);
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
      const reported = async (changes: Partial<typeof config> = {}) => {
        await new KeyPublisher(databases, { ...config, ...changes }, undefined).report();
        return new PublisherState(databases, fresh, false).report();
      };
      const status = await reported();
      expect(status.chain).to.deep.include({ chain_id: fresh.chainId, contract: fresh.contract, error: null });
      expect(status.chain.state?.owner).to.equal(fresh.owner);
      expect(BigInt(status.chain.state?.balance ?? 0) > 0n).to.equal(true);
      expect(status.stores.map(({ error }) => error)).to.deep.equal([null, null]);

      const files = { ...config.files, "eu-west-1": "s3://none" };
      const failed = await reported({ rpcUrl: "http://127.0.0.1:1/secret", files });
      expect(failed.chain).to.deep.include({ error: "UNREACHABLE", state: null });
      expect(failed.stores.map(({ error }) => error === null)).to.deep.equal([true, false]);
      expect((await reported({ chainId: 5 })).chain.error).to.equal("CHAIN_ID_MISMATCH");
    } finally {
      await databases[Symbol.asyncDispose]();
    }
  });
});
