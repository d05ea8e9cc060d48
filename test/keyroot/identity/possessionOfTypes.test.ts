import { expect } from "chai";
import fc from "fast-check";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { base64ToBytes } from "keyroot/internal/bytes";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { loadPossession } from "../../../packages/keyroot/src/identity/possession/loadPossession.ts";
import { possessionTranscript } from "../../../packages/keyroot/src/identity/possession/statement.ts";
import { proveWithWebCrypto } from "../../../packages/keyroot/src/identity/possession/webCrypto.ts";
import { privateKeyOf, publicKeyOf } from "../../support/data/keysOfTypes.ts";
import {
  type Proving,
  PROVING,
  responseOf,
  secretOf,
  type StatementJson,
  statementJson,
  toStatement,
} from "../../support/data/possessionOfTypes.ts";
import { VECTORS } from "../../support/data/vectors.ts";
import { codeOf } from "../../support/refusalOf.ts";
import { failure, never } from "../../support/support.ts";
import { testAll } from "../../support/testSize.ts";

const SECOND = join(import.meta.dirname, "../../../scripts/secondVerifier/possession.mjs");
const EPHEMERAL = secretOf(privateKeyOf("x25519", 90)).toString("base64");

interface Answer {
  kind: "answer";
  privateKey: string;
  verdict: { transcript: string; response?: string } | { code: string };
}
interface Check {
  kind: "check";
  response: string;
  verdict: { accepted: boolean };
}
type Vector = { name: string; statement: StatementJson } & (Answer | Check);

/** Whether a service with the library accepts a response. It rejects keys that it cannot make a challenge for. */
async function accepts(json: StatementJson, response: Uint8Array): Promise<boolean> {
  const possession = (await loadPossession(json.keyType)) ?? never();
  try {
    const statement = toStatement(json);
    const made = possession.makeChallenge(statement, base64ToBytes(EPHEMERAL));
    if (made.response === undefined) return possession.isSignature?.(statement, response) ?? false;
    // A challenge with another ephemeral key is another challenge.
    if (!Buffer.from(made.ephemeralKey).equals(statement.ephemeralKey)) return false;
    return Buffer.from(made.response).equals(response);
  } catch {
    return false;
  }
}

describe("proofs of possession of X25519, Ed25519 and P-256 keys", () => {
  describe("test vectors", () => {
    const text = readFileSync(new URL("possession/key-types.json", VECTORS), "utf8");
    const { vectors } = JSON.parse(text) as { vectors: Vector[] };

    for (const vector of vectors)
      it(`have the expected verdict in the library: ${vector.name}`, async () => {
        const { statement: json } = vector;
        if (vector.kind === "check") {
          expect(await accepts(json, Buffer.from(vector.response, "base64"))).to.equal(vector.verdict.accepted);
          return;
        }
        const { verdict } = vector;
        const statement = toStatement(json);
        if ("code" in verdict) {
          const keyType = await loadKeyType(json.keyType);
          expect(
            codeOf((key) => {
              keyType.check(key);
            }, statement.ephemeralKey),
          ).to.equal(verdict.code);
          return;
        }
        expect(Buffer.from(possessionTranscript(statement)).toString("hex")).to.equal(verdict.transcript);
        const response = await proveWithWebCrypto(statement, base64ToBytes(vector.privateKey));
        if (verdict.response !== undefined) expect(Buffer.from(response).toString("base64")).to.equal(verdict.response);
        expect(await accepts(json, response)).to.equal(true);
      });

    it("have the expected verdicts in a second implementation", () => {
      const { stdout, status } = spawnSync(process.execPath, [SECOND, "-"], { input: text, encoding: "utf8" });
      expect(stdout.split("\n").filter((line) => line.startsWith("agree"))).to.have.length(vectors.length);
      expect(status).to.equal(0);
    });
  });

  describe("changed proofs", () => {
    const runs = testAll ? 2000 : 200;

    /** Changes a byte string: flips a bit, or removes, adds or repeats bytes. */
    const changed = (bytes: Uint8Array) =>
      fc.oneof(
        fc.nat(8 * bytes.length - 1).map((bit) => {
          const copy = Buffer.from(bytes);
          copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
          return copy;
        }),
        fc.nat(bytes.length - 1).map((length) => Buffer.from(bytes.subarray(0, length))),
        fc.uint8Array({ minLength: 1, maxLength: 40 }).map((more) => Buffer.concat([bytes, more])),
        fc.uint8Array({ minLength: bytes.length, maxLength: bytes.length }).map((other) => Buffer.from(other)),
      );
    const changedText = (text: string) => changed(Buffer.from(text, "base64")).map((bytes) => bytes.toString("base64"));

    /** One changed field of a statement. */
    const changedField = (json: StatementJson): fc.Arbitrary<Partial<StatementJson>> =>
      fc.oneof<fc.Arbitrary<Partial<StatementJson>>[]>(
        changedText(json.publicKey).map((publicKey) => ({ publicKey })),
        fc.nat(50).map((number) => ({ publicKey: publicKeyOf(json.keyType, 100 + number).toString("base64") })),
        changedText(json.nonce).map((nonce) => ({ nonce })),
        fc.webUrl().map((service) => ({ service })),
        fc.integer({ min: 2, max: 2 ** 40 }).map((chainId) => ({ chainId })),
        fc.integer({ min: 1, max: 2 ** 40 }).map((more) => ({ expires: json.expires + more })),
        fc.constant({ chainId: null, contract: null }),
        fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => {
          return { contract: `0x${Buffer.from(bytes).toString("hex")}` };
        }),
        fc
          .array(fc.constantFrom(...Array.from("ybndrfg8ejkmcpqxot1uwisza345h769")), { minLength: 32, maxLength: 32 })
          .map((digits) => ({ userID: digits.join("") })),
        ...(json.keyType === "x25519"
          ? [changedText(json.ephemeralKey).map((ephemeralKey) => ({ ephemeralKey }))]
          : []),
      );

    const cases = (type: Proving) => {
      const json = statementJson(type, 1);
      const response = responseOf(json, 1);
      const honest = { statement: json, response };
      const ofResponse = changed(response).map((bytes) => ({ statement: json, response: bytes }));
      const ofStatement = changedField(json).map((change) => ({ statement: { ...json, ...change }, response }));
      const isSame = (other: typeof honest) =>
        JSON.stringify(other.statement) === JSON.stringify(json) && response.equals(other.response);
      return { honest, mutated: fc.oneof(ofResponse, ofStatement).filter((other) => !isSame(other)) };
    };

    for (const type of PROVING)
      it(`are never accepted, by the library or the second implementation: ${type}`, async function () {
        this.timeout(0);
        const { honest, mutated } = cases(type);
        expect(await accepts(honest.statement, honest.response)).to.equal(true);
        const vectors: unknown[] = [];
        await fc.assert(
          fc.asyncProperty(mutated, async ({ statement, response }) => {
            vectors.push({
              ...{ name: `changed-${vectors.length}`, kind: "check", statement, response: response.toString("base64") },
              ...(type === "x25519" && { ephemeralPrivateKey: EPHEMERAL }),
              verdict: { accepted: false },
            });
            expect(await accepts(statement, response)).to.equal(false);
          }),
          { numRuns: runs },
        );
        const input = JSON.stringify({ format: "keyroot-vectors-v1", kind: "possession", vectors });
        const { stdout, stderr } = spawnSync(process.execPath, [SECOND, "-"], {
          input,
          encoding: "utf8",
          maxBuffer: 2 ** 26,
        });
        expect(stderr).to.equal("");
        expect(stdout.match(/^agree /gm)).to.have.length(vectors.length);
      });
  });

  it("need a private key of the same type and pair", async () => {
    for (const type of PROVING) {
      const statement = toStatement(statementJson(type, 1));
      const error = await failure(proveWithWebCrypto(statement, secretOf(privateKeyOf(type, 2))));
      expect(error).to.have.property("code", "ARGUMENT_INVALID");
    }
  });
});
