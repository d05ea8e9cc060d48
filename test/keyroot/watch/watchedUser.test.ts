import { expect } from "chai";
import fc from "fast-check";
import type { Evidence } from "keyroot";
import { conditionsOf, newConditions, noteReported } from "../../../packages/keyroot/src/watch/alarmConditions.ts";
import {
  applyAnswer,
  applyFile,
  applyOutage,
  isDue,
  type WatchedUserState,
} from "../../../packages/keyroot/src/watch/watchedUser.ts";
import { sampleUserID, sha256 } from "../../support/samples.ts";

const userID = sampleUserID(0);
const [root, otherRoot] = [sha256("root"), sha256("other root")];
const HOUR = 3_600_000;
const at = (number: number): Evidence => ({
  source: "one-endpoint",
  storageProof: false,
  block: { hash: `0x${sha256(String(number))}`, number, timestamp: number },
});
const conditions = (user: WatchedUserState, expected?: string, isOwn = true) =>
  conditionsOf(userID, user, { expected, isOwn, fileLimitMs: 24 * HOUR });
const codes = (...args: Parameters<typeof conditions>) => conditions(...args).map(({ code }) => code);
/** Returns a user whose key was read at block 100. */
const published = (key = "key"): WatchedUserState => {
  const user: WatchedUserState = {};
  applyAnswer(user, root, at(100), 0);
  applyFile(user, key, 0);
  return user;
};

describe("state of a watched user", () => {
  describe("with a published key", () => {
    it("causes an alarm if the key in the file is invalid", () => {
      expect(codes(published(""), "key")).to.deep.equal(["WATCHED_KEY_MISMATCH"]);
      expect(conditions(published(""), "key")[0]?.message).to.include("but no valid key is published in");
    });

    it("causes an alarm that says which key the app has and which one is published", () => {
      expect(conditions(published("B"), "A")[0]?.message).to.match(
        /^The app has A for the user \S+, but B is published in \S+\.json\.$/,
      );
    });
  });

  describe("after another answer from the chain", () => {
    it("causes no alarm for the same root at any block", () => {
      fc.assert(
        fc.property(fc.array(fc.nat(1000)), (blocks) => {
          const user = published();
          for (const block of blocks) applyAnswer(user, root, at(block), 0);
          expect(conditions(user, "key")).to.deep.equal([]);
        }),
      );
    });

    it("causes no alarm if the root is missing at an earlier block", () => {
      const user = published();
      applyAnswer(user, undefined, at(99), 0);
      expect(conditions(user, "key")).to.deep.equal([]);
    });

    it("causes WATCHED_ROOT_CHANGED while the root is missing at later blocks", () => {
      for (const block of [100, 101]) {
        const user = published();
        applyAnswer(user, undefined, at(block), 0);
        const [condition] = conditions(user, "key");
        expect(condition).to.include({ code: "WATCHED_ROOT_CHANGED" });
        expect(condition?.facts).to.deep.equal({
          published: { root, publicKey: "key", evidence: at(100) },
          now: { evidence: at(block) },
        });
        applyAnswer(user, root, at(102), 0);
        expect(conditions(user, "key")).to.deep.equal([]);
      }
    });

    it("causes WATCHED_ROOT_CHANGED for another root at any block", () => {
      for (const block of [1, 100, 101]) {
        const user = published();
        applyAnswer(user, otherRoot, at(block), 0);
        expect(conditions(user, "key")[0]?.facts).to.deep.equal({
          published: { root, publicKey: "key", evidence: at(100) },
          now: { root: otherRoot, evidence: at(block) },
        });
        expect(user.publicKey).to.equal(undefined);
      }
    });
  });

  describe("during an outage of the file host", () => {
    const outage = (gapMs: number, attempts: number) => {
      const user = published();
      for (let i = 0; i < attempts; i++) applyOutage(user, i * gapMs);
      return user;
    };

    it("causes FILE_UNAVAILABLE after the limit", () => {
      const perHour = 60;
      expect(codes(outage(HOUR / perHour, 24 * perHour), "key")).to.deep.equal([]);
      const [condition] = conditions(outage(HOUR / perHour, 24 * perHour + 1), "key");
      expect(condition).to.include({ code: "FILE_UNAVAILABLE" });
      expect(condition?.message).to.include("NO_TIME_LEFT");
    });

    it("excludes the time during which the app did not run", () => {
      expect(codes(outage(100 * HOUR, 50), "key")).to.deep.equal([]);
      expect(codes(outage(100 * HOUR, 97), "key")).to.deep.equal(["FILE_UNAVAILABLE"]);
    });

    it("causes no alarm after the file can be read", () => {
      const user = outage(HOUR / 4, 200);
      applyFile(user, "key", 0);
      expect(conditions(user, "key")).to.deep.equal([]);
    });
  });

  describe("after reported alarms", () => {
    it("reports an alarm for each different key", () => {
      const user = published();
      noteReported(user, conditions(user, "swapped", false));
      expect(newConditions(user, conditions(user, "swapped again", false))).to.have.lengthOf(1);
    });

    it("reports two alternating roots once each", () => {
      const user = published();
      let reported = 0;
      for (let i = 0; i < 10; i++) {
        applyAnswer(user, i % 2 === 0 ? otherRoot : root, at(101 + i), 0);
        const found = conditions(user, undefined);
        reported += newConditions(user, found).length;
        noteReported(user, found);
      }
      expect(reported).to.equal(2);
    });
  });

  describe("with a time of the last reading", () => {
    it("requires a new reading after the interval", () => {
      expect(isDue({}, 0, HOUR)).to.be.true;
      expect(isDue(published(), HOUR - 1, HOUR)).to.be.false;
      expect(isDue(published(), HOUR, HOUR)).to.be.true;
      expect(isDue(published(), -1, HOUR)).to.be.true;
    });
  });

  it("is the same after it was stored as JSON", () => {
    const events = fc.array(
      fc.oneof(
        fc.record({
          kind: fc.constant("answer" as const),
          root: fc.option(fc.constantFrom(root, otherRoot), { nil: undefined }),
          block: fc.nat(200),
        }),
        fc.record({ kind: fc.constant("file" as const), key: fc.constantFrom("key", "false", "") }),
        fc.record({ kind: fc.constant("outage" as const) }),
      ),
    );
    fc.assert(
      fc.property(events, (list) => {
        const user: WatchedUserState = {};
        for (const [i, event] of list.entries()) {
          if (event.kind === "answer") applyAnswer(user, event.root, at(event.block), i);
          else if (user.root === undefined) continue;
          else if (event.kind === "file") applyFile(user, event.key, i);
          else applyOutage(user, i * HOUR);
        }
        const restored = JSON.parse(JSON.stringify(user)) as WatchedUserState;
        // Converts a value to JSON and back, which removes undefined fields.
        const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;
        expect(plain(conditions(restored, "key"))).to.deep.equal(plain(conditions(user, "key")));
      }),
    );
  });
});
