import { bytesToHex } from "../../bytes/hex.ts";
import { requireFeature } from "../../engine/requireFeature.ts";
import { ArgumentError, EnvironmentError } from "../../errors.ts";
import { isBytes, isObject } from "../../input/values.ts";
import { bytesToBase64 } from "../../bytes/base64.ts";
import type { KeyTypeName } from "../keyTypes/keyType.ts";
import { foreignPrivateKey, type PrivateKey } from "./method.ts";
import { type PossessionStatement, possessionTranscript, responseOf } from "./statement.ts";

/**
 * WebCrypto's description of a key type: the algorithm, the usage of the private key and its length in bytes, and the
 * fields of a JSON Web Key.
 */
interface Scheme {
  algorithm: EcKeyImportParams | { name: string };
  usage: "deriveBits" | "sign";
  secretBytes: number;
  jwk: JsonWebKey;
}

const EC_P256 = { name: "ECDSA", namedCurve: "P-256" };
/** One row per key type. Undefined if WebCrypto has no such keys. */
const SCHEMES: Readonly<Record<KeyTypeName, Scheme | undefined>> = {
  curve41417: undefined,
  x25519: { algorithm: { name: "X25519" }, usage: "deriveBits", secretBytes: 32, jwk: { kty: "OKP", crv: "X25519" } },
  ed25519: { algorithm: { name: "Ed25519" }, usage: "sign", secretBytes: 32, jwk: { kty: "OKP", crv: "Ed25519" } },
  p256: { algorithm: EC_P256, usage: "sign", secretBytes: 32, jwk: { kty: "EC", crv: "P-256" } },
  document: undefined,
};
/**
 * The u-coordinate of X25519's base point (RFC 7748, section 4.1). The product of a private key and this point is the
 * public key.
 */
const BASE_POINT = Uint8Array.of(9, ...new Uint8Array(31));

/**
 * Computes the response to a challenge with WebCrypto, for X25519, Ed25519 and P-256 keys. The private key may be a
 * `CryptoKey` that cannot be exported. A private key that does not belong to the public key is rejected. The caller
 * must have checked the ephemeral key.
 * @returns a MAC of 32 bytes for X25519, and a signature of 64 bytes for the other types
 * @throws ArgumentError ARGUMENT_INVALID. The message does not contain the private key.
 * @throws EnvironmentError ENVIRONMENT_UNSUPPORTED
 */
export async function proveWithWebCrypto(statement: PossessionStatement, privateKey: PrivateKey): Promise<Uint8Array> {
  const { keyType = "curve41417", publicKey, ephemeralKey } = statement;
  const scheme = SCHEMES[keyType];
  if (scheme === undefined)
    throw new ArgumentError("ARGUMENT_INVALID", `WebCrypto has no keys of the type ${keyType}.`);
  const { crypto } = globalThis as { crypto?: Partial<Crypto> };
  requireFeature("crypto.subtle", crypto?.subtle, "WebCrypto, or pass a function prove instead of the private key");
  const key = await toCryptoKey(scheme, publicKey, privateKey);
  if (scheme.usage === "sign") return sign(scheme, key, possessionTranscript(statement), publicKey);
  if (bytesToHex(await multiply(key, BASE_POINT)) !== bytesToHex(publicKey)) throw foreignPrivateKey();
  return responseOf(statement, await multiply(key, ephemeralKey));
}

async function toCryptoKey(scheme: Scheme, publicKey: Uint8Array, privateKey: PrivateKey): Promise<CryptoKey> {
  const { algorithm, usage, secretBytes, jwk } = scheme;
  const { name } = algorithm;
  if (isBytes(privateKey) && privateKey.length === secretBytes) {
    const points =
      jwk.kty === "EC"
        ? { x: toBase64Url(publicKey.subarray(1, 33)), y: toBase64Url(publicKey.subarray(33)) }
        : { x: toBase64Url(publicKey) };
    try {
      return await crypto.subtle.importKey("jwk", { ...jwk, ...points, d: toBase64Url(privateKey) }, algorithm, false, [
        usage,
      ]);
    } catch (cause) {
      // The platform may find out itself that the two keys do not match. Its error is not passed on, because the error
      // may contain the private key.
      if ((cause as Error).name !== "NotSupportedError") throw foreignPrivateKey();
      const message = `This platform's WebCrypto has no ${name}. Pass a function prove instead of the private key.`;
      throw new EnvironmentError("ENVIRONMENT_UNSUPPORTED", message, { expected: name });
    }
  }
  const key = privateKey as CryptoKey;
  if (isObject(key) && key.type === "private" && isObject(key.algorithm) && key.algorithm.name === name) return key;
  const message = `The private key must be ${secretBytes} bytes, or a CryptoKey for "${name}" with the usage "${usage}".`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

/** Returns the shared secret of a private key and a public key, in 32 bytes. */
async function multiply(key: CryptoKey, publicKey: Uint8Array): Promise<Uint8Array> {
  const other = await crypto.subtle.importKey("raw", Uint8Array.from(publicKey), "X25519", false, []);
  return new Uint8Array(await crypto.subtle.deriveBits({ name: "X25519", public: other }, key, 256));
}

async function sign({ algorithm }: Scheme, key: CryptoKey, message: Uint8Array, publicKey: Uint8Array) {
  const parameters = { name: algorithm.name, hash: "SHA-256" };
  const data = Uint8Array.from(message);
  const signature = await crypto.subtle.sign(parameters, key, data);
  const own = await crypto.subtle.importKey("raw", Uint8Array.from(publicKey), algorithm, false, ["verify"]);
  if (!(await crypto.subtle.verify(parameters, own, signature, data))) throw foreignPrivateKey();
  return new Uint8Array(signature);
}

function toBase64Url(bytes: Uint8Array): string {
  return bytesToBase64(bytes).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}
