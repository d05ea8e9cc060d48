import { expect } from "chai";
import { type Answer, expectProblem } from "../../support/service/caller.ts";
import { callDashboard, signInPerson, type TestPerson } from "../../support/service/dashboardPerson.ts";
import { contentsOf } from "../../support/service/dump.ts";
import { createTenant, goodBody, TABLE, type Tenant } from "../../support/service/operations.ts";
import { serviceOnPostgres } from "../../support/service/support.ts";

const FOR_STAFF = TABLE.filter(({ forStaff }) => forStaff);
const FOR_SESSIONS = FOR_STAFF.filter(({ callers }) => !callers.includes("visitor"));
/**
 * A body with a field that no operation has. An operation that accepts the caller rejects the body, and changes
 * nothing.
 */
const PROBE = { unknown_field: 1 };

function expectAccepted(answer: Answer): void {
  expect(answer.status, answer.text).to.equal(400);
  expect(answer.text).to.contain("unknown_field");
}

describe("the table of operations", () => {
  it("contains each path once, with its callers", () => {
    expect(new Set(TABLE.map(({ path }) => path)).size).to.equal(TABLE.length);
    for (const { path, callers } of TABLE) expect(callers, path).to.not.be.empty;
  });

  it("assigns at most one kind of bearer token to each operation", () => {
    for (const { path, callers } of TABLE) {
      const tokens = callers.filter((caller) => ["public", "partner", "user", "operator"].includes(caller));
      expect(tokens.length, path).to.be.at.most(1);
    }
  });

  it("lets only administrators change the data of others", () => {
    const own = /^\/v1\/dashboard\/(?:session|passkeys)\//;
    for (const { path, role } of FOR_SESSIONS.filter(({ path }) => !own.test(path)))
      expect(role, path).to.equal(READING.test(path) ? "reader" : "administrator");
  });

  it("state a reason for every change without a passkey, and for nothing else", () => {
    for (const { path, reads, unverified, callers } of FOR_SESSIONS.filter(
      ({ callers }) => !callers.includes("visitor"),
    )) {
      expect(reads, path).to.equal(READING.test(path));
      expect(unverified !== undefined, `${path} for ${callers.join()}`).to.equal(WITHOUT_PASSKEY.has(path));
    }
  });
});

/** The paths of operations that change nothing. */
const READING = /\/(?:get|list|listUsers|listBatches|listRefreshTokens|listDeliveries)$/;
/** The changes for which people need no fresh verification with a passkey. */
const WITHOUT_PASSKEY: ReadonlySet<string> = new Set([
  "/v1/dashboard/session/end",
  "/v1/dashboard/session/verifyOptions",
  "/v1/dashboard/session/verify",
  "/v1/dashboard/passkeys/options",
  "/v1/dashboard/passkeys/add",
  "/v1/authdBizSrv/webhooks/test",
  "/v1/authdBizSrv/webhooks/redeliver",
  "/v1/authdBizSrv/webhooks/redeliverFailed",
]);

describe("a dashboard session", () => {
  const service = serviceOnPostgres({ publish: () => Promise.resolve([]) });
  let tenant: Tenant;
  const people = {} as Record<string, TestPerson>;
  const KINDS: Readonly<Record<string, { staff: string; role: string; passkey?: boolean }>> = {
    "an administrator of a partner": { staff: "partnerStaff", role: "administrator" },
    "a reader of a partner": { staff: "partnerStaff", role: "reader" },
    "a person of a partner without a passkey": { staff: "partnerStaff", role: "administrator", passkey: false },
    "an administrator of the operator": { staff: "operatorStaff", role: "administrator" },
    "a reader of the operator": { staff: "operatorStaff", role: "reader" },
    "a person of the operator without a passkey": { staff: "operatorStaff", role: "administrator", passkey: false },
  };
  let rows: unknown;

  before(async () => {
    tenant = await createTenant(service);
    for (const [kind, { staff, ...options }] of Object.entries(KINDS)) {
      const bizID = staff === "partnerStaff" ? tenant.partner.bizID : null;
      people[kind] = await signInPerson(service, bizID, kind, options);
    }
    await service.context.refreshTokens.storeUses();
    rows = await contentsOf(service);
  });
  const person = (kind: string) => people[kind] ?? expect.fail(kind);

  for (const { path, callers, role, body, forStaff, token } of TABLE) {
    describe(`the operation ${path}`, () => {
      if (forStaff) {
        for (const [kind, { staff, role: own, passkey = true }] of Object.entries(KINDS)) {
          const isInvited = callers.includes("invited") || callers.includes("visitor");
          const code = isInvited
            ? undefined
            : !passkey
              ? "PASSKEY_REQUIRED"
              : !callers.includes(staff) || (role === "administrator" && own === "reader")
                ? "ROLE_REFUSED"
                : undefined;
          if (code === undefined)
            it(`accepts ${kind}`, async () => {
              expectAccepted(await person(kind).call(path, PROBE));
            });
          else
            it(`rejects ${kind}`, async () => {
              expectProblem(await person(kind).call(path, PROBE), [403, code]);
            });

          if (code === undefined && !isInvited && !READING.test(path) && !WITHOUT_PASSKEY.has(path))
            it(`requires recent passkey verification from ${kind}`, async () => {
              const answer = await person(kind).call(path, goodBody({ path, body }, tenant));
              expectProblem(answer, [403, "VERIFICATION_REQUIRED"]);
            });
        }
      } else {
        it(`${token === "public" ? "ignores" : "rejects"} a session`, async () => {
          for (const kind of ["an administrator of a partner", "an administrator of the operator"]) {
            const answer = await person(kind).call(path, PROBE);
            if (token === "public") expectAccepted(answer);
            else expectProblem(answer, [401, "ACCESS_TOKEN_MISSING"]);
          }
        });
      }
    });
  }

  for (const [name, headers] of Object.entries({
    "without Origin": { Origin: undefined },
    "with the Origin null": { Origin: "null" },
    "from another site": { Origin: "https://evil.example" },
    "from another port": { Origin: "http://localhost:1" },
    "from 127.0.0.1 instead of localhost": { Origin: "http://127.0.0.1" },
    "that a browser marks as cross-site": { "Sec-Fetch-Site": "cross-site" },
    "that a browser marks as same-site": { "Sec-Fetch-Site": "same-site" },
    "for another host, with its Origin": { Origin: "http://evil.example", Host: "evil.example" },
  } satisfies Record<string, Record<string, string | undefined>>)) {
    it(`is rejected by every operation in a request ${name}`, async () => {
      for (const { path } of FOR_STAFF) {
        const { cookie } = person("an administrator of a partner");
        expectProblem(await callDashboard(service, path, PROBE, { cookie, headers }), [403, "ORIGIN_REFUSED"]);
      }
    });
  }

  it("is required by every operation for staff", async () => {
    for (const cookie of [undefined, "A".repeat(43), "'; drop table sessions; --", tenant.partner.bizID])
      for (const { path } of FOR_SESSIONS)
        expectProblem(await callDashboard(service, path, PROBE, { cookie }), [401, "SESSION_REQUIRED"]);
  });

  it("cannot be replaced by a bearer token", async () => {
    for (const { path } of FOR_SESSIONS.filter(({ token }) => token === undefined))
      for (const token of Object.values(tenant.tokens)) {
        expectProblem(await service.post(path, PROBE, token === undefined ? {} : { token }), [403, "ORIGIN_REFUSED"]);
        const headers = { Authorization: `Bearer ${token}` };
        expectProblem(await callDashboard(service, path, PROBE, { headers }), [401, "SESSION_REQUIRED"]);
      }
  });

  it("is ignored if the request has an Authorization header", async () => {
    for (const { path } of FOR_STAFF.filter(({ token }) => token !== undefined)) {
      const { cookie } = person("an administrator of a partner");
      const headers = { Authorization: "Bearer x" };
      const answer = await callDashboard(service, path, PROBE, { cookie, headers });
      expectProblem(answer);
      expect(answer.status, path).to.equal(401);
    }
  });

  it("changes nothing in the database if every request is rejected", async () => {
    expect(await contentsOf(service)).to.deep.equal(rows);
  });

  it("changes nothing by the operations that read", async () => {
    for (const [kind, { staff, role, passkey }] of Object.entries(KINDS)) {
      if (role !== "administrator" || passkey === false) continue;
      for (const { path, body } of TABLE.filter(({ reads, callers }) => reads && callers.includes(staff))) {
        const sent = { ...goodBody({ path, body }, tenant), after: undefined };
        expect((await person(kind).call(path, sent)).status, path).to.be.oneOf([200, 404]);
      }
    }
    expect(await contentsOf(service)).to.deep.equal(rows);
  });

  it("gives no access after the person is removed", async () => {
    const admin = person("an administrator of the operator");
    const leaving = await signInPerson(service, null, "Leaving");
    expect((await admin.change("/v1/dashboard/staff/remove", { person_id: leaving.personID })).status).to.equal(200);
    for (const { path } of FOR_SESSIONS) expectProblem(await leaving.call(path, PROBE), [401, "SESSION_REQUIRED"]);
  });
});
