import { createPublicKey, randomBytes, randomUUID } from "node:crypto";
import { generateKeyPair, importJWK, type JWK, SignJWT } from "jose";
import { ADMIN_TOKEN, ISSUER, SIGNING_JWK } from "./support.ts";
import type { TestPartner, TestUser } from "./caller.ts";

/** Tokens that an operation must reject: the token (undefined for none) and the code of the error. */
export type Forged = Record<string, [token: string | undefined, code: string]>;

/** The differences between a forged token and the service's tokens. */
interface Deviation {
  header?: Record<string, unknown>;
  claims?: Record<string, unknown>;
  key?: Parameters<SignJWT["sign"]>[0];
}

const { kty, crv, x } = SIGNING_JWK;
const publicJwk = { kty, crv, x } as JWK;
const [ours, attacker, rsa, ecdsa] = await Promise.all([
  importJWK(SIGNING_JWK, "EdDSA"),
  generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true }),
  generateKeyPair("RS256"),
  generateKeyPair("ES256"),
]);

/** Signs claims like the service, with deviations. A header or claim that is undefined is left out. */
function sign(claims: Record<string, unknown>, { header, claims: other, key = ours }: Deviation = {}) {
  const { kid } = SIGNING_JWK;
  return new SignJWT(defined({ ...claims, ...other }))
    .setProtectedHeader(defined({ alg: "EdDSA", kid, typ: "at+jwt", ...header }) as { alg: string })
    .sign(key);
}

/** The claims of a token that the service issued. */
export function claimsOf(jwt: string): Record<string, unknown> {
  return part(jwt, 1);
}

export function headerOf(jwt: string): Record<string, unknown> {
  return part(jwt, 0);
}

/**
 * Returns tokens that must be rejected by every operation that accepts `good`.
 * @param good a valid access token of the required kind
 * @param wrongKind a valid access token of the other kind
 * @param revoked an access token of the required kind, from a revoked refresh token
 */
export async function forgedTokens(
  good: string,
  wrongKind: string,
  revoked: string,
  { refreshToken }: TestPartner,
  user: TestUser,
): Promise<Forged> {
  const claims = claimsOf(good);
  const [header = "", payload = "", signature = ""] = good.split(".");
  const now = Math.floor(Date.now() / 1000);
  const forge = (deviation: Deviation) => sign(claims, deviation);
  const publicBytes = Buffer.from(publicJwk.x ?? "", "base64url");
  const publicPem = createPublicKey({ key: publicJwk, format: "jwk" }).export({ type: "spki", format: "pem" });
  const invalid = async (token: Promise<string> | string): Promise<[string, string]> => [
    await token,
    "ACCESS_TOKEN_INVALID",
  ];
  const otherAudience = claims["aud"] === "keyroot/user" ? "keyroot/partner" : "keyroot/user";
  return {
    "no token": [undefined, "ACCESS_TOKEN_MISSING"],
    garbage: await invalid("garbage"),
    "three parts of garbage": await invalid("a.b.c"),
    "random bytes": await invalid(randomBytes(90).toString("base64url")),
    "a long token": await invalid(forge({ claims: { padding: "x".repeat(2048) } })),
    "a very long token": await invalid("x".repeat(12_000)),
    expired: [await forge({ claims: { iat: now - 14_401, exp: now - 1 } }), "ACCESS_TOKEN_EXPIRED"],
    "without expiry": await invalid(forge({ claims: { exp: undefined } })),
    "not valid yet": await invalid(forge({ claims: { nbf: now + 3600 } })),
    "a changed signature": await invalid(`${header}.${payload}.${flipped(signature)}`),
    "no signature": await invalid(`${header}.${payload}.`),
    "changed claims": await invalid(`${header}.${encode({ ...claims, exp: now + 10 ** 6 })}.${signature}`),
    "alg: none": await invalid(`${encode({ alg: "none", typ: "at+jwt", kid: SIGNING_JWK.kid })}.${payload}.`),
    "alg: none, with a signature": await invalid(`${encode({ alg: "none", typ: "at+jwt" })}.${payload}.${signature}`),
    "HS256, keyed with the public key": await invalid(forge({ header: { alg: "HS256" }, key: publicBytes })),
    "HS256, keyed with the public key's PEM": await invalid(
      forge({ header: { alg: "HS256" }, key: new TextEncoder().encode(publicPem.toString()) }),
    ),
    RS256: await invalid(forge({ header: { alg: "RS256" }, key: rsa.privateKey })),
    ES256: await invalid(forge({ header: { alg: "ES256" }, key: ecdsa.privateKey })),
    "another key, under our kid": await invalid(forge({ key: attacker.privateKey })),
    "unknown kid": await invalid(forge({ header: { kid: "unknown" } })),
    "no kid": await invalid(forge({ header: { kid: undefined } })),
    "a key in the token": await invalid(
      forge({ header: { jwk: publicJwk, kid: undefined }, key: attacker.privateKey }),
    ),
    "a key at a URL in the token": await invalid(
      forge({ header: { jku: "http://127.0.0.1:1/", kid: "its" }, key: attacker.privateKey }),
    ),
    "other issuer": await invalid(forge({ claims: { iss: `${ISSUER}.attacker.test` } })),
    "no issuer": await invalid(forge({ claims: { iss: undefined } })),
    "other audience": await invalid(forge({ claims: { aud: "https://elsewhere.test" } })),
    "no audience": await invalid(forge({ claims: { aud: undefined } })),
    "both audiences": await invalid(forge({ claims: { aud: ["keyroot/partner", "keyroot/user"] } })),
    "the other kind's audience": await invalid(forge({ claims: { aud: otherAudience, region: undefined } })),
    "other typ": await invalid(forge({ header: { typ: "JWT" } })),
    "no typ": await invalid(forge({ header: { typ: undefined } })),
    "no biz_id": await invalid(forge({ claims: { biz_id: undefined } })),
    "no id of a refresh token": await invalid(forge({ claims: { rti: undefined } })),
    "of a refresh token that does not exist": [await forge({ claims: { rti: randomUUID() } }), "ACCESS_TOKEN_REVOKED"],
    revoked: [revoked, "ACCESS_TOKEN_REVOKED"],
    "of the other kind": [wrongKind, "ACCESS_TOKEN_KIND"],
    "a server's refresh token": await invalid(refreshToken),
    "a user's refresh token": await invalid(user.refreshToken),
    "the admin token": await invalid(ADMIN_TOKEN),
  };
}

function part(jwt: string, index: number): Record<string, unknown> {
  return JSON.parse(Buffer.from(jwt.split(".")[index] ?? "", "base64url").toString()) as Record<string, unknown>;
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function flipped(signature: string): string {
  const bytes = Buffer.from(signature, "base64url");
  bytes.writeUInt8(bytes.readUInt8(7) ^ 1, 7);
  return bytes.toString("base64url");
}

function defined(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
