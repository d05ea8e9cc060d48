import { randomBytes } from "node:crypto";
import { isRegion, REGIONS, type Region } from "keyroot/internal/identity";

/** Size of a token's secret: 256 random bits. A secret has 43 characters in base64url. */
const SECRET_BYTES = 32;
const FORM = new RegExp(`^(?:krs|kru_(?<region>${REGIONS.join("|")}))_[A-Za-z0-9_-]{43}$`);

/**
 * The kind of a refresh token, which the token's prefix shows. For a user's token, the prefix also contains the region.
 */
export type RefreshTokenKind = { kind: "partner" } | { kind: "user"; region: Region };

/**
 * Creates a refresh token: `krs_…` for a partner's server, `kru_<region>_…` for a user. The prefix helps scanners to
 * find leaked tokens, and the region says which database stores the token.
 */
export function makeRefreshToken(kind: RefreshTokenKind): string {
  const prefix = kind.kind === "partner" ? "krs" : `kru_${kind.region}`;
  return `${prefix}_${randomBytes(SECRET_BYTES).toString("base64url")}`;
}

/** @returns undefined if the text does not have the form of a refresh token */
export function parseRefreshToken(text: string): RefreshTokenKind | undefined {
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const region = match.groups?.["region"];
  return isRegion(region) ? { kind: "user", region } : { kind: "partner" };
}
