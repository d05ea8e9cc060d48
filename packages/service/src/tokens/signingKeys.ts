import { createPrivateKey } from "node:crypto";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from "jose";
import { readSecretFile } from "@keyroot/operator/shared";
import { ArgumentError } from "../api/base/errors.ts";

/** The signature algorithm of access tokens (RFC 8037). */
export const ALGORITHM = "EdDSA";
const MAX_KEYS = 8;
/** Maximum size of a key file in bytes. Each key takes about 250 bytes. */
const MAX_BYTES = 2 ** 16;

type Key = Awaited<ReturnType<typeof importJWK>>;

/** The keys for access tokens. One key signs, and all keys verify. */
export interface SigningKeys {
  /** The signing key's id, and the private key in PEM format. */
  signing: { kid: string; pem: string };
  verifying: ReadonlyMap<string, Key>;
  /** The public keys as a JWK Set (RFC 7517). */
  jwks: { keys: JWK[] };
}

/** Makes a private Ed25519 key in JWK form. */
export async function makeSigningKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { crv: "Ed25519", extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: ALGORITHM, use: "sig" };
}

/**
 * Reads a file of signing keys. It is a JWK Set of private Ed25519 keys, and the first key signs. docs/backup.md
 * describes how to rotate them.
 * @throws ArgumentError FILE_PERMISSIONS, CONFIGURATION_INVALID. The message never contains the file's content
 */
export async function readSigningKeys(path: string): Promise<SigningKeys> {
  return (await readKeyFile(path)).keys;
}

/** Reads a key file like `readSigningKeys`, and also returns the private keys in their file format (JWK). */
export async function readKeyFile(path: string): Promise<{ keys: SigningKeys; jwks: JWK[] }> {
  const text = await readText(path);
  try {
    const { keys: jwks } = JSON.parse(text) as { keys: JWK[] };
    return { keys: await toSigningKeys(jwks), jwks };
  } catch (error) {
    const reason = error instanceof SyntaxError ? "it is not JSON" : (error as Error).message;
    const message = `${path} is not a JWK Set of private Ed25519 keys: ${reason}. Make one with 'keyroot make-signing-key'.`;
    throw new ArgumentError("CONFIGURATION_INVALID", message);
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readSecretFile(path, MAX_BYTES);
  } catch (error) {
    if (!(error instanceof ArgumentError) || error.code === "FILE_PERMISSIONS") throw error;
    throw new ArgumentError("CONFIGURATION_INVALID", error.message, { cause: error });
  }
}

/**
 * @param jwks private keys, of which the first one signs
 * @throws Error if the list is not usable. The message never contains a key
 */
export async function toSigningKeys(jwks: readonly JWK[]): Promise<SigningKeys> {
  if (!(jwks instanceof Array) || jwks.length === 0 || jwks.length > MAX_KEYS)
    throw new Error(`it must contain 1 to ${MAX_KEYS} keys`);
  const verifying = new Map<string, Key>();
  const published: JWK[] = [];
  let signing: SigningKeys["signing"] | undefined;
  for (const { kty, crv, x, d } of jwks) {
    if (kty !== "OKP" || crv !== "Ed25519" || x === undefined || d === undefined)
      throw new Error("a key in it is not a private Ed25519 key");
    const publicJwk = { kty, crv, x };
    const kid = await calculateJwkThumbprint(publicJwk);
    if (verifying.has(kid)) throw new Error("it contains a key twice");
    // `importJWK` checks that the private key belongs to the public key, because otherwise its signatures could not be
    // verified.
    await importJWK({ ...publicJwk, d }, ALGORITHM);
    signing ??= { kid, pem: toPem({ ...publicJwk, d }) };
    verifying.set(kid, await importJWK(publicJwk, ALGORITHM));
    published.push({ ...publicJwk, kid, alg: ALGORITHM, use: "sig" });
  }
  if (signing === undefined) throw new Error("it contains no key");
  return { signing, verifying, jwks: { keys: published } };
}

function toPem(jwk: JWK): string {
  return createPrivateKey({ key: jwk, format: "jwk" }).export({ type: "pkcs8", format: "pem" }) as string;
}
