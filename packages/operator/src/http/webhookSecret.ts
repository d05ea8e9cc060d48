import { createHmac, randomBytes } from "node:crypto";
import { base64ToBytes, bytesToBase64 } from "keyroot/internal/bytes";
import { KeyrootError } from "keyroot/internal/errors";
import { readSecretFile } from "../disk/permissions.ts";
import { argumentInvalid } from "../errors.ts";

/**
 * The prefix of a webhook secret. The rest of the secret is 24 to 64 bytes in base64 (Standard Webhooks, "Signature
 * scheme").
 */
const SECRET_PREFIX = "whsec_";
const SECRET_BYTES = { min: 24, max: 64 };
const NEW_SECRET_BYTES = 32;
const MAX_SECRET_FILE_BYTES = 1024;

/**
 * The key that signs webhooks. It is kept in a private field, so that it does not appear when the object is printed.
 */
export class WebhookSecret {
  readonly #key: Uint8Array;

  /**
   * @param text `whsec_` and 24 to 64 bytes in base64, as Standard Webhooks defines
   * @throws ArgumentError ARGUMENT_INVALID; the message does not contain the secret
   */
  constructor(text: string) {
    this.#key = keyOf(text.trim());
  }

  /** Reads a secret from a file that other accounts cannot read. @throws ArgumentError FILE_PERMISSIONS, FILE_UNREADABLE */
  static async read(path: string): Promise<WebhookSecret> {
    return new WebhookSecret(await readSecretFile(path, MAX_SECRET_FILE_BYTES));
  }

  /**
   * Creates a secret of 256 random bits.
   * @returns the secret as text
   */
  static make(): string {
    return SECRET_PREFIX + bytesToBase64(randomBytes(NEW_SECRET_BYTES));
  }

  /**
   * Returns the signature of a message (Standard Webhooks, "Signature scheme": v1, HMAC-SHA-256).
   * @param timestamp in s since 1970
   */
  sign(id: string, timestamp: number, body: string): string {
    return `v1,${createHmac("sha256", this.#key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  }
}

function keyOf(text: string): Uint8Array {
  const { min, max } = SECRET_BYTES;
  try {
    const key = base64ToBytes(text.slice(SECRET_PREFIX.length));
    if (text.startsWith(SECRET_PREFIX) && key.length >= min && key.length <= max) return key;
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
  }
  const message = `The secret of the webhook must be ${SECRET_PREFIX} and ${min} to ${max} random bytes in base64.`;
  throw argumentInvalid(message);
}
