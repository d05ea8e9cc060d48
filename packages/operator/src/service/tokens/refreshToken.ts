import { createHash, hkdfSync, randomBytes } from "node:crypto";
import { compactDecrypt, CompactEncrypt } from "jose";
import { isRegion, REGIONS, type Region } from "keyroot/identity";

/** Of 256 random bits, 43 characters in base64url. */
const SECRET_BYTES = 32;
const FORM = new RegExp(`^(?:krs|kru_(?<region>${REGIONS.join("|")}))_[A-Za-z0-9_-]{43}$`);

/** What a refresh token shows of itself: a server's or a user's, and where the user's data is. */
export type RefreshTokenKind = { kind: "partner" } | { kind: "user"; region: Region };

/**
 * Makes a refresh token: `krs_…` for a partner's server, `kru_<region>_…` for a user. The prefix lets scanners for leaked
 * secrets recognise it, and tells in which region's database it is.
 */
export function makeRefreshToken(of: RefreshTokenKind): string {
  const prefix = of.kind === "partner" ? "krs" : `kru_${of.region}`;
  return `${prefix}_${randomBytes(SECRET_BYTES).toString("base64url")}`;
}

/** What kind of refresh token a text is; undefined where it is none. */
export function parseRefreshToken(text: string): RefreshTokenKind | undefined {
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const region = match.groups?.["region"];
  return isRegion(region) ? { kind: "user", region } : { kind: "partner" };
}

/**
 * SHA-256 in hex: all that is kept of a refresh token, and of an Idempotency-Key. A token of 256 random bits needs no
 * slow hash, and looking its hash up tells nothing of the token by time.
 */
export function hashOf(...parts: string[]): string {
  return createHash("sha256").update(parts.join("\n")).digest("hex");
}

/** Seals a token (JWE, RFC 7516) so that only a repetition of the request that made it, with its key, opens it. */
export function sealToken(token: string, tokenID: string, idempotencyKey: string): Promise<string> {
  return new CompactEncrypt(new TextEncoder().encode(token))
    .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
    .encrypt(sealingKey(tokenID, idempotencyKey));
}

/** Opens what `sealToken` made of the same id and key. */
export async function openToken(sealed: string, tokenID: string, idempotencyKey: string): Promise<string> {
  const { plaintext } = await compactDecrypt(sealed, sealingKey(tokenID, idempotencyKey));
  return new TextDecoder().decode(plaintext);
}

function sealingKey(tokenID: string, idempotencyKey: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", idempotencyKey, tokenID, "keyroot refresh token", 32));
}
