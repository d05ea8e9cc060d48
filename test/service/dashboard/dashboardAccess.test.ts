import { expect } from "chai";
import { randomUUID } from "node:crypto";
import { generateKeyPair } from "../../../packages/keyroot/src/identity/newPublicKey.ts";
import { type Answer, expectProblem, randomHex } from "../../support/service/caller.ts";
import { signInPerson, type TestPerson } from "../../support/service/dashboardPerson.ts";
import { contentsOf } from "../../support/service/dump.ts";
import { createTenant, goodBody, type JsonSchema, TABLE, type Tenant } from "../../support/service/operations.ts";
import { serviceOnPostgres } from "../../support/service/support.ts";

const OF_PARTNER = TABLE.filter(({ callers }) => callers.includes("partnerStaff"));
const hasField = (body: JsonSchema, field: string) => Object.hasOwn(body.properties ?? {}, field);

describe("the dashboard", () => {
  const log: string[] = [];
  const service = serviceOnPostgres({ log, holdPeriodMs: 3_600_000 });
  let own: Tenant;
  let other: Tenant;
  let admin: TestPerson;
  let stranger: TestPerson;
  let operator: TestPerson;
  before(async () => {
    own = await createTenant(service);
    other = await createTenant(service);
    admin = await signInPerson(service, own.partner.bizID, "Ada");
    stranger = await signInPerson(service, other.partner.bizID, "Sam");
    operator = await signInPerson(service, null, "Olga");
  });
  const call = async (person: TestPerson, path: string, body: object): Promise<Answer> => {
    await person.verify();
    return person.call(path, body);
  };

  for (const action of ["setRole", "inviteAgain", "remove"])
    it(`rejects the action ${action} on another company's person as if that person did not exist`, async () => {
      for (const [person, target] of [
        [admin, stranger],
        [admin, operator],
        [operator, admin],
      ] as const) {
        const body = { person_id: target.personID, ...(action === "setRole" && { role: "reader" }) };
        expectProblem(await call(person, `/v1/dashboard/staff/${action}`, body), [404, "PERSON_UNKNOWN"]);
      }
    });

  for (const { path, body } of OF_PARTNER) {
    const unknown: Record<string, unknown> = {
      user_id_hex: randomHex(),
      token_id: randomUUID(),
      endpoint_id: randomUUID(),
    };
    const ids = Object.keys(unknown).filter((field) => hasField(body, field));
    if (ids.length === 0 || path.endsWith("/users/create")) continue;
    it(`responds to ${path} in the same way to another partner's ${ids.join(" and ")} and to unknown ids`, async () => {
      const theirs = goodBody({ path, body }, other);
      const none = { ...theirs, ...Object.fromEntries(ids.map((field) => [field, unknown[field]])) };
      const answerTo = async (sent: Record<string, unknown>) => {
        const { status, text, body: answer } = await call(admin, path, sent);
        const named = [answer["request_id"], ...ids.map((field) => sent[field])].map(String);
        return [status, named.reduce((shown, id) => shown.replaceAll(id, "ID"), text)];
      };
      expect(await answerTo(theirs)).to.deep.equal(await answerTo(none));
    });
  }

  it("rejects every change by a reader", async () => {
    const reader = await signInPerson(service, own.partner.bizID, "Rita", { role: "reader" });
    await service.context.refreshTokens.storeUses();
    await reader.verify();
    const before = await contentsOf(service);
    for (const { path, body } of OF_PARTNER.filter(({ role }) => role === "administrator"))
      expectProblem(await reader.call(path, goodBody({ path, body }, own)), [403, "ROLE_REFUSED"]);
    expect(await contentsOf(service)).to.deep.equal(before);
  });

  for (const action of ["approve", "discard"] as const)
    it(`logs the person's name with key.${action === "approve" ? "approved" : "discarded"}`, async () => {
      const user = await service.createUser(own.partner);
      const { body } = await service.registerKey(user, generateKeyPair());
      await service.registerKey(user, generateKeyPair());
      const decision = { user_id_hex: user.hex, key_id: body["key_id"] };
      expect((await call(admin, `/v1/authdBizSrv/publicKeys/${action}`, decision)).status).to.equal(200);
      const line = log.find((entry) => entry.includes(`"key.${action}`) && entry.includes(user.userID));
      expect(line).to.contain('"name":"Ada"').and.contain(admin.personID);
    });

  for (const { path, body } of TABLE.filter(
    ({ callers, body }) => callers.includes("operatorStaff") && hasField(body, "biz_id"),
  )) {
    if (!(body.required ?? []).includes("biz_id")) continue;
    it(`responds to ${path} with an error for an unknown partner`, async () => {
      const answer = await call(operator, path, { ...goodBody({ path, body }, other), biz_id: "biz_unknown" });
      const ofUser = hasField(body, "user_id_hex") ? "USER_UNKNOWN" : "PARTNER_UNKNOWN";
      expectProblem(answer, [404, path.endsWith("/staff/remove") ? "PERSON_UNKNOWN" : ofUser]);
    });
  }
});
