/**
 * Statements of proofs of possession as JSON, and honest responses to them, for the key types other than Curve41417.
 * The secrets and signatures come from `node:crypto`, except for signatures of P-256, which must be the same in every
 * run.
 */
import { p256 } from "@noble/curves/nist.js";
import { createHmac, createPublicKey, diffieHellman, hkdfSync, type KeyObject, sign } from "node:crypto";
import {
  type PossessionStatement,
  possessionTranscript,
} from "../../../packages/keyroot/src/identity/possession/statement.ts";
import { privateKeyOf, publicKeyOf } from "./keysOfTypes.ts";

/** The types whose keys prove possession, without Curve41417. */
export const PROVING = ["x25519", "ed25519", "p256"] as const;
export type Proving = (typeof PROVING)[number];

/** A statement as test vectors contain it. Byte strings are in base64. */
export interface StatementJson {
  keyType: Proving;
  service: string;
  chainId: number | null;
  contract: string | null;
  userID: string;
  publicKey: string;
  nonce: string;
  ephemeralKey: string;
  expires: number;
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
const bytes = (text: string) => Uint8Array.from(Buffer.from(text, "base64"));

/** The 32 secret bytes of a key. */
export const secretOf = (key: KeyObject): Buffer => Buffer.from(key.export({ format: "jwk" }).d ?? "", "base64url");

/** A statement about the key with this number. The service's ephemeral key has the number 90. */
export function statementJson(keyType: Proving, number: number, changes: Partial<StatementJson> = {}): StatementJson {
  return {
    keyType,
    ...{ service: "https://keys.example.com", chainId: 1, contract: "0x997715d0eb47a50d7521ed0d2d023624a4333f9a" },
    ...{ userID: "4443nzngyi7hsyn9e55rgxxskar74qu4", publicKey: base64(publicKeyOf(keyType, number)) },
    nonce: base64(publicKeyOf("document", number)),
    ephemeralKey: keyType === "x25519" ? base64(publicKeyOf("x25519", 90)) : "",
    expires: 1_800_000_300_000,
    ...changes,
  };
}

export function toStatement(json: StatementJson): PossessionStatement {
  const { chainId, contract, publicKey, nonce, ephemeralKey, ...rest } = json;
  const registry = chainId === null || contract === null ? undefined : { chainId, contract };
  return { ...rest, registry, publicKey: bytes(publicKey), nonce: bytes(nonce), ephemeralKey: bytes(ephemeralKey) };
}

/** The shared secret of a private key and a public key of X25519. */
export function sharedSecretOf(privateKey: KeyObject, publicKey: string): Buffer {
  const x = Buffer.from(publicKey, "base64").toString("base64url");
  const other = createPublicKey({ key: { kty: "OKP", crv: "X25519", x }, format: "jwk" });
  return diffieHellman({ privateKey, publicKey: other });
}

/** The response of the key with this number. For P-256, it is r and s in 64 bytes. */
export function responseOf(
  json: StatementJson,
  number: number,
  label = `keyroot-possession-${json.keyType}-v1`,
): Buffer {
  const { keyType, nonce, ephemeralKey } = json;
  const transcript = transcriptOf(json, label);
  const key = privateKeyOf(keyType, number);
  if (keyType === "ed25519") return sign(null, transcript, key);
  if (keyType === "p256") return Buffer.from(p256.sign(transcript, secretOf(key), { lowS: false }));
  const shared = sharedSecretOf(key, ephemeralKey);
  const macKey = Buffer.from(hkdfSync("sha256", shared, Buffer.from(nonce, "base64"), label, 32));
  return createHmac("sha256", macKey).update(transcript).digest();
}

/** The transcript, possibly with the label of another protocol. */
export function transcriptOf(json: StatementJson, label = `keyroot-possession-${json.keyType}-v1`): Buffer {
  const transcript = Buffer.from(possessionTranscript(toStatement(json)));
  return Buffer.concat([Buffer.from(label), transcript.subarray(`keyroot-possession-${json.keyType}-v1`.length)]);
}
