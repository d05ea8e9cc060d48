import { expect } from "chai";
import { generateKeyPair, type KeyPair } from "../../../packages/keyroot/src/identity/newPublicKey.ts";
import { makeKeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { userIDFromHex } from "../../../packages/keyroot/src/identity/userID.ts";
import { SERVICE } from "../../../packages/service/src/api/base/author.ts";
import { offerKey } from "../../../packages/service/src/keys/conflictingKeys.ts";
import { countPublishable, takePublishable } from "../../../packages/service/src/publishing/takePublishable.ts";
import { sampleKeyPairs } from "../../support/samples.ts";
import { keyFieldsOf } from "../../support/service/answerChallenge.ts";
import { expectProblem, type TestPartner, type TestUser } from "../../support/service/caller.ts";
import { markPublished } from "../../support/service/markPublished.ts";
import { never } from "../../support/support.ts";
import { serviceOnPostgres, type TestService } from "../../support/service/support.ts";

/** Hold period in ms, shorter than an access token's lifetime. */
const HOLD_MS = 3_600_000;
const [OWN, THIEFS] = sampleKeyPairs as [KeyPair, KeyPair];
const [OWN_ID, THIEFS_ID] = [keyFieldsOf(OWN).key_id, keyFieldsOf(THIEFS).key_id];

/** Requests of users, partners and publishers for the tests of one service. */
function actionsOf(service: TestService) {
  let partner: TestPartner;
  let user: TestUser;
  before(async () => {
    partner = await service.createPartner();
  });
  beforeEach(async () => {
    user = await service.createUser(partner);
  });
  const asUser = (operation: string, body: object) =>
    service.post(`/v1/authdUser/${operation}`, body, { token: user.jwt });
  const asPartner = (operation: string, body: object = {}) => {
    const ofUser = { user_id_hex: user.hex, ...body };
    return service.post(`/v1/authdBizSrv/publicKeys/${operation}`, ofUser, { token: partner.jwt });
  };
  return {
    user: () => user,
    register: (keys: KeyPair = OWN) => service.registerKey(user, keys),
    withdraw: (key_id = OWN_ID) => asUser("publicKey/withdraw", { key_id }),
    discard: (key_id = OWN_ID) => asPartner("discard", { key_id }),
    approve: (key_id = OWN_ID) => asPartner("approve", { key_id }),
    record: async () => (await asUser("record/get", {})).body,
    ofPartner: async () => (await asPartner("get")).body,
    events: async () => {
      const { events } = (await asPartner("get")).body as { events: Record<string, unknown>[] };
      return events.map(({ type, key_id, after_withdrawal }) => [type, key_id, after_withdrawal]).reverse();
    },
    /** Takes publishable keys like a publisher. Returns whether this user's key is among them. */
    isPublished: async (holdOnConflict = false) => {
      const taken = await takePublishable(service.databases, "us-west-2", {
        holdOnConflict,
        now: Date.now() + service.ahead,
      });
      return taken.some(({ userID }) => userID === userIDFromHex(user.hex));
    },
  };
}

function serviceWithHold(holdOnConflict: boolean): TestService {
  return serviceOnPostgres({ holdPeriodMs: HOLD_MS, holdOnConflict });
}

describe("the hold period", () => {
  const service = serviceWithHold(false);
  const { user, register, withdraw, discard, approve, record, ofPartner, events, isPublished } = actionsOf(service);
  /** Offers other keys for the user, without the limit of attempts per minute. */
  const offerMany = async (count: number) => {
    const { databases, users } = service.context;
    const found = (await users.getIn("us-west-2", userIDFromHex(user().hex))) ?? never();
    for (let i = 0; i < count; i++) {
      const other = makeKeyRecord(found.userID, generateKeyPair().publicKey);
      await offerKey(databases, found, other, service.now(), SERVICE);
    }
  };

  describe("a registered key", () => {
    it("is not published before its hold period ends", async () => {
      const before = Date.now();
      const { body } = await register();
      expect(body["hold_ends_at"]).to.be.within(before + HOLD_MS, Date.now() + HOLD_MS);
      expect((await record())["hold_ends_at"]).to.equal(body["hold_ends_at"]);
      expect((await ofPartner())["hold_ends_at"]).to.equal(body["hold_ends_at"]);
      service.ahead = HOLD_MS - 60_000;
      expect(await isPublished()).to.equal(false);
      expect(await record()).to.include({ state: "pending" });
    });

    it("waits equally long at a replica whose clock is wrong", async () => {
      const before = Date.now();
      service.ahead = -2 * HOLD_MS;
      const { body } = await register();
      expect(body["hold_ends_at"]).to.be.within(before + HOLD_MS, Date.now() + HOLD_MS);
      const taken = await takePublishable(service.databases, "us-west-2");
      expect(taken.map(({ userID }) => userID)).not.to.include(user().userID);
    });

    it("is published after its hold period", async () => {
      await register();
      service.ahead = HOLD_MS + 1000;
      expect(await isPublished()).to.equal(true);
      expect(await record())
        .to.include({ state: "submitted" })
        .and.not.have.property("hold_ends_at");
    });

    it("is counted by the publisher after its hold period", async () => {
      await isPublished();
      const count = () => countPublishable(service.databases, { now: Date.now() + service.ahead });
      const before = await count();
      await register();
      expect(await count()).to.equal(before);
      service.ahead = HOLD_MS + 1000;
      expect(await count()).to.equal(before + 1);
    });
  });

  for (const [who, remove, event] of [
    ["the user", withdraw, "withdrawn"],
    ["the partner", discard, "discarded"],
  ] as const) {
    describe(`a key's removal by ${who}`, () => {
      it("lets the user register another key", async () => {
        await register(THIEFS);
        const { status, body } = await remove(THIEFS_ID);
        expect([status, body]).to.deep.equal([
          200,
          { user_id: user().userID, key_id: THIEFS_ID, state: "unregistered" },
        ]);
        expect(await record()).to.include({ state: "unregistered" });
        service.ahead = HOLD_MS + 1000;
        expect(await isPublished()).to.equal(false);
        expect((await register()).body).to.include({ state: "pending" });
      });

      it("starts a new hold period for the next key", async () => {
        await register(THIEFS);
        await remove(THIEFS_ID);
        const removed = Date.now();
        const { body } = await register();
        expect(body["hold_ends_at"]).to.be.at.least(removed + HOLD_MS);
        expect(await events()).to.deep.equal([
          ["registered", THIEFS_ID, false],
          [event, THIEFS_ID, false],
          ["registered", OWN_ID, true],
        ]);
      });

      it("has no effect if the request is repeated", async () => {
        await register();
        const answers = [await remove(), await remove()];
        expect(answers.map(({ status, text }) => [status, text])).to.deep.equal(
          answers.map(() => [200, answers[0]?.text]),
        );
        expect(await events()).to.have.length(2);
      });

      it("does not remove a key with a different id", async () => {
        await register();
        expectProblem(await remove(THIEFS_ID), [404, "PUBLIC_KEY_UNKNOWN"]);
        expect(await record()).to.include({ state: "pending", key_id: OWN_ID });
      });

      it("is rejected once the key is submitted or published", async () => {
        await register();
        service.ahead = HOLD_MS + 1000;
        await isPublished();
        expectProblem(await remove(), [409, "PUBLIC_KEY_SUBMITTED"]);
        expectProblem(await approve(), [409, "PUBLIC_KEY_SUBMITTED"]);
        await markPublished(service.databases, { root: "ab".repeat(32), userIDs: [user().userID] });
        expectProblem(await remove(), [409, "PUBLIC_KEY_SUBMITTED"]);
        expect(await record()).to.include({ state: "published", key_id: OWN_ID });
      });
    });
  }

  describe("another key for the same user", () => {
    it("is rejected and reported to user and partner", async () => {
      await register(THIEFS);
      const refused = await register();
      expectProblem(refused, [409, "PUBLIC_KEY_REGISTERED"]);
      const { hold_ends_at, conflicting_keys, ...rest } = await record();
      expect(rest).to.include({ key_id: THIEFS_ID, state: "pending" });
      expect(refused.body).to.include({ state: "pending", hold_ends_at });
      const [other] = conflicting_keys as Record<string, unknown>[];
      expect(conflicting_keys).to.have.length(1);
      expect(other).to.include({ ...keyFieldsOf(OWN), withdrawn: false });
      expect((await ofPartner())["conflicting_keys"]).to.deep.equal(conflicting_keys);
      expect(await events()).to.deep.equal([
        ["registered", THIEFS_ID, false],
        ["conflict", OWN_ID, false],
      ]);
    });

    it("is recorded only once, even if it is offered often", async () => {
      await register(THIEFS);
      for (let i = 0; i < 5; i++) await register();
      expect(await events()).to.have.length(2);
    });

    it("is rejected without a hold period once the registered key is submitted", async () => {
      await register(THIEFS);
      service.ahead = HOLD_MS + 1000;
      await isPublished();
      const { body } = await register();
      expect(body)
        .to.include({ code: "PUBLIC_KEY_REGISTERED", state: "submitted" })
        .and.not.have.any.keys("hold_ends_at");
      expect(await events()).to.have.length(2);
    });

    it("is recorded at most ten times", async () => {
      await register(THIEFS);
      await offerMany(12);
      expect((await record())["conflicting_keys"]).to.have.length(10);
      expect(await events()).to.have.length(11);
    });

    it("counts as an attempt to register a key", async () => {
      await register(THIEFS);
      const statuses: number[] = [];
      for (let i = 0; i < 10; i++) statuses.push((await register(generateKeyPair())).status);
      expect(statuses).to.deep.equal([...Array<number>(9).fill(409), 429]);
      expect(await events()).to.have.length(10);
    });

    it("does not hide the user's withdrawn key, even if ten keys were offered before", async () => {
      await register();
      await offerMany(10);
      expect(await withdraw()).to.include({ status: 200 });
      await register(THIEFS);
      for (const { conflicting_keys } of [await record(), await ofPartner()]) {
        const own = (conflicting_keys as Record<string, unknown>[]).find(({ key_id }) => key_id === OWN_ID);
        expect(own).to.include({ withdrawn: true });
        expect(conflicting_keys).to.have.length(11);
      }
    });

    it("becomes a withdrawn key although it was only offered before", async () => {
      await register(THIEFS);
      await offerMany(9);
      await register();
      await withdraw(THIEFS_ID);
      await register();
      await withdraw();
      const keys = (await record())["conflicting_keys"] as Record<string, unknown>[];
      expect(keys.filter(({ withdrawn }) => withdrawn).map(({ key_id }) => key_id)).to.have.members([
        OWN_ID,
        THIEFS_ID,
      ]);
    });

    it("does not delay the registered key", async () => {
      await register(THIEFS);
      await register();
      service.ahead = HOLD_MS + 1000;
      expect(await isPublished()).to.equal(true);
    });
  });

  it("can be read and ended only by the user's partner", async () => {
    await register();
    const { jwt: token } = await service.createPartner();
    for (const operation of ["get", "discard", "approve"]) {
      const body = { user_id_hex: user().hex, ...(operation !== "get" && { key_id: OWN_ID }) };
      const answer = await service.post(`/v1/authdBizSrv/publicKeys/${operation}`, body, { token });
      expectProblem(answer, [404, "USER_UNKNOWN"]);
    }
  });
});

describe("the hold period, with holdOnConflict", () => {
  const service = serviceWithHold(true);
  const { register, withdraw, discard, approve, record, events, isPublished } = actionsOf(service);
  const afterHold = () => {
    service.ahead = HOLD_MS + 1000;
    return isPublished(true);
  };

  it("ends with the publication of a key without a conflict", async () => {
    await register();
    expect(await afterHold()).to.equal(true);
  });

  it("has no end until the partner approves a key with a conflict", async () => {
    await register();
    const refused = await register(THIEFS);
    expect(refused.body).to.include({ state: "pending", hold_ends_at: null });
    expect(await record()).to.include({ hold_ends_at: null });
    expect(await afterHold()).to.equal(false);
    expect((await approve()).body)
      .to.include({ state: "pending", key_id: OWN_ID })
      .and.have.property("hold_ends_at");
    expect(await record()).to.deep.include({ conflicting_keys: [] });
    expect(await isPublished(true)).to.equal(true);
    expect(await events()).to.deep.include(["approved", OWN_ID, false]);
  });

  it("is not shortened by an approval", async () => {
    await register();
    await register(THIEFS);
    await approve();
    expect(await isPublished(true)).to.equal(false);
  });

  it("has no end for the next key after a conflicting key is withdrawn", async () => {
    await register(THIEFS);
    await withdraw(THIEFS_ID);
    expect((await register()).body).to.include({ hold_ends_at: null });
    expect(await afterHold()).to.equal(false);
    expect((await approve()).status).to.equal(200);
    expect(await isPublished(true)).to.equal(true);
  });

  it("has an end if the same key is registered again", async () => {
    await register();
    await withdraw();
    expect((await register()).body["hold_ends_at"]).to.be.a("number");
  });

  it("has an end after the partner discarded a conflicting key", async () => {
    await register(THIEFS);
    await register();
    await discard(THIEFS_ID);
    expect((await register()).body["hold_ends_at"]).to.be.a("number");
    expect(await record()).to.deep.include({ conflicting_keys: [] });
  });

  it("has no end for a key that replaces the partner's withdrawn choice", async () => {
    await register(THIEFS);
    await register();
    await discard(THIEFS_ID);
    await register();
    // A thief of the user's token withdraws the registered key and registers another one.
    await withdraw();
    expect((await register(THIEFS)).body).to.include({ key_id: THIEFS_ID, hold_ends_at: null });
    const { conflicting_keys } = await record();
    expect(conflicting_keys).to.have.length(1);
    expect((conflicting_keys as object[])[0]).to.include({ key_id: OWN_ID, withdrawn: true });
    expect(await afterHold()).to.equal(false);
  });

  it("has an end if the partner has already decided the conflict", async () => {
    await register();
    await register(THIEFS);
    await approve();
    await register(THIEFS);
    expect((await record())["hold_ends_at"]).to.be.a("number");
    await register(generateKeyPair());
    expect((await record())["hold_ends_at"]).to.equal(null);
  });
});
