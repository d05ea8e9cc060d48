import { createHash, hkdfSync } from "node:crypto";
import { compactDecrypt, CompactEncrypt } from "jose";

/**
 * Returns the SHA-256 of a secret in hex (64 digits). The databases contain only such hashes of refresh tokens,
 * cookies, invitations and Idempotency-Keys. A slow hash is not needed, because a token has 256 random bits. A lookup
 * by the hash reveals nothing about the token through its timing.
 */
export function hashSecret(...parts: string[]): string {
  return createHash("sha256").update(parts.join("\n")).digest("hex");
}

/**
 * Derives an AES-256-GCM key for a single stored text with HKDF-SHA-256 (RFC 5869).
 * @param salt the id of the object to which the text belongs
 */
export function deriveKey(secret: string | Uint8Array, salt: string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, salt, purpose, 32));
}

/** Encrypts a text as a JWE (RFC 7516) with AES-256-GCM. @param key 32 bytes */
export function seal(text: string, key: Uint8Array): Promise<string> {
  return new CompactEncrypt(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
    .encrypt(key);
}

/** Decrypts a text that `seal` encrypted. @throws Error if the key is wrong or the text was changed */
export async function open(sealed: string, key: Uint8Array): Promise<string> {
  const { plaintext } = await compactDecrypt(sealed, key);
  return new TextDecoder().decode(plaintext);
}
