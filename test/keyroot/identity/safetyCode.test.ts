import { expect } from "chai";
import fc from "fast-check";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type AccountHolder, type KeyHolder, makeSafetyCode, verifySafetyPayload } from "keyroot/safety-code";
import { describeError, VerificationError } from "keyroot";
import { userIDFromBytes } from "keyroot/records";
import { pointsOfSmallOrder, encode } from "../../support/data/curve41417.ts";
import { plainSafetyCode } from "../../support/data/plainSafetyCode.ts";
import {
  type PlainAccount,
  plainAccount,
  plainAccountFile,
  plainKey,
  plainStatement,
} from "../../support/account/plainAccount.ts";
import { ROOT } from "../../../scripts/test/root.ts";
import { never } from "../../support/support.ts";
import { refusalOf } from "../../support/refusalOf.ts";
import { testAll } from "../../support/testSize.ts";
import { samplePublicKeys, sampleUserID } from "../../support/samples.ts";
import { junk, keyrootErrorOf } from "../../support/data/junk.ts";

const key = (i: number) => samplePublicKeys[i] ?? new Uint8Array();
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
const alice = { userID: sampleUserID(0), publicKey: key(0) };
const bob = { userID: sampleUserID(1), publicKey: key(1) };

/** The number of pairs of users per property. Each takes two codes, which take long to compute by design. */
const RUNS = testAll ? 30 : 6;

/** Any user id with any of the sample keys. */
const holders = fc.record({
  userID: fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => userIDFromBytes(bytes)),
  publicKey: fc.constantFrom(...samplePublicKeys),
});
const pairs = fc.tuple(holders, holders).filter(([a, b]) => a.userID !== b.userID);

/** Verifies the payload that the contact's app shows. */
const scan = (payload: string, mine: KeyHolder | AccountHolder = alice, contact: KeyHolder | AccountHolder = bob) => {
  try {
    verifySafetyPayload(payload, mine, contact);
    return undefined;
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return error;
  }
};

describe("safety codes", () => {
  describe("makeSafetyCode", () => {
    it("agrees with an independent implementation for any two users", () => {
      const plain = ({ userID, publicKey }: typeof alice) => ({ userID, publicKey: base64(publicKey) });
      fc.assert(
        fc.property(pairs, ([mine, contact]) => {
          expect(makeSafetyCode(mine, contact)).to.deep.equal(plainSafetyCode(plain(mine), plain(contact)));
        }),
        { numRuns: RUNS },
      );
    });

    it("returns the same 60 digits on both sides", () => {
      fc.assert(
        fc.property(pairs, ([mine, contact]) => {
          const [here, there] = [makeSafetyCode(mine, contact), makeSafetyCode(contact, mine)];
          expect(here.digits)
            .to.match(/^\d{60}$/)
            .and.equal(there.digits);
          expect(here.payload)
            .to.match(/^[0-9A-Z:-]{228}$/)
            .and.not.equal(there.payload);
        }),
        { numRuns: RUNS },
      );
    });

    it("accepts keys as bytes or base64", () => {
      const texts = makeSafetyCode({ ...alice, publicKey: base64(key(0)) }, { ...bob, publicKey: base64(key(1)) });
      expect(makeSafetyCode(alice, bob)).to.deep.equal(texts);
    });

    it("returns a different code for each user id and each key", () => {
      const carol = sampleUserID(2);
      const codes = [
        makeSafetyCode(alice, bob),
        makeSafetyCode({ ...alice, userID: carol }, bob),
        makeSafetyCode({ ...alice, publicKey: key(2) }, bob),
        makeSafetyCode(alice, { ...bob, userID: carol }),
        makeSafetyCode(alice, { ...bob, publicKey: key(2) }),
        makeSafetyCode({ ...alice, publicKey: key(1) }, { ...bob, publicKey: key(0) }),
      ];
      expect(new Set(codes.map(({ digits }) => digits))).to.have.property("size", codes.length);
      expect(new Set(codes.map(({ payload }) => payload))).to.have.property("size", codes.length);
    });

    it("rejects the same user on both sides", () => {
      expect(refusalOf(makeSafetyCode, alice, { ...alice, publicKey: key(1) })).to.equal("ARGUMENT_INVALID");
    });

    it("rejects invalid public keys", () => {
      const [, small = { x: 0n, y: 0n }] = pointsOfSmallOrder();
      const cases = {
        PUBLIC_KEY_LENGTH: key(0).slice(1),
        PUBLIC_KEY_SMALL_ORDER: encode(small),
        PUBLIC_KEY_NOT_ON_CURVE: key(0).with(104, 0),
        BASE64_INVALID: "?",
      };
      for (const [code, publicKey] of Object.entries(cases))
        expect(refusalOf(makeSafetyCode, alice, { ...bob, publicKey })).to.equal(code);
    });
  });

  describe("verifySafetyPayload", () => {
    const { payload } = makeSafetyCode(bob, alice);

    it("accepts the payload of a contact with the same keys", () => {
      fc.assert(
        fc.property(pairs, ([mine, contact]) => {
          expect(scan(makeSafetyCode(contact, mine).payload, mine, contact)).to.equal(undefined);
        }),
        { numRuns: RUNS },
      );
    });

    it("reports which user's key differs", () => {
      const cases = {
        contact: makeSafetyCode({ ...bob, publicKey: key(2) }, alice),
        mine: makeSafetyCode(bob, { ...alice, publicKey: key(2) }),
        "contact,mine": makeSafetyCode({ ...bob, publicKey: key(2) }, { ...alice, publicKey: key(3) }),
      };
      for (const [whose, { payload }] of Object.entries(cases)) {
        const error = scan(payload);
        expect(error).to.include({ step: "key", code: "SAFETY_CODE_MISMATCH" });
        expect(String(error?.actual)).to.equal(whose);
      }
    });

    it("reports a payload from this user's own app", () => {
      const error = scan(makeSafetyCode(alice, bob).payload);
      expect(error).to.include({ step: "record", code: "USER_MISMATCH" });
      expect(error?.message).to.include("belongs to this app's user");
    });

    it("names the users of another pair's payload", () => {
      const carol = { userID: sampleUserID(2), publicKey: key(2) };
      const error = scan(makeSafetyCode(carol, alice).payload);
      expect(error).to.include({ step: "record", code: "USER_MISMATCH" });
      expect(error?.message).to.include(carol.userID).and.include(bob.userID);
    });

    it("reports an outdated app for a payload with another version", () => {
      const error = scan(payload.replace("SAFETY-1", "SAFETY-2"));
      expect(error).to.include({ step: "file", code: "SAFETY_CODE_INVALID" });
      expect(error?.message).to.include("out of date");
    });

    it("warns only of different keys, in the words of docs/safety-code.md", async () => {
      const page = await readFile(join(ROOT, "docs/safety-code.md"), "utf8");
      const mallory = { ...bob, publicKey: key(2) };
      const cases = {
        SAFETY_CODE_MISMATCH: [makeSafetyCode(mallory, alice).payload],
        USER_MISMATCH: [
          makeSafetyCode(alice, bob).payload,
          makeSafetyCode(mallory, { ...alice, userID: sampleUserID(2) }).payload,
        ],
        SAFETY_CODE_INVALID: ["https://example.com"],
      };
      for (const [code, payloads] of Object.entries(cases)) {
        const [, text] = new RegExp(`^\\| \`${code}\` .*\\| (.+?) *\\|$`, "m").exec(page) ?? [];
        for (const payload of payloads) {
          const error = scan(payload);
          expect(error).to.include({ code, advice: code === "SAFETY_CODE_MISMATCH" ? "warn" : "retry" });
          expect(describeError(error).text).to.equal(text);
          expect(describeError(error && structuredClone(error.toJSON())).text).to.equal(text);
        }
      }
    });

    it("rejects every payload with one changed character", () => {
      const characters = fc.constantFrom(...Array.from('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:abcdef\n"é'));
      fc.assert(
        fc.property(fc.nat(payload.length - 1), characters, fc.nat(2), (at, character, change) => {
          const kept = change === 0 ? character : change === 1 ? "" : character + payload.charAt(at);
          const changed = payload.slice(0, at) + kept + payload.slice(at + 1);
          fc.pre(changed !== payload);
          expect(scan(changed)).to.be.instanceOf(VerificationError);
        }),
        { numRuns: 10 * RUNS },
      );
    });

    it("throws a VerificationError for any value that is not a payload", async () => {
      await fc.assert(
        fc.asyncProperty(junk, async (value) => {
          const error = await keyrootErrorOf(() => {
            verifySafetyPayload(value as string, alice, bob);
          });
          expect(error).to.include({ name: "VerificationError", code: "SAFETY_CODE_INVALID" });
        }),
        { numRuns: 50 },
      );
    });
  });

  describe("of accounts", () => {
    const [first, second] = ["first", "second"].map((name) => plainAccount([plainKey("ed25519", name)], 1));
    const holder = ({ userID, text }: PlainAccount) => ({ userID, account: text });
    const [mine, contact] = [holder(first ?? never()), holder(second ?? never())];

    it("agree with an independent implementation, and need no key, so they remain the same when keys change", () => {
      expect(makeSafetyCode(mine, contact)).to.deep.equal(plainSafetyCode(mine, contact));
      expect(makeSafetyCode(mine, contact).payload).to.match(/^KEYROOT-SAFETY-2:[0-9A-F:]{211}$/);
    });

    it("are the same for an account file as for its account text", () => {
      const statement = (number: number) =>
        plainStatement(first ?? never(), number, Buffer.from(key(number)).toString("base64"));
      for (const number of [0, 1]) {
        const account = plainAccountFile(first ?? never(), [statement(number)]);
        expect(makeSafetyCode({ ...mine, account }, contact)).to.deep.equal(makeSafetyCode(mine, contact));
      }
    });

    it("are verified from the payload that the contact's app shows", () => {
      verifySafetyPayload(makeSafetyCode(contact, mine).payload, mine, contact);
      const other = plainAccount([plainKey("ed25519", "third")], 1);
      const swapped = makeSafetyCode(holder(other), mine).payload;
      expect(refusalOf(verifySafetyPayload, swapped, mine, contact)).to.equal("record: USER_MISMATCH");
      const { payload } = makeSafetyCode(contact, mine);
      const changed = payload.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
      expect(refusalOf(verifySafetyPayload, changed, mine, contact)).to.equal("key: SAFETY_CODE_MISMATCH");
    });

    it("report an outdated app if only one of the two apps has accounts", () => {
      const keys = [
        { userID: mine.userID, publicKey: key(0) },
        { userID: contact.userID, publicKey: key(1) },
      ] as const;
      const [theirKeys, theirAccounts] = [makeSafetyCode(keys[1], keys[0]), makeSafetyCode(contact, mine)];
      const cases = [
        [theirKeys.payload, mine, contact],
        [theirAccounts.payload, ...keys],
      ] as const;
      for (const [payload, my, their] of cases) expect(scan(payload, my, their)?.message).to.include("out of date");
    });

    it("need the accounts of both users", () => {
      expect(refusalOf(makeSafetyCode, mine, bob)).to.equal("ARGUMENT_INVALID");
      expect(refusalOf(makeSafetyCode, mine, { ...contact, account: mine.account })).to.equal("file: ACCOUNT_MISMATCH");
      expect(refusalOf(makeSafetyCode, mine, { ...contact, account: 1 as never })).to.equal("ARGUMENT_INVALID");
    });
  });
});
