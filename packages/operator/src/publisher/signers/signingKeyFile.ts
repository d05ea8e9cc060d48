import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomBytes,
  scrypt,
  sign,
} from "node:crypto";
import { promisify } from "node:util";
import { KeyrootError } from "keyroot/internal/errors";
import { parseJson, ShapeChecker } from "keyroot/internal/input";
import { readSecretFile } from "../../disk/permissions.ts";
import { ArgumentError } from "../../errors.ts";
import { passphraseSourceOf, readPassphrase } from "./keyFile.ts";

/** The public part of a signing key, as one text and as its 32 bytes. */
interface PublicPart {
  text: string;
  publicKey: Uint8Array;
}

/** A kind of encrypted files with Ed25519 keys. */
export interface KeyFileFormat<Key extends PublicPart> {
  /** The file's `format`. */
  name: string;
  /** What such a file is, with an article, for error messages. */
  title: string;
  /** Parses the text of the public part. */
  parse: (text: unknown) => Key;
}

const MAX_BYTES = 2 ** 12;
/**
 * The first bytes of an Ed25519 private key in DER. The 32 secret bytes of the key follow them (RFC 8410, section 7).
 */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
/** The scrypt parameters, which wallets commonly use in their key files, too. They require 128 MiB and about 0.5 s. */
const SCRYPT = { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 };
const CIPHER = "aes-256-gcm";
const HEX = /^(?:[0-9a-f]{2})+$/;
const shape = new ShapeChecker((message) => new ArgumentError("KEY_FILE_INVALID", message));
const derive = promisify<string, Buffer, number, typeof SCRYPT, Buffer>(scrypt);

/**
 * Creates an Ed25519 key and the text of its encrypted key file. The private key is encrypted with AES-256-GCM, under a
 * key that scrypt derives from the passphrase. The public part is not encrypted, but authenticated.
 * @param makeKey makes the public part from 32 bytes
 */
export async function makeSigningKeyFile<Key extends PublicPart>(
  { name }: KeyFileFormat<Key>,
  makeKey: (publicKey: Uint8Array) => Key,
  passphrase: string,
): Promise<{ key: Key; text: string }> {
  const seed = randomBytes(32);
  const key = makeKey(publicKeyOf(privateKeyOf(seed)));
  const [salt, nonce] = [randomBytes(32), randomBytes(12)];
  const cipher = createCipheriv(CIPHER, await derive(passphrase, salt, 32, SCRYPT), nonce).setAAD(
    Buffer.from(key.text),
  );
  const encrypted = Buffer.concat([cipher.update(seed), cipher.final(), cipher.getAuthTag()]);
  const parts = { format: name, key: key.text, salt: hex(salt), nonce: hex(nonce), encrypted: hex(encrypted) };
  return { key, text: `${JSON.stringify(parts, null, 2)}\n` };
}

/**
 * Opens a key file that `makeSigningKeyFile` made.
 * @param environment the environment variables. The passphrase is in the file KEYROOT_PASSPHRASE_FILE or in the
 *   variable KEYROOT_PASSPHRASE
 * @returns the public part, and a function that signs a message with Ed25519 (RFC 8032)
 * @throws ArgumentError FILE_UNREADABLE, FILE_PERMISSIONS, PASSPHRASE_MISSING, KEY_FILE_INVALID. The errors contain no
 *   key and no passphrase
 */
export async function openSigningKeyFile<Key extends PublicPart>(
  { name, title, parse }: KeyFileFormat<Key>,
  path: string,
  environment: NodeJS.ProcessEnv,
): Promise<{ key: Key; sign: (message: Uint8Array) => Uint8Array }> {
  const passphrase = await readPassphrase(path, passphraseSourceOf(environment));
  const text = await readSecretFile(path, MAX_BYTES);
  try {
    const parts = shape.object("The key file", parseJson(text, 1), ["format", "key", "salt", "nonce", "encrypted"]);
    shape.oneOf("format", parts.format, [name]);
    const key = parse(parts.key);
    const [salt, nonce, encrypted] = (["salt", "nonce", "encrypted"] as const).map((part) =>
      Buffer.from(shape.text(part, parts[part], HEX), "hex"),
    ) as [Buffer, Buffer, Buffer];
    const decipher = createDecipheriv(CIPHER, await derive(passphrase, salt, 32, SCRYPT), nonce)
      .setAAD(Buffer.from(key.text))
      .setAuthTag(encrypted.subarray(-16));
    const privateKey = privateKeyOf(Buffer.concat([decipher.update(encrypted.subarray(0, -16)), decipher.final()]));
    if (!publicKeyOf(privateKey).equals(key.publicKey)) throw new RangeError("The halves do not belong together.");
    return { key, sign: (message) => sign(null, message, privateKey) };
  } catch (error) {
    // Omit the error's cause, because the cause may contain parts of the key.
    const reason =
      error instanceof KeyrootError
        ? `. ${error.message}`
        : ", or the passphrase is wrong. Check the file and the passphrase.";
    throw new ArgumentError("KEY_FILE_INVALID", `${path} is not ${title}${reason}`);
  }
}

function privateKeyOf(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: "der", type: "pkcs8" });
}

function publicKeyOf(privateKey: KeyObject): Buffer {
  const { x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  return Buffer.from(x, "base64url");
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
