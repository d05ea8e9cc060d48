// Proofs of possession of X25519, Ed25519 and P-256 keys in the second verifier (docs/formats.md), with node:crypto.
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  sign,
  timingSafeEqual,
  verify,
} from "node:crypto";
import { KEY_TYPES, lengthFaultOf } from "./keyTypes.mjs";

const CURVES = { x25519: "X25519", ed25519: "Ed25519", p256: "P-256" };
const RAW_SIGNATURE = 64;

export const labelOf = (keyType) => Buffer.from(`keyroot-possession-${keyType}-v1`, "ascii");

const bytes = (text) => Buffer.from(text, "base64");

function faultOf(keyType, key) {
  return lengthFaultOf(keyType, key) ?? KEY_TYPES[keyType].faultOf(key);
}

function jwkOf(keyType, publicKey) {
  const crv = CURVES[keyType];
  if (keyType !== "p256") return { kty: "OKP", crv, x: publicKey.toString("base64url") };
  const [x, y] = [publicKey.subarray(1, 33), publicKey.subarray(33)];
  return { kty: "EC", crv, x: x.toString("base64url"), y: y.toString("base64url") };
}

const toPublic = (keyType, key) => createPublicKey({ key: jwkOf(keyType, key), format: "jwk" });

/** A private key of 32 bytes. X25519 needs no public key, so the base point takes its place. */
function toPrivate(keyType, secret, publicKey) {
  const key = { ...jwkOf(keyType, publicKey), d: secret.toString("base64url") };
  return createPrivateKey({ key, format: "jwk" });
}

function macOf(statement, secret, transcript) {
  const key = hkdfSync("sha256", secret, bytes(statement.nonce), labelOf(statement.keyType), 32);
  return createHmac("sha256", Buffer.from(key)).update(transcript).digest();
}

const sharedOf = (privateKey, publicKey) =>
  diffieHellman({
    privateKey: toPrivate("x25519", privateKey, Buffer.alloc(32, 9)),
    publicKey: toPublic("x25519", publicKey),
  });

/** Computes the response, or the transcript of a P-256 key, whose signatures differ each time. */
export function answerOf(statement, privateKey, transcript) {
  const { keyType } = statement;
  const secret = bytes(privateKey);
  const written = { transcript: transcript.toString("hex") };
  if (keyType === "p256") return written;
  if (keyType === "ed25519") {
    const key = toPrivate(keyType, secret, bytes(statement.publicKey));
    return { ...written, response: sign(null, transcript, key).toString("base64") };
  }
  const ephemeral = bytes(statement.ephemeralKey);
  const code = faultOf(keyType, ephemeral);
  if (code !== undefined) return { code };
  const shared = sharedOf(secret, ephemeral);
  const response = macOf(statement, shared, transcript).toString("base64");
  return { ...written, sharedSecret: shared.toString("base64"), response };
}

/** Returns the error code of a statement's ephemeral key, which comes before the transcript. */
export function ephemeralFaultOf({ keyType, ephemeralKey }) {
  return keyType === "x25519" ? faultOf(keyType, bytes(ephemeralKey)) : undefined;
}

/** Whether a service accepts a response. */
export function accepts(statement, transcript, response, ephemeralPrivateKey) {
  const { keyType } = statement;
  const publicKey = bytes(statement.publicKey);
  if (faultOf(keyType, publicKey) !== undefined) return false;
  if (keyType === "x25519") {
    const expected = macOf(statement, sharedOf(bytes(ephemeralPrivateKey), publicKey), transcript);
    return response.length === expected.length && timingSafeEqual(response, expected);
  }
  const key = toPublic(keyType, publicKey);
  if (keyType === "ed25519") return verify(null, transcript, key, response);
  const dsaEncoding = response.length === RAW_SIGNATURE ? "ieee-p1363" : "der";
  return verify("sha256", transcript, { key, dsaEncoding }, response);
}
