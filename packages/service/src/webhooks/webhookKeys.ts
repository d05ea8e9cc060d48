import { createHash } from "node:crypto";
import { base64ToBytes } from "keyroot/internal/bytes";
import { readSecretFile } from "@keyroot/operator/shared";
import { ArgumentError } from "../api/base/errors.ts";
import { deriveKey, open, seal } from "../api/database/secrets.ts";

const KEY_BYTES = 32;
const MAX_KEYS = 8;
const MAX_FILE_BYTES = 1024;
const PURPOSE = "keyroot webhook secret";

/** An encrypted secret, and the id of the key that decrypts the secret. */
export interface SealedSecret {
  keyID: string;
  sealed: string;
}

/**
 * The keys that encrypt the secrets of webhook endpoints. The first key encrypts, and all keys decrypt. Each encrypted
 * secret is bound to its endpoint, and cannot be decrypted for another one.
 */
export class WebhookKeys {
  readonly #keys = new Map<string, Uint8Array>();
  /** The id of the encrypting key: 16 hex digits that reveal nothing about the key. */
  readonly sealingID: string;

  /**
   * @param keys 1 to 8 keys of 32 random bytes
   * @throws Error for other keys. The message contains no key
   */
  constructor(keys: readonly Uint8Array[]) {
    if (keys.length > MAX_KEYS) throw new Error(`it has more than ${MAX_KEYS} keys`);
    for (const key of keys) {
      if (key.length !== KEY_BYTES) throw new Error(`a key in it has ${key.length} bytes instead of ${KEY_BYTES}`);
      if (new Set(key).size < KEY_BYTES / 4) throw new Error("a key in it is not random");
      this.#keys.set(idOf(key), key);
    }
    const [first] = this.#keys.keys();
    if (first === undefined) throw new Error("it has no key");
    if (this.#keys.size < keys.length) throw new Error("it has a key twice");
    this.sealingID = first;
  }

  /**
   * Reads a key file, in which each line is a key in base64, such as the output of `openssl rand -base64 32`.
   * @throws ArgumentError FILE_PERMISSIONS, FILE_UNREADABLE, CONFIGURATION_INVALID. The message never contains the
   *   file's content
   */
  static async read(path: string): Promise<WebhookKeys> {
    try {
      const lines = (await readSecretFile(path, MAX_FILE_BYTES)).split("\n").map((line) => line.trim());
      return new WebhookKeys(lines.filter((line) => line !== "").map(keyOf));
    } catch (error) {
      if (error instanceof ArgumentError) throw error;
      const reason = (error as Error).message;
      const message = `${path} is not a file of keys for webhook secrets: ${reason}. Make one with 'openssl rand -base64 32'.`;
      throw new ArgumentError("CONFIGURATION_INVALID", message);
    }
  }

  has(keyID: string): boolean {
    return this.#keys.has(keyID);
  }

  /** Encrypts an endpoint's secret with the first key. */
  async seal(secret: string, endpointID: string): Promise<SealedSecret> {
    const { sealingID: keyID } = this;
    return { keyID, sealed: await seal(secret, this.#derive(keyID, endpointID)) };
  }

  /** Decrypts an endpoint's secret. @throws Error if the key is missing or the secret belongs to another endpoint */
  open({ keyID, sealed }: SealedSecret, endpointID: string): Promise<string> {
    return open(sealed, this.#derive(keyID, endpointID));
  }

  #derive(keyID: string, endpointID: string): Uint8Array {
    const key = this.#keys.get(keyID);
    if (key === undefined)
      throw new Error(`The file in KEYROOT_WEBHOOK_KEYS does not contain the key ${keyID}. Add it.`);
    return deriveKey(key, endpointID, PURPOSE);
  }
}

function keyOf(line: string): Uint8Array {
  try {
    return base64ToBytes(line);
  } catch {
    // Omit the original error, because the original error may quote the key.
    throw new Error("a line of it is not base64");
  }
}

function idOf(key: Uint8Array): string {
  return createHash("sha256").update("keyroot webhook key\n").update(key).digest("hex").slice(0, 16);
}
