import { expect } from "chai";
import { type AuditorOptions, type Statement, verifyStatement } from "keyroot/auditors";
import { parseSignedStatement, serializeSignedNote, serializeStatement } from "keyroot/internal/auditors";
import { codeOf as codeOfCall } from "../../../support/refusalOf.ts";
import { keyText, signedBy, TestAuditor, testAuditors } from "../../../support/auditors/testAuditor.ts";

const TIME = 1_800_000_000;
const STATEMENT: Statement = {
  chainId: 1,
  contract: `0x${"ab".repeat(20)}`,
  codeHash: `0x${"c0".repeat(32)}`,
  block: { number: 21_000_000, hash: `0x${"cd".repeat(32)}`, timestamp: TIME },
  userCount: 1400,
  rootCount: 22,
  damagedCount: 2,
  damagedRoots: [
    { root: "12".repeat(32), codes: ["FILE_MISSING"] },
    { root: "34".repeat(32), codes: ["KEY_INVALID", "USER_HIDDEN"] },
  ],
};
const TEXT = serializeStatement(STATEMENT);
const NOW = TIME * 1000;
const [alice, bob, carol] = testAuditors("alice", "bob", "carol");
const OPTIONS: AuditorOptions = { keys: [alice.key, bob.key, carol.key], threshold: 2 };
const signed = signedBy([alice, bob], TEXT);

/** Returns the error code for a statement, or undefined if the library accepts the statement. */
const codeOf = (file: string | Uint8Array, options = OPTIONS, now = NOW) =>
  codeOfCall(verifyStatement, Buffer.from(file as Uint8Array), STATEMENT, options, now);

// The test vectors of statements (vectors.test.ts) check signers, times, places and other forms of the text.
describe("verifyStatement", () => {
  describe("for a statement signed by two of three auditors", () => {
    it("returns the names of both auditors", () => {
      const verified = verifyStatement(Buffer.from(signed), STATEMENT, OPTIONS, NOW);
      expect(verified).to.deep.equal({ ...STATEMENT, auditors: [alice.key, bob.key] });
    });

    it("accepts signatures in any order next to unknown signatures", () => {
      const other = `— log.example ${Buffer.alloc(68).toString("base64")}\n`;
      const file = signedBy([new TestAuditor("dave.example"), bob, alice], TEXT) + other;
      expect(codeOf(file)).to.equal(undefined);
    });

    it("accepts a statement that was parsed and written again", () => {
      expect(serializeSignedNote(parseSignedStatement(Buffer.from(signed)))).to.equal(signed);
    });

    it("accepts a block up to the maximum age in the options", () => {
      expect(codeOf(signed, { ...OPTIONS, maxAgeMs: 1000 }, NOW + 1000)).to.equal(undefined);
      expect(codeOf(signed, { ...OPTIONS, maxAgeMs: 1000 }, NOW + 1001)).to.equal("STATEMENT_TOO_OLD");
    });

    it("counts several signatures of one auditor once", () => {
      expect(codeOf(signedBy([alice], TEXT) + alice.line(TEXT))).to.equal("AUDITORS_NOT_REACHED");
    });

    it("lists the first 100 damaged roots of more", () => {
      const damagedRoots = Array.from({ length: 100 }, (_, i) => ({
        root: String(i).padStart(64, "0"),
        codes: ["ADDED_COUNT_TOO_LOW", "FILE_INVALID", "FILE_MISSING", "KEY_INVALID"],
      }));
      const many = { ...STATEMENT, rootCount: 2 ** 40, damagedCount: 2 ** 40, damagedRoots };
      const { statement } = parseSignedStatement(Buffer.from(signedBy([alice, bob], serializeStatement(many))));
      expect(statement).to.deep.equal(many);
    });
  });

  describe("for an invalid statement", () => {
    const inconsistent: Record<string, Partial<Statement>> = {
      "fewer damaged roots than their number": { damagedCount: 3 },
      "more damaged roots than their number": { damagedCount: 1 },
      "more damaged roots than roots": { rootCount: 1 },
      "damaged roots in another order": { damagedRoots: STATEMENT.damagedRoots.toReversed() },
      "a damaged root twice": {
        damagedRoots: [...STATEMENT.damagedRoots.slice(1), ...STATEMENT.damagedRoots.slice(1)],
      },
      "a damaged root without a code": { damagedCount: 1, damagedRoots: [{ root: "12".repeat(32), codes: [] }] },
      "codes in another order": { damagedCount: 1, damagedRoots: [{ root: "12".repeat(32), codes: ["B", "A"] }] },
      "a root of uppercase digits": { damagedCount: 1, damagedRoots: [{ root: "AB".repeat(32), codes: ["A"] }] },
      "a number above 2^53": { userCount: 2 ** 53 },
    };
    for (const [what, changes] of Object.entries(inconsistent))
      it(`rejects a statement with ${what}`, () => {
        const text = serializeStatement({ ...STATEMENT, ...changes });
        expect(codeOf(signedBy([alice, bob], text))).to.equal("STATEMENT_INVALID");
      });

    const variants: Record<string, (file: string) => string> = {
      "carriage returns as line endings": (file) => file.replaceAll("\n", "\r"),
      "a Unicode line separator": (file) => file.replace("\nchain", "\u2028chain"),
      "an empty line at the end": (file) => `${file}\n`,
      "an empty first line": (file) => `\n${file}`,
      "a byte-order mark": (file) => `\ufeff${file}`,
      "a space at the end of a line": (file) => file.replace("users 1400", "users 1400 "),
      "a hexadecimal number": (file) => file.replace("users 1400", "users 0x578"),
      "a repeated line": (file) => file.replace("users 1400\n", "users 1400\nusers 1400\n"),
      "a signature that is not canonical base64": (file) => file.replace(/=\n$/, "=x\n"),
      "no text": () => "",
    };
    for (const [what, change] of Object.entries(variants)) {
      it(`rejects a statement with ${what}`, () => {
        expect(change(signed)).to.not.equal(signed);
        expect(codeOf(change(signed))).to.be.oneOf(["STATEMENT_INVALID", "AUDITORS_NOT_REACHED"]);
      });
    }

    it("rejects a statement with any changed byte", () => {
      const bytes = Buffer.from(signed);
      for (let i = 0; i < bytes.length; i++) {
        const changed = Buffer.from(bytes);
        changed.writeUInt8(changed.readUInt8(i) ^ 1, i);
        expect(codeOf(changed), `byte ${i}`).to.not.equal(undefined);
      }
    });
  });
});

describe("verifyStatement's options", () => {
  const refusalOf = (changes: object) => codeOf(signed, { ...OPTIONS, ...changes });

  const invalid: Record<string, [option: keyof AuditorOptions, values: unknown[]]> = {
    "a threshold below 1 or above the number of keys": [
      "threshold",
      [0, -1, NaN, 1.5, 4, Infinity, "2", undefined, null, [2]],
    ],
    "a maximum age that is not a whole number": ["maxAgeMs", [0, NaN, Infinity, "1"]],
    "a repeated key": ["keys", [alice.key, keyText("mallory.example", alice.publicKey)].map((key) => [alice.key, key])],
    "two keys with the same name": ["keys", [[alice.key, keyText("alice.example", bob.publicKey)]]],
    "a missing list of keys": ["keys", [[], undefined, {}, alice.key]],
  };
  for (const [what, [option, values]] of Object.entries(invalid))
    it(`are rejected with ${what}`, () => {
      for (const value of values) expect(refusalOf({ [option]: value }), String(value)).to.equal("ARGUMENT_INVALID");
    });

  it("are rejected with a key in another encoding", () => {
    const [name = "", id = ""] = alice.key.split("+");
    const encoded = alice.key.slice(name.length + id.length + 2);
    const keys = [
      alice.key.slice(0, -1),
      `${alice.key}=`,
      ` ${alice.key}`,
      `${alice.key}\n`,
      `${name}+${id.toUpperCase()}X+${encoded}`,
      `${name}+00000000+${encoded}`,
      `+${id}+${encoded}`,
      `${name}+${id}+${Buffer.concat([Uint8Array.of(4), alice.publicKey]).toString("base64")}`,
      1,
      null,
    ];
    for (const key of keys) expect(refusalOf({ keys: [key, bob.key] }), String(key)).to.equal("AUDITOR_KEY_INVALID");
  });

  it("are rejected with a key of small order", () => {
    const little = (value: bigint) => Buffer.from(value.toString(16).padStart(64, "0"), "hex").reverse();
    const P = 2n ** 255n - 19n;
    for (const point of [little(0n), little(1n), little(P - 1n), little(P), little(P + 1n), Buffer.alloc(32, 0xff)])
      expect(refusalOf({ keys: [keyText("x.example", point), bob.key] })).to.equal("AUDITOR_KEY_INVALID");
  });
});
