import { createHash, randomBytes } from "node:crypto";
import { isRegion, REGIONS, type Region } from "keyroot/identity";
import { deriveKey, open, seal } from "./seal.ts";

/** 256 random bits, which are 43 characters in base64url. */
const SECRET_BYTES = 32;
const FORM = new RegExp(`^(?:krs|kru_(?<region>${REGIONS.join("|")}))_[A-Za-z0-9_-]{43}$`);

/** What the prefix of a refresh token says: whether it is a partner's or a user's, and the user's region. */
export type RefreshTokenKind = { kind: "partner" } | { kind: "user"; region: Region };

/**
 * Makes a refresh token: `krs_…` for a partner's server, `kru_<region>_…` for a user. Scanners for leaked secrets can
 * recognize the prefix. The region names the database that holds the token.
 */
export function makeRefreshToken(kind: RefreshTokenKind): string {
  const prefix = kind.kind === "partner" ? "krs" : `kru_${kind.region}`;
  return `${prefix}_${randomBytes(SECRET_BYTES).toString("base64url")}`;
}

/** @returns undefined when the text does not have the form of a refresh token */
export function parseRefreshToken(text: string): RefreshTokenKind | undefined {
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const region = match.groups?.["region"];
  return isRegion(region) ? { kind: "user", region } : { kind: "partner" };
}

/**
 * SHA-256 in hex (64 digits), the only stored form of refresh tokens and Idempotency-Keys. Tokens have 256 random bits, so
 * they need no slow hash, and the time of a lookup by hash reveals nothing about the token.
 */
export function hashSecret(...parts: string[]): string {
  return createHash("sha256").update(parts.join("\n")).digest("hex");
}

/** Encrypts a token under an Idempotency-Key, so that only a repeated request can decrypt it. */
export function sealToken(token: string, tokenID: string, idempotencyKey: string): Promise<string> {
  return seal(token, sealingKey(tokenID, idempotencyKey));
}

/** Decrypts what `sealToken` returned for the same token id and Idempotency-Key. */
export function openToken(sealed: string, tokenID: string, idempotencyKey: string): Promise<string> {
  return open(sealed, sealingKey(tokenID, idempotencyKey));
}

function sealingKey(tokenID: string, idempotencyKey: string): Uint8Array {
  return deriveKey(idempotencyKey, tokenID, "keyroot refresh token");
}
