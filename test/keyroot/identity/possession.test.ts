import { expect } from "chai";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { base64ToBytes, bytesToBase64 } from "keyroot/internal/bytes";
import { KeyrootError } from "keyroot";
import { generateKeyPair } from "keyroot/internal/identity";
import {
  checkKeyPair,
  makeChallenge,
  provePossession,
} from "../../../packages/keyroot/src/identity/possession/curve41417.ts";
import {
  type PossessionStatement,
  possessionTranscript,
  responseOf,
  serviceNameOf,
} from "../../../packages/keyroot/src/identity/possession/statement.ts";
import { decode, encode, multiply, N, pointsOfSmallOrder } from "../../support/data/curve41417.ts";
import { keyrootErrorOf, WRONG_VALUES } from "../../support/data/junk.ts";
import { codeOf } from "../../support/refusalOf.ts";
import { VECTORS } from "../../support/data/vectors.ts";

const SECOND = fileURLToPath(new URL("../../../scripts/secondVerifier/possession.mjs", import.meta.url));

/** Byte strings are in base64. Scalars are decimal numbers in strings. */
interface StatementJson {
  service: string;
  chainId: number | null;
  contract: string | null;
  userID: string;
  publicKey: string;
  nonce: string;
  ephemeralKey: string;
  expires: number;
}

type PossessionVector = { name: string; statement: StatementJson } & (
  | {
      kind: "answer";
      privateKey: string;
      verdict: { transcript: string; sharedPoint: string; response: string } | { code: string };
    }
  | { kind: "check"; ephemeralPrivateKey: string; response: string; verdict: { accepted: boolean } }
);

function statementOf(json: StatementJson): PossessionStatement {
  const { service, chainId, contract, userID, publicKey, nonce, ephemeralKey, expires } = json;
  const registry = chainId === null || contract === null ? undefined : { chainId, contract };
  const [key, random, ephemeral] = [publicKey, nonce, ephemeralKey].map((text) => base64ToBytes(text)) as Triple;
  return { service, registry, userID, publicKey: key, nonce: random, ephemeralKey: ephemeral, expires };
}
type Triple = [Uint8Array, Uint8Array, Uint8Array];

describe("proofs of possession", () => {
  describe("test vectors", () => {
    const text = readFileSync(new URL("possession/possession.json", VECTORS), "utf8");
    const { vectors } = JSON.parse(text) as { vectors: PossessionVector[] };

    it("have unique names", () => {
      expect(new Set(vectors.map(({ name }) => name)).size).to.equal(vectors.length);
    });

    for (const vector of vectors) {
      it(`have the expected verdict in the library: ${vector.name}`, () => {
        const statement = statementOf(vector.statement);
        if (vector.kind === "check") {
          const { response } = makeChallenge(statement, BigInt(vector.ephemeralPrivateKey));
          expect(bytesToBase64(response) === vector.response).to.equal(vector.verdict.accepted);
          return;
        }
        const { verdict } = vector;
        const prove = () => provePossession(statement, BigInt(vector.privateKey));
        if ("code" in verdict) {
          expect(codeOf(prove)).to.equal(verdict.code);
          return;
        }
        expect(Buffer.from(possessionTranscript(statement)).toString("hex")).to.equal(verdict.transcript);
        expect(bytesToBase64(responseOf(statement, base64ToBytes(verdict.sharedPoint)))).to.equal(verdict.response);
        expect(bytesToBase64(prove())).to.equal(verdict.response);
      });
    }

    it("have the expected verdicts in a second implementation", () => {
      const { stdout, status } = spawnSync(process.execPath, [SECOND, "-"], { input: text, encoding: "utf8" });
      expect(stdout.split("\n").filter((line) => line.startsWith("agree"))).to.have.length(vectors.length);
      expect(status).to.equal(0);
    });

    it("make the second implementation exit with code 1 if verdicts are wrong", () => {
      const wrong = vectors.slice(0, 2).map((vector) => ({ ...vector, verdict: { code: "KEY_MISMATCH" } }));
      const input = JSON.stringify({ format: "keyroot-vectors-v1", kind: "possession", vectors: wrong });
      const { stdout, status } = spawnSync(process.execPath, [SECOND, "-"], { input, encoding: "utf8" });
      expect(stdout.match(/^DISAGREE /gm)).to.have.length(2);
      expect(status).to.equal(1);
    });

    it("need only Node's modules in the second implementation", () => {
      const importsOf = (file: string): string[] => {
        const found = readFileSync(file, "utf8").matchAll(/\b(?:from|import\()\s*"([^"]+)"/g);
        return Array.from(found, ([, specifier = ""]) => specifier).flatMap((specifier) =>
          specifier.startsWith("./") ? importsOf(join(dirname(SECOND), specifier)) : [specifier],
        );
      };
      const imports = importsOf(SECOND);
      expect(imports).not.to.be.empty;
      for (const specifier of imports) expect(specifier).to.match(/^node:/);
    });
  });

  describe("makeChallenge and provePossession", () => {
    const keys = generateKeyPair();
    const statement = {
      ...{ service: "https://keys.test", registry: undefined, userID: "y".repeat(32) },
      ...{ publicKey: keys.publicKey, nonce: new Uint8Array(32).fill(7), expires: 1 },
    };

    it("agree on the response for each new ephemeral key", () => {
      const made = [makeChallenge(statement), makeChallenge(statement)];
      const [first, second] = made.map(({ ephemeralKey }) => bytesToBase64(ephemeralKey));
      expect(first).not.to.equal(second);
      for (const { ephemeralKey, response } of made) {
        expect(provePossession({ ...statement, ephemeralKey }, keys.privateKey)).to.deep.equal(response);
        expect(provePossession({ ...statement, ephemeralKey }, generateKeyPair().privateKey)).not.to.deep.equal(
          response,
        );
      }
    });

    it("reject a public key of small order", () => {
      const [, small = decode(keys.publicKey)] = pointsOfSmallOrder();
      expect(codeOf(makeChallenge, { ...statement, publicKey: encode(small) })).to.equal("PUBLIC_KEY_SMALL_ORDER");
    });

    it("accept a shared point that the caller computed", () => {
      const { ephemeralKey, response } = makeChallenge(statement);
      const shared = encode(multiply(keys.privateKey, decode(ephemeralKey)));
      expect(responseOf({ ...statement, ephemeralKey }, shared)).to.deep.equal(response);
    });

    it("reject an invalid private key, and do not show the key", () => {
      const { ephemeralKey } = makeChallenge(statement);
      for (const privateKey of [0n, -1n, N, N + 5n, 5 as unknown as bigint, "5" as unknown as bigint]) {
        expect(() => provePossession({ ...statement, ephemeralKey }, privateKey))
          .to.throw(/^The private key must be a bigint/)
          .with.property("code", "ARGUMENT_INVALID");
      }
    });

    it("throw only a KeyrootError for values of other types", async () => {
      const whole = { ...statement, ephemeralKey: keys.publicKey };
      const calls: Record<string, (statement: PossessionStatement, privateKey: bigint) => unknown> = {
        makeChallenge,
        provePossession,
        possessionTranscript,
        responseOf: (statement) => responseOf(statement, keys.publicKey),
      };
      for (const [name, call] of Object.entries(calls)) {
        const holds = async (changed: object, privateKey: unknown) => {
          await keyrootErrorOf(() => call(changed as PossessionStatement, privateKey as bigint));
        };
        for (const value of [undefined, ...WRONG_VALUES]) {
          for (const field of Object.keys(whole)) await holds({ ...whole, [field]: value }, keys.privateKey);
          await holds({ ...whole, registry: { chainId: value, contract: value } }, keys.privateKey);
          await holds(whole, value);
          const error = await keyrootErrorOf(() => call(value as PossessionStatement, keys.privateKey));
          expect(error, name).to.be.instanceOf(KeyrootError);
        }
      }
    }).timeout(20_000);

    it("reject a statement with an invalid field", () => {
      const whole = { ...statement, ephemeralKey: keys.publicKey };
      const invalid: Partial<Record<keyof PossessionStatement, unknown>>[] = [
        { service: 5 },
        { service: "x".repeat(2 ** 16) },
        { registry: { chainId: 0, contract: `0x${"1".repeat(40)}` } },
        { registry: { chainId: 1, contract: "0x1" } },
        { userID: "short" },
        { publicKey: keys.publicKey.subarray(1) },
        { nonce: new Uint8Array(31) },
        { ephemeralKey: [] },
        { expires: 1.5 },
      ];
      for (const change of invalid)
        expect(() => possessionTranscript({ ...whole, ...change } as PossessionStatement)).to.throw(KeyrootError);
    });
  });

  describe("serviceNameOf", () => {
    it("returns the same name for all forms of a URL", () => {
      for (const url of ["https://Keys.Example", "https://keys.example/", "https://keys.example:443"])
        expect(serviceNameOf(url)).to.equal("https://keys.example");
      expect(serviceNameOf("https://keys.example/a/")).to.equal("https://keys.example/a");
      expect(codeOf(serviceNameOf, "keys.example")).to.equal("ARGUMENT_INVALID");
    });
  });

  describe("checkKeyPair", () => {
    it("accepts only a private key that belongs to the public key", () => {
      const keys = generateKeyPair();
      checkKeyPair(keys);
      for (const privateKey of [keys.privateKey - 1n, N - keys.privateKey])
        expect(codeOf(checkKeyPair, { ...keys, privateKey })).to.equal("ARGUMENT_INVALID");
    });
  });
});
