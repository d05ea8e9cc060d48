import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { expectProblem, type TestPartner } from "../../support/service/caller.ts";
import { signInPerson, type TestPerson } from "../../support/service/dashboardPerson.ts";
import { deliver } from "../../support/service/deliver.ts";
import { dump } from "../../support/service/dump.ts";
import { serviceOnPostgres } from "../../support/service/support.ts";
import { startReceiver, type WebhookReceiver } from "../../support/service/webhookReceiver.ts";

describe("the dashboard's calls about webhooks and the audit log", () => {
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

  const change = async (path: string, body: object) => {
    await admin.verify();
    const { status, body: answer, text } = await admin.call(`webhooks/${path}`, body);
    expect(status, text).to.equal(200);
    return answer;
  };
  const create = async () => {
    const created = await change("create", { url: receiver.url, types: ["user.created"] });
    return created as { endpoint_id: string; secret: string };
  };

  it("add an endpoint, with a secret that verifies what is sent, and is stored and logged nowhere", async () => {
    const { endpoint_id, secret } = await create();
    const listed = await reader.call("webhooks/list");
    expect(listed.body).to.include({ enabled: true });
    expect(listed.text).to.contain(endpoint_id).and.contain(receiver.url).and.not.contain(secret);
    expect((await stranger.call("webhooks/list")).body["endpoints"]).to.deep.equal([]);
    const tested = await admin.call("webhooks/test", { endpoint_id });
    expect(tested.body).to.include({ delivered: true, status: 204, error: null });
    const { body, headers } = receiver.received.at(-1) ?? { body: "", headers: {} };
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).to.include({ type: "webhook.test" });
    expect(JSON.stringify(await dump(service.databases.home))).to.not.contain(secret);
    expect(log.join("")).to.not.contain(secret);
    const line = log.find((entry) => entry.includes('"webhook.created"'));
    expect(line).to.contain('"name":"Ada"').and.contain(admin.personID);
  });

  it("list deliveries, and send failed ones again", async () => {
    const { endpoint_id } = await create();
    const ofEndpoint = { endpoint_id };
    const list = async (filter = {}) => {
      const { deliveries } = (await reader.call("webhooks/listDeliveries", { ...ofEndpoint, ...filter })).body;
      return deliveries as { event_id: string; state: string; status: number }[];
    };
    await service.createUser(partner);
    await deliver(service);
    const [delivery, ...others] = await list();
    expect(others).to.deep.equal([]);
    expect(delivery).to.include({ type: "user.created", state: "delivered", status: 204 });
    const { event_id = "" } = delivery ?? {};
    expect((await admin.call("webhooks/redeliver", { ...ofEndpoint, event_id })).body).to.deep.equal({ queued: 1 });
    expect(await list({ state: "pending" })).to.have.length(1);
    await deliver(service);
    expect(receiver.ids().filter((id) => id === event_id).length).to.be.at.least(2);
    const again = await admin.call("webhooks/redeliverFailed", { ...ofEndpoint, since: 0 });
    expect(again.body).to.deep.equal({ queued: 0 });
    for (const path of ["redeliver", "listDeliveries", "test"]) {
      const answer = await stranger.call(`webhooks/${path}`, {
        ...ofEndpoint,
        ...(path === "redeliver" && { event_id }),
      });
      expectProblem(answer, [404, "WEBHOOK_UNKNOWN"]);
    }
  });

  it("change, pause and resume an endpoint, replace its secret, and delete it", async () => {
    const { endpoint_id, secret } = await create();
    const changed = await change("update", { endpoint_id, url: `${receiver.url}/2`, types: [] });
    expect(changed).to.include({ url: `${receiver.url}/2` });
    expect((await change("pause", { endpoint_id }))["paused"]).to.be.a("number");
    expect((await change("resume", { endpoint_id }))["paused"]).to.equal(null);
    const rotated = await change("rotateSecret", { endpoint_id });
    expect(rotated["secret"])
      .to.match(/^whsec_/)
      .and.not.equal(secret);
    await stranger.call("webhooks/delete", { endpoint_id });
    expect((await reader.call("webhooks/list")).text).to.contain(endpoint_id);
    await change("delete", { endpoint_id });
    expect((await reader.call("webhooks/list")).text).to.not.contain(endpoint_id);
  });

  it("name what is wrong with a URL beside its field", async () => {
    await admin.verify();
    const answer = await admin.call("webhooks/create", { url: "ftp://example.com/" });
    expectProblem(answer, [400, "WEBHOOK_URL_REFUSED"]);
    const [error] = answer.body["errors"] as { field: string; detail: string }[];
    expect(error).to.deep.equal({ field: "url", detail: "it must begin with https://" });
  });

  it("of a suspended company add no endpoint, and still take one away", async () => {
    const own = await service.createPartner("Suspended");
    const { call, verify } = await signInPerson(service, own.bizID, "Susan");
    await verify();
    const { endpoint_id } = (await call("webhooks/create", { url: receiver.url })).body;
    await service.admin("/v1/admin/partners/suspend", { biz_id: own.bizID });
    for (const [path, body] of Object.entries({
      create: { url: receiver.url },
      update: { endpoint_id, url: receiver.url },
      rotateSecret: { endpoint_id },
    })) {
      await verify();
      expectProblem(await call(`webhooks/${path}`, body), [403, "PARTNER_SUSPENDED"]);
    }
    expect((await call("webhooks/delete", { endpoint_id })).status).to.equal(200);
  });

  it("list the partner's part of the audit log, as the API does, and all of it to the operator", async () => {
    const user = await service.createUser(partner);
    const filter = { action: "user.created", user_id_hex: user.hex };
    const { body } = await reader.call("audit/list", filter);
    const own = await service.done("/v1/authdBizSrv/audit/list", filter, { token: partner.jwt });
    expect(body).to.deep.equal(own);
    expect(body["entries"]).to.have.length(1);
    expect((await stranger.call("audit/list", filter)).body["entries"]).to.deep.equal([]);
    const operator = await signInPerson(service, null, "Olga");
    expect((await operator.call("operator/listAudit", filter)).body).to.deep.equal(
      await service.admin("/v1/admin/audit/list", filter),
    );
    const page = (await reader.call("audit/list", { limit: 2 })).body as { entries: { at: number }[]; next: string };
    const more = (await reader.call("audit/list", { limit: 2, after: page.next })).body as typeof page;
    expect([...page.entries, ...more.entries]).to.have.length(4);
    expect(page.entries[1]?.at).to.be.at.least(more.entries[0]?.at ?? 0);
  });
});
