import { expect } from "chai";
import { generateKeyPair } from "../../../packages/keyroot/src/identity/newPublicKey.ts";
import { makeKeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { takePublishable } from "../../../packages/service/src/publishing/takePublishable.ts";
import { type Answer, expectProblem, type TestPartner, type TestUser } from "../../support/service/caller.ts";
import { signInPerson, type TestPerson } from "../../support/service/dashboardPerson.ts";
import {
  createTenant,
  goodBody,
  needsNoAccounts,
  OPERATIONS,
  TABLE,
  type Tenant,
} from "../../support/service/operations.ts";
import { serviceOnPostgres } from "../../support/service/support.ts";

const HOUR = 3_600_000;
const RECORD = "/v1/authdUser/record/get";
const WITHDRAW = "/v1/authdUser/publicKey/withdraw";

describe("a suspended partner", () => {
  const service = serviceOnPostgres({ holdPeriodMs: HOUR });
  const keys = generateKeyPair();
  const key_id = makeKeyRecord("y".repeat(32), keys.publicKey).keyID;
  let partner: TestPartner;
  let user: TestUser;
  const suspend = () => service.admin("/v1/admin/partners/suspend", { biz_id: partner.bizID });
  const state = async () => (await service.done(RECORD, {}, { token: user.jwt }))["state"];
  beforeEach(async () => {
    partner = await service.createPartner();
    user = await service.createUser(partner);
    await service.registerKey(user, keys);
  });

  it("lets users only read their record and withdraw a pending key", async () => {
    await suspend();
    const token = await service.exchange(partner.bizID, user.refreshToken);
    const refused = OPERATIONS.filter(({ tag, path }) => tag === "user" && path !== RECORD && path !== WITHDRAW);
    for (const { path } of refused.filter(needsNoAccounts))
      expectProblem(await service.post(path, {}, { token }), [403, "PARTNER_SUSPENDED"]);
    expect(await service.done(RECORD, {}, { token })).to.include({ state: "pending", key_id });
    expect(await service.done(WITHDRAW, { key_id }, { token })).to.include({ state: "unregistered" });
  });

  it("still rejects the tokens of deactivated users", async () => {
    await service.done("/v1/authdBizSrv/users/deactivate", { user_id_hex: user.hex }, { token: partner.jwt });
    await suspend();
    expectProblem(await service.post(RECORD, {}, { token: user.jwt }), [403, "USER_DEACTIVATED"]);
  });

  for (const [who, discard] of [
    [
      "its administrator",
      async () => {
        const { call, verify } = await signInPerson(service, partner.bizID, "Pat");
        await verify();
        return call("/v1/authdBizSrv/publicKeys/discard", { user_id_hex: user.hex, key_id });
      },
    ],
    [
      "the operator",
      () => {
        const body = { biz_id: partner.bizID, user_id_hex: user.hex, key_id };
        return service.post("/v1/admin/publicKeys/discard", body, { token: service.adminToken });
      },
    ],
  ] as const satisfies readonly (readonly [string, () => Promise<Answer>])[])
    it(`lets ${who} discard its pending keys`, async () => {
      await suspend();
      expect((await discard()).body).to.include({ user_id: user.userID, state: "unregistered" });
      expect(await state()).to.equal("unregistered");
    });

  it("restarts the hold period of its pending keys when it is resumed", async () => {
    await suspend();
    const taken = async (now: number) =>
      (await takePublishable(service.databases, "us-west-2", { now })).some(({ userID }) => userID === user.userID);
    expect(await taken(Date.now() + 2 * HOUR)).to.equal(false);
    expect(await state()).to.equal("pending");
    const resumed = Date.now();
    await service.admin("/v1/admin/partners/resume", { biz_id: partner.bizID });
    expect((await service.done(RECORD, {}, { token: user.jwt }))["hold_ends_at"]).to.be.at.least(resumed + HOUR);
    expect(await taken(resumed + 2 * HOUR)).to.equal(true);
  });
});

describe("the dashboard of a suspended partner", () => {
  const service = serviceOnPostgres();
  const PERMITTED = ["publicKeys/discard", "users/revokeRefreshToken", "serverTokens/revoke"];
  let tenant: Tenant;
  let person: TestPerson;
  before(async () => {
    tenant = await createTenant(service);
    person = await signInPerson(service, tenant.partner.bizID, "Pat");
    await service.admin("/v1/admin/partners/suspend", { biz_id: tenant.partner.bizID });
  });

  for (const { path, role, body, callers } of TABLE) {
    if (!callers.includes("partnerStaff")) continue;
    if (!needsNoAccounts({ path })) continue;
    const isRefused = role === "administrator" && !PERMITTED.some((permitted) => path.endsWith(permitted));
    it(`${isRefused ? "rejects" : "permits"} ${path}`, async () => {
      await person.verify();
      const answer = await person.call(path, goodBody({ path, body }, tenant));
      if (isRefused) expectProblem(answer, [403, "PARTNER_SUSPENDED"]);
      else expect(answer.body["code"]).not.to.equal("PARTNER_SUSPENDED");
    });
  }

  it("rejects further passkeys", async () => {
    const other = await signInPerson(service, tenant.partner.bizID, "Sam");
    await other.verify();
    expectProblem(await other.call("/v1/dashboard/passkeys/options"), [403, "PARTNER_SUSPENDED"]);
  });

  it("lets the operator remove even the last administrator", async () => {
    const partner = await service.createPartner();
    const last = await signInPerson(service, partner.bizID, "Lee");
    const remove = () =>
      service.post("/v1/admin/staff/remove", { biz_id: partner.bizID, name: "Lee" }, { token: service.adminToken });
    expect((await remove()).status).to.equal(200);
    expectProblem(await last.call("/v1/dashboard/session/get"), [401, "SESSION_REQUIRED"]);
    expectProblem(await remove(), [404, "PERSON_UNKNOWN"]);
  });

  it("lets a person add a first passkey after a new invitation", async () => {
    const invited = await signInPerson(service, tenant.partner.bizID, "Kim", { passkey: false });
    expect((await invited.call("/v1/dashboard/passkeys/options")).status).to.equal(200);
  });
});
