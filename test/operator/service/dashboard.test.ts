import { expect } from "chai";
import { userIDFromHex } from "../../../packages/keyroot/src/identity/userID.ts";
import { expectProblem, type TestPartner } from "../../support/service/caller.ts";
import { DASHBOARD_CALLS } from "../../support/service/dashboardCalls.ts";
import { callDashboard, cookieOf, signInPerson, type TestPerson } from "../../support/service/dashboardPerson.ts";
import { contentsOf, dump } from "../../support/service/dump.ts";
import { describeOnEachDatabase } from "../../support/service/support.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The calls for partners' people. Those for the operator's have their own tests. */
const CALLS = DASHBOARD_CALLS.filter(({ staff }) => staff !== "operator");
/** Of a key that no user has. */
const KEY_ID = Buffer.alloc(16).toString("base64");
const UNKNOWN_ID = "00000000-0000-4000-8000-000000000000";

describeOnEachDatabase("the dashboard's calls", (service) => {
  let bizID: string;
  /** A person, and ids of the same partner: of a server token, of a user with a token, and of a webhook endpoint. */
  type Target = TestPerson & { tokenID: string; hex: string; userTokenID: string; endpointID: string };
  let admin: Target;
  let reader: Target;
  let stranger: Target;

  /** A valid body for each call that an administrator can send to a partner's data. */
  const bodyOf = (path: string, target: Target): object => {
    const bodies: Record<string, object> = {
      "invitations/accept": { token: "x" },
      "passkeys/remove": { passkey_id: "x" },
      "serverTokens/revoke": { token_id: target.tokenID },
      "users/get": { user_id_hex: target.hex },
      "users/create": { user_id_hex: target.hex, region: "us-west-2" },
      "users/listTokens": { user_id_hex: target.hex },
      "users/createToken": { user_id_hex: target.hex, context: "A phone" },
      "webhooks/create": { url: "https://example.com/new" },
      "webhooks/update": { endpoint_id: target.endpointID, url: "https://example.com/changed" },
      "webhooks/redeliver": { endpoint_id: target.endpointID, event_id: UNKNOWN_ID },
      "webhooks/redeliverFailed": { endpoint_id: target.endpointID, since: 0 },
      "users/discardKey": { user_id_hex: target.hex, keyID: KEY_ID },
      "users/approveKey": { user_id_hex: target.hex, keyID: KEY_ID },
      "users/revokeToken": { user_id_hex: target.hex, token_id: target.userTokenID },
      "staff/invite": { name: `New ${Math.random()}`, role: "reader" },
      "staff/inviteAgain": { person_id: target.personID },
      "staff/setRole": { person_id: target.personID, role: "reader" },
      "staff/remove": { person_id: target.personID },
    };
    if (/^webhooks\/(pause|resume|delete|rotateSecret|test|listDeliveries)$/.test(path))
      return { endpoint_id: target.endpointID };
    return bodies[path] ?? {};
  };
  const idsOf = async (partner: TestPartner) => {
    const { hex } = await service.createUser(partner);
    const path = "/v1/authdBizSrv/users/listRefreshTokens";
    const { tokens } = await service.done(path, { user_id_hex: hex }, { token: partner.jwt });
    const [token] = tokens as { token_id: string }[];
    const url = "https://example.com/keyroot";
    const endpoint = await service.done("/v1/authdBizSrv/webhooks/create", { url }, { token: partner.jwt });
    const endpointID = endpoint["endpoint_id"] as string;
    return { tokenID: partner.tokenID, hex, userTokenID: token?.token_id ?? "", endpointID };
  };
  const invite = async (name: string) => {
    const { url } = await service.admin("/v1/admin/staff/invite", { biz_id: bizID, name });
    return String(url).split("/").at(-1) ?? "";
  };
  const accept = (token: string) => callDashboard(service, "invitations/accept", { token });
  const contents = () => contentsOf(service);

  before(async () => {
    const own = await service.createPartner("Acme");
    ({ bizID } = own);
    const other = await service.createPartner("Other company");
    const ownIDs = await idsOf(own);
    admin = { ...(await signInPerson(service, bizID, "Ada")), ...ownIDs };
    reader = { ...(await signInPerson(service, bizID, "Rita", { role: "reader" })), ...ownIDs };
    stranger = { ...(await signInPerson(service, other.bizID, "Mallory")), ...(await idsOf(other)) };
    await signInPerson(service, other.bizID, "Second administrator");
  });

  it("are all known to these tests", () => {
    expect(CALLS.length).to.be.greaterThan(14);
    for (const { access } of CALLS) expect(access).to.be.oneOf(["anyone", "invited", "reader", "administrator"]);
  });

  describe("an invitation", () => {
    it("works once, and sets a cookie that scripts and other sites do not get", async () => {
      const token = await invite("Once");
      const accepted = await accept(token);
      expect(accepted.status, accepted.text).to.equal(200);
      expect(accepted.headers.get("set-cookie")).to.match(
        /^__Host-keyroot=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
      );
      expectProblem(await accept(token), [403, "INVITATION_REFUSED"]);
    });

    it("works once, however many requests use it at the same time", async () => {
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

    it("is replaced by a later one, which ends the person's passkeys and sessions", async () => {
      const earlier = await invite("Again");
      const again = await signInPerson(service, bizID, "Again");
      expectProblem(await accept(earlier), [403, "INVITATION_REFUSED"]);
      expect((await again.call("staff/list")).status).to.equal(200);
      const token = await invite("Again");
      expectProblem(await again.call("session/get"), [401, "SESSION_REQUIRED"]);
      expect((await accept(token)).body["passkeys"]).to.equal(0);
    });

    it("of a removed person does not work", async () => {
      const token = await invite("Removed");
      const { people } = (await admin.call("staff/list")).body as { people: { name: string; person_id: string }[] };
      const person_id = people.find(({ name }) => name === "Removed")?.person_id;
      expect((await admin.call("staff/remove", { person_id })).status).to.equal(200);
      expectProblem(await accept(token), [403, "INVITATION_REFUSED"]);
    });

    it("permits only adding a passkey until there is one", async () => {
      const { call } = await signInPerson(service, bizID, "Newcomer", { passkey: false });
      for (const { path, access } of CALLS) {
        if (access === "anyone" || access === "invited") continue;
        expectProblem(await call(path, bodyOf(path, reader)), [403, "PASSKEY_REQUIRED"]);
      }
      expect((await call("passkeys/options")).status).to.equal(200);
    });
  });

  describe("a request", () => {
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
      it(`${name} is refused by every call`, async () => {
        await admin.verify();
        for (const { path } of CALLS) {
          const answer = await callDashboard(service, path, bodyOf(path, reader), { cookie: admin.cookie, headers });
          expectProblem(answer, [403, "ORIGIN_REFUSED"]);
        }
      });
    }

    it("without a session, or with a made-up one, is refused by every call that needs one", async () => {
      for (const cookie of [undefined, "A".repeat(43), "'; drop table sessions; --", reader.personID]) {
        for (const { path, access } of CALLS.filter(({ access }) => access !== "anyone")) {
          const answer = await callDashboard(service, path, bodyOf(path, reader), { cookie });
          expectProblem(answer, [401, "SESSION_REQUIRED"]);
          expect(access).not.to.equal("anyone");
        }
      }
    });

    it("with a session's cookie reaches no operation of the API", async () => {
      const headers = { Cookie: `__Host-keyroot=${admin.cookie}` };
      for (const path of ["/v1/authdBizSrv/serverTokens/list", "/v1/admin/publish"])
        expectProblem(await service.post(path, {}, { headers }), [401, "ACCESS_TOKEN_MISSING"]);
    });

    it("of a reader changes nothing", async () => {
      const before = await contents();
      for (const { path } of CALLS.filter(({ access }) => access === "administrator"))
        expectProblem(await reader.call(path, bodyOf(path, admin)), [403, "ROLE_REFUSED"]);
      expect(await contents()).to.deep.equal(before);
    });

    it("that requires verification needs a new one each time, at most a minute old", async () => {
      const person = await signInPerson(service, bizID, "Verified");
      for (const { path } of CALLS.filter(({ verified }) => verified))
        expectProblem(await person.call(path, bodyOf(path, reader)), [403, "VERIFICATION_REQUIRED"]);
      expectProblem(await person.call("passkeys/options"), [403, "VERIFICATION_REQUIRED"]);
      const add = () => person.call("staff/invite", bodyOf("staff/invite", reader));
      await person.verify();
      expect((await add()).status).to.equal(200);
      expectProblem(await add(), [403, "VERIFICATION_REQUIRED"]);
      await person.verify();
      service.ahead = MINUTE + 1000;
      expectProblem(await add(), [403, "VERIFICATION_REQUIRED"]);
    });

    it("with another partner's ids is answered as with unknown ones, and changes nothing", async () => {
      const before = await contents();
      const ids = { personID: UNKNOWN_ID, tokenID: UNKNOWN_ID, endpointID: UNKNOWN_ID };
      const unknown = { ...admin, ...ids, hex: "0".repeat(40) };
      const others = CALLS.filter(({ path }) =>
        /^(users|serverTokens|staff|webhooks)\/(?!list$|create$|invite$|delete$)/.test(path),
      );
      expect(others).to.have.length(18);
      for (const { path } of others) {
        const answers = [];
        for (const target of [admin, unknown]) {
          await stranger.verify();
          const { status, body } = await stranger.call(path, bodyOf(path, target));
          answers.push({ status, code: body["code"], detail: body["detail"] });
        }
        expect(answers[0]).to.deep.equal(answers[1]);
        expect(answers[0]?.status).to.equal(404);
        expect(answers[0]?.code).to.be.oneOf(["PERSON_UNKNOWN", "TOKEN_UNKNOWN", "USER_UNKNOWN", "WEBHOOK_UNKNOWN"]);
      }
      // Deleting one that does not exist has no effect, and is no error.
      await stranger.call("webhooks/delete", bodyOf("webhooks/delete", admin));
      const mixed = { user_id_hex: stranger.hex, token_id: admin.userTokenID };
      expectProblem(await stranger.call("users/revokeToken", mixed), [404, "TOKEN_UNKNOWN"]);
      const after = { user_id_hex: stranger.hex, after: admin.userTokenID };
      expectProblem(await stranger.call("users/listTokens", after), [404, "TOKEN_UNKNOWN"]);
      const taken = await stranger.call("users/create", bodyOf("users/create", admin));
      expectProblem(taken, [409, "USER_ID_TAKEN"]);
      const { users } = (await stranger.call("users/list")).body as { users: { user_id: string }[] };
      expect(users.map(({ user_id }) => user_id)).to.deep.equal([userIDFromHex(stranger.hex)]);
      expectProblem(await stranger.call("serverTokens/list", { after: admin.tokenID }), [404, "TOKEN_UNKNOWN"]);
      const { tokens } = (await stranger.call("serverTokens/list")).body as { tokens: { token_id: string }[] };
      expect(tokens.map(({ token_id }) => token_id)).to.deep.equal([stranger.tokenID]);
      const { people } = (await stranger.call("staff/list")).body as { people: { name: string }[] };
      expect(people.map(({ name }) => name)).to.deep.equal(["Mallory", "Second administrator"]);
      expect(await contents()).to.deep.equal(before);
    });
  });

  describe("a session", () => {
    it("ends on sign-out", async () => {
      const person = await signInPerson(service, bizID, "Signing out");
      const answer = await person.call("session/end");
      expect(cookieOf(answer)).to.equal(undefined);
      expect(answer.headers.get("set-cookie")).to.match(/^__Host-keyroot=; /);
      expectProblem(await person.call("staff/list"), [401, "SESSION_REQUIRED"]);
    });

    it("ends when an administrator removes the person", async () => {
      const person = await signInPerson(service, bizID, "Leaving");
      await admin.call("staff/remove", { person_id: person.personID });
      expectProblem(await person.call("staff/list"), [401, "SESSION_REQUIRED"]);
    });

    it("ends after 12 hours without a request", async () => {
      const person = await signInPerson(service, bizID, "Idle");
      service.ahead = 11 * HOUR;
      expect((await person.call("staff/list")).status).to.equal(200);
      service.ahead = 22 * HOUR;
      expect((await person.call("staff/list")).status).to.equal(200);
      service.ahead = 35 * HOUR;
      expectProblem(await person.call("staff/list"), [401, "SESSION_REQUIRED"]);
    });

    it("ends after 7 days, however often it is used", async () => {
      const person = await signInPerson(service, bizID, "Busy");
      for (service.ahead = 0; service.ahead < 7 * DAY; service.ahead += 11 * HOUR)
        expect((await person.call("session/get")).status).to.equal(200);
      service.ahead = 7 * DAY + 1000;
      expectProblem(await person.call("session/get"), [401, "SESSION_REQUIRED"]);
    });
  });

  describe("the last administrator", () => {
    it("cannot be removed or become a reader, not even by two requests at once", async () => {
      const own = await service.createPartner("Small company");
      const [one, two] = [await signInPerson(service, own.bizID, "One"), await signInPerson(service, own.bizID, "Two")];
      const answers = await Promise.all([
        one.call("staff/remove", { person_id: two.personID }),
        two.call("staff/remove", { person_id: one.personID }),
      ]);
      expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
      const last = answers[0].status === 200 ? one : two;
      expectProblem(await last.call("staff/remove", { person_id: last.personID }), [409, "LAST_ADMINISTRATOR"]);
      await last.verify();
      const change = { person_id: last.personID, role: "reader" };
      expectProblem(await last.call("staff/setRole", change), [409, "LAST_ADMINISTRATOR"]);
    });

    it("is not counted before a passkey was added", async () => {
      const own = await service.createPartner("New company");
      const one = await signInPerson(service, own.bizID, "One");
      await signInPerson(service, own.bizID, "Two", { passkey: false });
      expectProblem(await one.call("staff/remove", { person_id: one.personID }), [409, "LAST_ADMINISTRATOR"]);
    });

    it("can be invited again by the operator", async () => {
      const own = await service.createPartner("Locked-out company");
      const one = await signInPerson(service, own.bizID, "One");
      const again = await signInPerson(service, own.bizID, "One");
      expect(again.personID).to.equal(one.personID);
      expectProblem(await one.call("session/get"), [401, "SESSION_REQUIRED"]);
    });
  });

  it("leave no token of an invitation or a session in the database", async () => {
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
