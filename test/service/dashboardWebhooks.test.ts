import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { expectProblem, type TestPartner } from "../support/service/caller.ts";
import { signInPerson, type TestPerson } from "../support/service/dashboardPerson.ts";
import { dump } from "../support/service/dump.ts";
import { serviceOnPostgres } from "../support/service/support.ts";
import { startReceiver, type WebhookReceiver } from "../support/service/webhookReceiver.ts";

describe("webhooks and the audit log in the dashboard", () => {
  const log: string[] = [];
  const service = serviceOnPostgres({ log, webhooks: { allowPrivate: true } });
  let receiver: WebhookReceiver;
  let partner: TestPartner;
  let admin: TestPerson;
  let reader: TestPerson;
  let stranger: TestPerson;

  before(async () => {
    receiver = await startReceiver();
    partner = await service.createPartner("Acme");
    admin = await signInPerson(service, partner.bizID, "Ada");
    reader = await signInPerson(service, partner.bizID, "Rita", { role: "reader" });
    stranger = await signInPerson(service, (await service.createPartner("Other")).bizID, "Mallory");
  });
  after(() => receiver.close());

  it("add an endpoint, with a secret that verifies what is sent, and is stored and logged nowhere", async () => {
    await admin.verify();
    const created = await admin.call("/v1/authdBizSrv/webhooks/create", { url: receiver.url, types: ["user.created"] });
    const { endpoint_id, secret } = created.body as { endpoint_id: string; secret: string };
    const listed = await reader.call("/v1/authdBizSrv/webhooks/list");
    expect(listed.body).to.include({ enabled: true });
    expect(listed.text).to.contain(endpoint_id).and.contain(receiver.url).and.not.contain(secret);
    expect((await stranger.call("/v1/authdBizSrv/webhooks/list")).body["endpoints"]).to.deep.equal([]);
    const tested = await admin.call("/v1/authdBizSrv/webhooks/test", { endpoint_id });
    expect(tested.body).to.include({ delivered: true, status: 204, error: null });
    const { body, headers } = receiver.received.at(-1) ?? { body: "", headers: {} };
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).to.include({ type: "webhook.test" });
    expect(JSON.stringify(await dump(service.databases.home))).to.not.contain(secret);
    expect(log.join("")).to.not.contain(secret);
    const line = log.find((entry) => entry.includes('"webhook.created"'));
    expect(line).to.contain('"name":"Ada"').and.contain(admin.personID);
  });

  it("name what is wrong with a URL beside its field", async () => {
    await admin.verify();
    const answer = await admin.call("/v1/authdBizSrv/webhooks/create", { url: "ftp://example.com/" });
    expectProblem(answer, [400, "WEBHOOK_URL_REFUSED"]);
    const [error] = answer.body["errors"] as { field: string; detail: string }[];
    expect(error).to.deep.equal({ field: "url", detail: "it must begin with https://" });
  });

  it("list the partner's part of the audit log, as the API does, and all of it to the operator", async () => {
    const user = await service.createUser(partner);
    const filter = { action: "user.created", user_id_hex: user.hex };
    const { body } = await reader.call("/v1/authdBizSrv/audit/list", filter);
    const own = await service.done("/v1/authdBizSrv/audit/list", filter, { token: partner.jwt });
    expect(body).to.deep.equal(own);
    expect(body["entries"]).to.have.length(1);
    expect((await stranger.call("/v1/authdBizSrv/audit/list", filter)).body["entries"]).to.deep.equal([]);
    const operator = await signInPerson(service, null, "Olga");
    expect((await operator.call("/v1/admin/audit/list", filter)).body).to.deep.equal(
      await service.admin("/v1/admin/audit/list", filter),
    );
    const page = (await reader.call("/v1/authdBizSrv/audit/list", { limit: 2 })).body as {
      entries: { at: number }[];
      next: string;
    };
    const more = (await reader.call("/v1/authdBizSrv/audit/list", { limit: 2, after: page.next })).body as typeof page;
    expect([...page.entries, ...more.entries]).to.have.length(4);
    expect(page.entries[1]?.at).to.be.at.least(more.entries[0]?.at ?? 0);
  });
});
