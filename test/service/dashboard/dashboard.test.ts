import { expect } from "chai";
import { randomBytes } from "node:crypto";
import { recordUse } from "../../../packages/service/src/staff/sessions.ts";
import { SERVICE } from "../../../packages/service/src/api/base/author.ts";
import type { Session } from "../../../packages/service/src/api/base/principals.ts";
import { expectProblem } from "../../support/service/caller.ts";
import { callDashboard, cookieOf, signInPerson, type TestPerson } from "../../support/service/dashboardPerson.ts";
import { dump } from "../../support/service/dump.ts";
import { describeOnEachDatabase } from "../../support/service/support.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describeOnEachDatabase("the dashboard", (service) => {
  let bizID: string;
  let admin: TestPerson;
  const invite = async (name: string) => {
    const { url } = await service.admin("/v1/admin/staff/invite", { biz_id: bizID, name });
    return String(url).split("/").at(-1) ?? "";
  };
  const accept = (token: string) => callDashboard(service, "/v1/dashboard/invitations/accept", { token });
  before(async () => {
    ({ bizID } = await service.createPartner("Acme"));
    admin = await signInPerson(service, bizID, "Ada");
  });

  describe("an invitation", () => {
    it("sets a cookie that scripts and other sites cannot read", async () => {
      const token = await invite("Once");
      const accepted = await accept(token);
      expect(accepted.status, accepted.text).to.equal(200);
      expect(accepted.headers.get("set-cookie")).to.match(
        /^__Host-keyroot=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
      );
      expectProblem(await accept(token), [403, "INVITATION_REFUSED"]);
    });

    it("works once, even for simultaneous requests", async () => {
      const token = await invite("At once");
      const answers = await Promise.all(Array.from({ length: 8 }, () => accept(token)));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    });

    it("expires after 15 minutes", async () => {
      const [first, second] = [await invite("Early"), await invite("Late")];
      service.ahead = 14 * MINUTE;
      expect((await accept(first)).status).to.equal(200);
      service.ahead = 16 * MINUTE;
      expectProblem(await accept(second), [403, "INVITATION_REFUSED"]);
    });

    it("replaces earlier invitations, passkeys and sessions of the person", async () => {
      const earlier = await invite("Again");
      const again = await signInPerson(service, bizID, "Again");
      expectProblem(await accept(earlier), [403, "INVITATION_REFUSED"]);
      expect((await again.call("/v1/dashboard/staff/list")).status).to.equal(200);
      const token = await invite("Again");
      expectProblem(await again.call("/v1/dashboard/session/get"), [401, "SESSION_REQUIRED"]);
      expect((await accept(token)).body["passkeys"]).to.equal(0);
    });

    it("does not work for a removed person", async () => {
      const token = await invite("Removed");
      const { people } = (await admin.call("/v1/dashboard/staff/list")).body as {
        people: { name: string; person_id: string }[];
      };
      const person_id = people.find(({ name }) => name === "Removed")?.person_id;
      expect((await admin.change("/v1/dashboard/staff/remove", { person_id })).status).to.equal(200);
      expectProblem(await accept(token), [403, "INVITATION_REFUSED"]);
    });

    it("lets the person add a first passkey", async () => {
      const { call } = await signInPerson(service, bizID, "Newcomer", { passkey: false });
      expect((await call("/v1/dashboard/passkeys/options")).status).to.equal(200);
    });
  });

  it("requires passkey verification for each change", async () => {
    const person = await signInPerson(service, bizID, "Verified");
    expectProblem(await person.call("/v1/dashboard/passkeys/options"), [403, "VERIFICATION_REQUIRED"]);
    const add = () => person.call("/v1/dashboard/staff/invite", { name: `New ${Math.random()}`, role: "reader" });
    await person.verify();
    expect((await add()).status).to.equal(200);
    expectProblem(await add(), [403, "VERIFICATION_REQUIRED"]);
    await person.verify();
    service.ahead = MINUTE + 1000;
    expectProblem(await add(), [403, "VERIFICATION_REQUIRED"]);
  });

  it("lets people rename only their own passkeys", async () => {
    const [person, other] = [await signInPerson(service, bizID, "Namer"), await signInPerson(service, bizID, "Other")];
    const list = async ({ call }: typeof person) =>
      (await call("/v1/dashboard/passkeys/list")).body["passkeys"] as { passkey_id: string; name: string | null }[];
    const [passkey] = await list(person);
    expect(passkey?.name).to.equal(null);
    const renamed = { passkey_id: passkey?.passkey_id, name: "Laptop" };
    expectProblem(await other.change("/v1/dashboard/passkeys/rename", renamed), [404, "PASSKEY_UNKNOWN"]);
    expect((await person.change("/v1/dashboard/passkeys/rename", renamed)).status).to.equal(200);
    expect((await list(person))[0]?.name).to.equal("Laptop");
  });

  describe("a session", () => {
    it("ends when the person signs out", async () => {
      const person = await signInPerson(service, bizID, "Signing out");
      const answer = await person.call("/v1/dashboard/session/end");
      expect(cookieOf(answer)).to.equal(undefined);
      expect(answer.headers.get("set-cookie")).to.match(/^__Host-keyroot=; /);
      expectProblem(await person.call("/v1/dashboard/staff/list"), [401, "SESSION_REQUIRED"]);
    });

    it("ends after 12 hours without a request", async () => {
      const person = await signInPerson(service, bizID, "Idle");
      service.ahead = 11 * HOUR;
      expect((await person.call("/v1/dashboard/staff/list")).status).to.equal(200);
      service.ahead = 22 * HOUR;
      expect((await person.call("/v1/dashboard/staff/list")).status).to.equal(200);
      service.ahead = 35 * HOUR;
      expectProblem(await person.call("/v1/dashboard/staff/list"), [401, "SESSION_REQUIRED"]);
    });

    it("ends after 7 days, even if it is used often", async () => {
      const person = await signInPerson(service, bizID, "Busy");
      for (service.ahead = 0; service.ahead < 7 * DAY; service.ahead += 11 * HOUR)
        expect((await person.call("/v1/dashboard/session/get")).status).to.equal(200);
      service.ahead = 7 * DAY + 1000;
      expectProblem(await person.call("/v1/dashboard/session/get"), [401, "SESSION_REQUIRED"]);
    });
  });

  describe("a passkey", () => {
    const invitedSession = async () => {
      const { bizID } = await service.createPartner();
      const { cookie } = await signInPerson(service, bizID, "Pat", { passkey: false });
      const { sessions, now } = service.context;
      return (await sessions.get(cookie, now())) ?? expect.fail("There is no session.");
    };
    const newPasskey = (counter = 0) => {
      return { credentialID: randomBytes(16).toString("base64url"), publicKey: "AA", counter, transports: [] };
    };
    const addPasskey = async (session: Session, passkey = newPasskey()) => {
      await service.context.passkeys.add(session, passkey, service.context.now(), SERVICE);
      return passkey;
    };

    for (const [stored, counter, signIns] of [
      [4, 5, 1],
      [5, 5, 0],
      [5, 0, 0],
      [0, 0, 4],
    ] as const)
      it(`with the stored counter ${stored} allows ${signIns} of 4 sign-ins with the counter ${counter}`, async () => {
        const session = await invitedSession();
        const { credentialID } = await addPasskey(session, newPasskey(stored));
        const { personID } = session.person;
        const { sessions, now } = service.context;
        const request = { requestID: null, address: null };
        const started = await Promise.all(
          Array.from({ length: 4 }, () =>
            sessions.start(personID, now(), request, undefined, (transaction) =>
              recordUse(transaction, credentialID, counter, now()),
            ),
          ),
        );
        expect(started.filter((one) => one !== undefined)).to.have.length(signIns);
      });

    it("ends earlier challenges for new passkeys", async () => {
      const session = await invitedSession();
      const { sessions, now } = service.context;
      await sessions.addChallenge("earlier", "register", session.sessionHash, now());
      await addPasskey(session);
      expect(await sessions.useChallenge("earlier", "register", session.sessionHash, now())).to.equal(false);
    });

    it("can be added without verification only once per invitation", async () => {
      const session = await invitedSession();
      const added = await Promise.allSettled([addPasskey(session), addPasskey(session), addPasskey(session)]);
      expect(added.filter(({ status }) => status === "fulfilled")).to.have.length(1);
      expect(await service.context.passkeys.listOf(session.person.personID)).to.have.length(1);
    });
  });

  describe("the last administrator", () => {
    it("cannot be removed or become a reader", async () => {
      const own = await service.createPartner("Small company");
      const [one, two] = [await signInPerson(service, own.bizID, "One"), await signInPerson(service, own.bizID, "Two")];
      const answers = await Promise.all([
        one.change("/v1/dashboard/staff/remove", { person_id: two.personID }),
        two.change("/v1/dashboard/staff/remove", { person_id: one.personID }),
      ]);
      expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
      const last = answers[0].status === 200 ? one : two;
      expectProblem(await last.change("/v1/dashboard/staff/remove", { person_id: last.personID }), [
        409,
        "LAST_ADMINISTRATOR",
      ]);
      await last.verify();
      const change = { person_id: last.personID, role: "reader" };
      expectProblem(await last.call("/v1/dashboard/staff/setRole", change), [409, "LAST_ADMINISTRATOR"]);
    });

    it("cannot be removed while the other administrators have no passkey", async () => {
      const own = await service.createPartner("New company");
      const one = await signInPerson(service, own.bizID, "One");
      await signInPerson(service, own.bizID, "Two", { passkey: false });
      expectProblem(await one.change("/v1/dashboard/staff/remove", { person_id: one.personID }), [
        409,
        "LAST_ADMINISTRATOR",
      ]);
    });

    it("can be invited again by the operator", async () => {
      const own = await service.createPartner("Locked-out company");
      const one = await signInPerson(service, own.bizID, "One");
      const again = await signInPerson(service, own.bizID, "One");
      expect(again.personID).to.equal(one.personID);
      expectProblem(await one.call("/v1/dashboard/session/get"), [401, "SESSION_REQUIRED"]);
    });
  });

  it("leaves no token of an invitation or session in the database", async () => {
    const token = await invite("Secretive");
    const cookie = cookieOf(await accept(token)) ?? "";
    const open = await invite("Still open");
    const rows = JSON.stringify(await dump(service.databases.home));
    for (const secret of [token, cookie, open]) {
      expect(secret).to.have.length(43);
      expect(rows).not.to.include(secret);
    }
  });
});
