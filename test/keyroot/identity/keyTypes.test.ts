import { x25519 as nobleX25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import fc from "fast-check";
import { createPublicKey, diffieHellman, sign, verify } from "node:crypto";
import { ArgumentError, createVerifier, oneEndpoint, type VerifierOptions } from "keyroot";
import { curve41417, document, ed25519, type KeyType, p256, x25519 } from "keyroot/key-types";
import { makeMerkleFile, makeMerkleProof, parseMerkleFile, verifyMerkleProof } from "keyroot/merkle";
import { checkKeyRecord, checkPublicKey, makeKeyRecord, parseKeyRecord, serializeKeyRecord } from "keyroot/records";
import { makeSafetyCode, verifySafetyPayload } from "keyroot/safety-code";
import { parseSerializedFile } from "../../../packages/keyroot/src/merkle/parseSerializedFile.ts";
import { KEY_TYPE_NAMES } from "keyroot/internal/keyTypeNames";
import { generateKeyOf, loadKeyType } from "keyroot/internal/keyTypes";
import {
  INVALID,
  privateKeyOf,
  publicKeyOf,
  recordText,
  type TypeName,
  TYPES,
  VALID,
} from "../../support/data/keysOfTypes.ts";
import { refusalOf } from "../../support/refusalOf.ts";
import { samplePublicKeys, sampleUserID, textOf } from "../../support/samples.ts";

const OF: Record<TypeName, KeyType> = { x25519, ed25519, p256, document };
const every = Object.values({ curve41417, ...OF });
const keyOf = (type: KeyType) =>
  type === curve41417 ? (samplePublicKeys[0] ?? new Uint8Array()) : publicKeyOf(type.name as TypeName, 0);
const messageOf = (run: () => void): string => {
  try {
    run();
    return "";
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    return `${error.code} ${error.advice} ${error.message}`;
  }
};

describe("key types", () => {
  it("are found by their names in configuration", async () => {
    for (const name of KEY_TYPE_NAMES) expect((await loadKeyType(name)).name).to.equal(name);
    expect(KEY_TYPE_NAMES).to.deep.equal(every.map(({ name }) => name));
  });

  for (const name of TYPES) {
    const type = OF[name];

    describe(name, () => {
      it("accepts the keys of node:crypto, and makes their records as the specification does", () => {
        for (let i = 0; i < 20; i++) {
          const publicKey = publicKeyOf(name, i);
          const record = makeKeyRecord(sampleUserID(i), publicKey, type);
          expect(serializeKeyRecord(record)).to.equal(recordText(sampleUserID(i), publicKey));
          expect(checkKeyRecord(parseKeyRecord(serializeKeyRecord(record), type), type)).to.deep.equal(
            new Uint8Array(publicKey),
          );
        }
      });

      it("accepts generated keys", async () => {
        const pairs = await Promise.all(Array.from({ length: 5 }, () => generateKeyOf(name)));
        for (const { publicKey } of pairs) type.check(publicKey);
        expect(new Set(pairs.map(({ publicKey }) => publicKey.join()))).to.have.property("size", 5);
      });

      it("accepts unusual valid keys", () => {
        for (const [of, about, key] of VALID)
          if (of === name) expect(refusalOf(checkPublicKey, key, type), about).to.equal(undefined);
      });

      if (name !== "document")
        it("rejects the invalid keys of Project Wycheproof and the RFCs", () => {
          for (const [about, key, code] of INVALID[name])
            expect(refusalOf(checkPublicKey, key, type), about).to.equal(code);
        });

      it("rejects keys of other types and lengths, and names both types", () => {
        for (const other of every) {
          if (other.length === type.length) continue;
          const message = messageOf(() => {
            checkPublicKey(keyOf(other), type);
          });
          expect(message).to.match(/^KEY_TYPE_MISMATCH developer /);
          for (const word of [type.title, other.title, String(type.length), String(other.length)])
            expect(message).to.include(word);
        }
        for (const length of [0, type.length - 1, type.length + 1])
          expect(refusalOf(checkPublicKey, new Uint8Array(length), type)).to.equal("PUBLIC_KEY_LENGTH");
        for (const key of ["", null])
          expect(refusalOf(checkPublicKey, key as never, type)).to.equal("ARGUMENT_INVALID");
      });

      it("names the remedy for a key in hex, which is base64 of other bytes", () => {
        const hex = Buffer.from("ab".repeat(type.length), "base64");
        const message = messageOf(() => {
          checkPublicKey(hex, type);
        });
        // The hex digits of a key with an odd number of bytes are no base64.
        if (type.length % 2 === 0) expect(message).to.include("It may be in hex: pass bytes or base64.");
        else expect(message).not.to.include("hex");
      });

      it("reads and proves files, by the fast and by the thorough way", () => {
        const records = Array.from({ length: 9 }, (_, i) => makeKeyRecord(sampleUserID(i), publicKeyOf(name, i), type));
        const file = makeMerkleFile(records, type);
        const { root } = file.tree;
        const text = textOf(file);
        expect(parseSerializedFile(text, root, type)?.records).to.deep.equal(file.records);
        expect(parseMerkleFile(Buffer.from(` ${text}`), root, type).records).to.deep.equal(file.records);
        const [{ userID, pubKey }] = file.records as [(typeof file.records)[0]];
        const query = { userID, root, expectedPublicKey: Buffer.from(pubKey, "base64"), keyType: type };
        expect(verifyMerkleProof(makeMerkleProof(file, userID), query).record.pubKey).to.equal(pubKey);
        for (const other of every.filter(({ length }) => length !== type.length))
          expect(refusalOf(() => parseMerkleFile(Buffer.from(text), root, other))).to.equal("file: KEY_TYPE_MISMATCH");
      });

      it("reads every record the same by the fast and by the thorough way", () => {
        const text = recordText(sampleUserID(0), publicKeyOf(name, 0));
        const change = fc.tuple(
          fc.nat(text.length - 1),
          fc.constantFrom(...Array.from('=AQBgw+/_-z"\\ ')),
          fc.boolean(),
        );
        fc.assert(
          fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
            const changed = changes.reduce(
              (all, [at, put, isAdded]) => all.slice(0, at) + put + all.slice(isAdded ? at : at + 1),
              text,
            );
            const outcome = (value: string) => {
              try {
                return JSON.stringify(parseKeyRecord(value, type));
              } catch (error) {
                return (error as ArgumentError).code;
              }
            };
            // A space before the text makes the fast way give up.
            const [fast, thorough] = [outcome(changed), outcome(` ${changed}`)];
            expect(fast).to.equal(thorough);
          }),
          { numRuns: 1000 },
        );
      });

      it("has safety codes", () => {
        const [mine, contact] = [0, 1].map((i) => ({ userID: sampleUserID(i), publicKey: publicKeyOf(name, i) }));
        if (mine === undefined || contact === undefined) throw new Error("There are two users.");
        const theirs = makeSafetyCode(contact, mine, type);
        expect(makeSafetyCode(mine, contact, type).digits).to.equal(theirs.digits);
        verifySafetyPayload(theirs.payload, mine, contact, type);
        expect(refusalOf(() => makeSafetyCode(mine, contact))).to.equal("KEY_TYPE_MISMATCH");
      });
    });
  }

  describe("x25519", () => {
    it("rejects exactly the canonical keys with which OpenSSL and noble compute no secret", () => {
      const privateKey = privateKeyOf("x25519", 0);
      const computes = (key: Uint8Array) => {
        const jwk = { kty: "OKP", crv: "X25519", x: Buffer.from(key).toString("base64url") };
        try {
          diffieHellman({ privateKey, publicKey: createPublicKey({ key: jwk, format: "jwk" }) });
          return true;
        } catch {
          return false;
        }
      };
      const nobleComputes = (key: Uint8Array) => {
        try {
          return nobleX25519.getSharedSecret(new Uint8Array(32).fill(9), key).some((byte) => byte !== 0);
        } catch {
          return false;
        }
      };
      const canonical = fc
        .uint8Array({ minLength: 32, maxLength: 32 })
        .map((bytes) => bytes.with(31, (bytes[31] ?? 0) & 63));
      const known = INVALID.x25519.filter(([, , code]) => code === "PUBLIC_KEY_SMALL_ORDER").map(([, key]) => key);
      expect(known).to.have.length(5);
      for (const key of [...known, ...fc.sample(canonical, 100)]) {
        const isValid = refusalOf(checkPublicKey, key, x25519) === undefined;
        expect([computes(key), nobleComputes(key)], Buffer.from(key).toString("hex")).to.deep.equal([isValid, isValid]);
      }
    });
  });

  describe("ed25519 and p256", () => {
    it("have keys whose signatures node:crypto verifies", () => {
      for (const [type, hash, crv] of [
        ["ed25519", null, "Ed25519"],
        ["p256", "sha256", "P-256"],
      ] as const) {
        const key = publicKeyOf(type, 1);
        OF[type].check(key);
        const parts = type === "p256" ? [key.subarray(1, 33), key.subarray(33)] : [key];
        const [x = "", y] = parts.map((part) => part.toString("base64url"));
        const jwk = { kty: type === "p256" ? "EC" : "OKP", crv, x, ...(y !== undefined && { y }) };
        const message = Buffer.from("message");
        const signature = sign(hash, message, privateKeyOf(type, 1));
        expect(verify(hash, message, createPublicKey({ key: jwk, format: "jwk" }), signature)).to.equal(true);
      }
    });
  });

  describe("a verifier", () => {
    const options: VerifierOptions = {
      ...{ rpc: "https://rpc.example", chainId: 1, contract: `0x${"12".repeat(20)}` },
      ...{ merkleUrl: "https://files.example", trust: oneEndpoint() },
    };
    const refusal = async (keyType: unknown, expectedPublicKey: Uint8Array) => {
      try {
        const verifier = createVerifier({ ...options, keyType: keyType as KeyType });
        await verifier.verify(sampleUserID(0), { expectedPublicKey, signal: AbortSignal.abort() });
      } catch (error) {
        const { code, advice, message } = error as ArgumentError;
        return { code, advice, message };
      }
      throw new Error("The verification must fail.");
    };

    it("of the default type names both types for a key of another type", async () => {
      const { code, advice, message } = await refusal(undefined, publicKeyOf("x25519", 0));
      expect({ code, advice }).to.deep.equal({ code: "KEY_TYPE_MISMATCH", advice: "developer" });
      expect(message).to.match(
        /expectedPublicKey option must be 105 bytes \(Curve41417\), but is 32 bytes \(X25519, .*\)\. Configure the registry's key type/,
      );
    });

    it("accepts a key of its type as the expected key", async () => {
      for (const name of TYPES) expect(await refusal(OF[name], publicKeyOf(name, 0))).to.include({ code: "ABORTED" });
    });

    it("refuses a name instead of a key type, and says where types are", async () => {
      for (const value of ["x25519", {}, 32, null]) {
        const { code, message } = await refusal(value, publicKeyOf("x25519", 0));
        expect(code).to.equal("ARGUMENT_INVALID");
        expect(message).to.include("keyroot/key-types");
      }
    });
  });
});
