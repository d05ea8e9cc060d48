import { readFile } from "node:fs/promises";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from "jose";
import { ArgumentError } from "keyroot/errors";

/** The one algorithm of access tokens (RFC 8037). */
export const ALGORITHM = "EdDSA";
const MOST_KEYS = 8;

type Key = Awaited<ReturnType<typeof importJWK>>;

/** The keys of access tokens: one signs, all verify. */
export interface SigningKeys {
  signing: { kid: string; key: Key };
  verifying: ReadonlyMap<string, Key>;
  /** The public keys as a JWK Set (RFC 7517). */
  jwks: { keys: JWK[] };
}

/** Makes a private key, as a JWK that a file of signing keys holds. */
export async function makeSigningKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { crv: "Ed25519", extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: ALGORITHM, use: "sig" };
}

/**
 * Reads a file of signing keys: a JWK Set of private Ed25519 keys, the signing one first. To rotate, add a key at the
 * end everywhere, then put it first everywhere, and four hours later take the old one out: no token in flight is refused.
 * @throws ArgumentError CONFIGURATION_INVALID, which never shows the file's content
 */
export async function readSigningKeys(path: string): Promise<SigningKeys> {
  return (await readKeyFile(path)).keys;
}

/** The same, with the private keys as they stand in the file. */
export async function readKeyFile(path: string): Promise<{ keys: SigningKeys; jwks: JWK[] }> {
  try {
    const { keys: jwks } = JSON.parse(await readFile(path, "utf8")) as { keys: JWK[] };
    return { keys: await toSigningKeys(jwks), jwks };
  } catch (error) {
    const reason = error instanceof SyntaxError ? "it is not JSON" : (error as Error).message;
    const message = `${path} is not a JWK Set of private Ed25519 keys: ${reason}.`;
    throw new ArgumentError("CONFIGURATION_INVALID", message);
  }
}

/** @param jwks private keys, the signing one first */
export async function toSigningKeys(jwks: readonly JWK[]): Promise<SigningKeys> {
  if (!(jwks instanceof Array) || jwks.length === 0 || jwks.length > MOST_KEYS)
    throw new Error(`it must hold 1 to ${MOST_KEYS} keys`);
  const verifying = new Map<string, Key>();
  const published: JWK[] = [];
  let signing: SigningKeys["signing"] | undefined;
  for (const { kty, crv, x, d } of jwks) {
    if (kty !== "OKP" || crv !== "Ed25519" || x === undefined || d === undefined)
      throw new Error("a key in it is not a private Ed25519 key");
    const publicJwk = { kty, crv, x };
    const kid = await calculateJwkThumbprint(publicJwk);
    if (verifying.has(kid)) throw new Error("a key is in it twice");
    // The private part decides: a pair whose halves do not fit would sign what nobody verifies.
    signing ??= { kid, key: await importJWK({ ...publicJwk, d }, ALGORITHM) };
    verifying.set(kid, await importJWK(publicJwk, ALGORITHM));
    published.push({ ...publicJwk, kid, alg: ALGORITHM, use: "sig" });
  }
  if (signing === undefined) throw new Error("it holds no key");
  return { signing, verifying, jwks: { keys: published } };
}
