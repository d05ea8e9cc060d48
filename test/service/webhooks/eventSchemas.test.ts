import { expect } from "chai";
import { EVENT_TYPES } from "../../../packages/service/src/auditLog/recordChange.ts";
import { EVENT_SCHEMAS } from "../../../packages/service/src/webhooks/eventSchemas.ts";
import { keyFieldsOf } from "../../support/service/answerChallenge.ts";
import { markPublished } from "../../support/service/markPublished.ts";
import { serviceOnPostgres, unconnectedApp } from "../../support/service/support.ts";
import { sampleKeyPairs } from "../../support/samples.ts";
import { never } from "../../support/support.ts";

const [first = never("There is no sample."), second = never("There is one sample.")] = sampleKeyPairs;

describe("the schemas of events", () => {
  const service = serviceOnPostgres({ holdPeriodMs: 3_600_000 });

  it("describe every type of event, as the service makes it", async () => {
    const partner = await service.createPartner();
    const user = await service.createUser(partner);
    const ofPartner = { token: partner.jwt };
    const { key_id } = keyFieldsOf(first);
    await service.registerKey(user, first);
    await service.registerKey(user, second);
    await service.done("/v1/authdUser/publicKey/withdraw", { key_id }, { token: user.jwt });
    await service.registerKey(user, first);
    const ofUser = { user_id: user.userID };
    await service.done("/v1/authdBizSrv/publicKeys/discard", { ...ofUser, key_id }, ofPartner);
    await service.registerKey(user, second);
    await markPublished(service.databases, { root: "12".repeat(32), userIDs: [user.userID] });
    const { tokens } = await service.done("/v1/authdBizSrv/users/listRefreshTokens", ofUser, ofPartner);
    const [token] = tokens as { token_id: string }[];
    await service.done(
      "/v1/authdBizSrv/users/revokeRefreshToken",
      { ...ofUser, token_id: token?.token_id ?? "" },
      ofPartner,
    );
    await service.admin("/v1/admin/partners/suspend", { biz_id: partner.bizID });
    await service.admin("/v1/admin/partners/resume", { biz_id: partner.bizID });

    const { events } = await service.done("/v1/authdBizSrv/events/list", {}, ofPartner);
    const listed = events as { type: keyof typeof EVENT_SCHEMAS }[];
    // Changes of keys need accounts. The tests of accounts check their events.
    const withoutAccounts = EVENT_TYPES.filter((type) => !type.startsWith("keyChange."));
    expect([...new Set(listed.map(({ type }) => type))].sort()).to.deep.equal(withoutAccounts.sort());
    for (const event of listed) EVENT_SCHEMAS[event.type].parse(event);
  });

  it("are the bodies of the webhooks in the API description", async () => {
    await using app = await unconnectedApp();
    const { webhooks, components } = (await app.inject("/openapi.json")).json<{
      webhooks: Record<string, { post: { requestBody: { content: Record<string, { schema: { $ref: string } }> } } }>;
      components: { schemas: Record<string, { properties: { type: { const: string } } }> };
    }>();
    expect(Object.keys(webhooks)).to.deep.equal([...EVENT_TYPES, "webhook.test"]);
    for (const [type, { post }] of Object.entries(webhooks)) {
      const name = post.requestBody.content["application/json"]?.schema.$ref.split("/").at(-1) ?? "";
      expect(components.schemas[name]?.properties.type.const).to.equal(type);
    }
  });
});

describe("the API description", () => {
  it("names the schemas of users, keys, events, webhooks and errors, and has no unused schema", async () => {
    await using app = await unconnectedApp();
    for (const path of ["/openapi.json", "/openapi-operator.json"]) {
      const document = (await app.inject(path)).json<{ components: { schemas: object } }>();
      const text = JSON.stringify(document);
      const names = Object.keys(document.components.schemas);
      expect(names.filter((name) => !text.includes(`"#/components/schemas/${name}"`))).to.deep.equal([]);
      if (path === "/openapi.json")
        expect(names).to.include.members(["ShadowUser", "UserKey", "Event", "Webhook", "Problem"]);
    }
  });
});
