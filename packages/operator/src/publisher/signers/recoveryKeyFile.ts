import type { RecoveryKey, RecoveryKeyType } from "keyroot/account";
import { base64ToBytes, bytesToBase64 } from "keyroot/internal/bytes";
import { describeValue } from "keyroot/internal/input";
import { argumentInvalid } from "../../errors.ts";
import { type KeyFileFormat, makeSigningKeyFile, openSigningKeyFile } from "./signingKeyFile.ts";

/** A recovery key with its text, such as `ed25519 <base64>`. An account text has the same form after `key`. */
export interface NamedRecoveryKey extends RecoveryKey {
  text: string;
}

/** A recovery key of an account, which signs with Ed25519. */
export interface RecoverySigner {
  key: NamedRecoveryKey;
  sign: (message: Uint8Array) => Uint8Array;
}

const KEY = /^(ed25519|p256)[ :]([A-Za-z0-9+/]{43,44}=?)$/;
const FORMAT: KeyFileFormat<NamedRecoveryKey> = {
  name: "keyroot-recovery-key-v1",
  title: "a recovery key's file",
  parse: parseRecoveryKey,
};

/** Creates an encrypted file with a new recovery key. */
export async function makeRecoveryKeyFile(passphrase: string): Promise<{ key: NamedRecoveryKey; text: string }> {
  return makeSigningKeyFile(FORMAT, (publicKey) => nameKey("ed25519", publicKey), passphrase);
}

/** Opens a file that `makeRecoveryKeyFile` made. @throws ArgumentError as `openSigningKeyFile` */
export async function openRecoveryKeyFile(path: string, environment: NodeJS.ProcessEnv): Promise<RecoverySigner> {
  return openSigningKeyFile(FORMAT, path, environment);
}

/**
 * Parses the text of a recovery key. It consists of the type, a space or a colon, and the key in base64.
 * @throws ArgumentError ARGUMENT_INVALID, BASE64_INVALID
 */
export function parseRecoveryKey(text: unknown): NamedRecoveryKey {
  const [, type, encoded] = (typeof text === "string" ? KEY.exec(text) : null) ?? [];
  if (type !== undefined && encoded !== undefined) return nameKey(type as RecoveryKeyType, base64ToBytes(encoded));
  const message = `A recovery key must be ed25519 or p256, a colon and the key in base64, not ${describeValue(text)}.`;
  throw argumentInvalid(message);
}

function nameKey(type: RecoveryKeyType, publicKey: Uint8Array): NamedRecoveryKey {
  return { type, publicKey, text: `${type} ${bytesToBase64(publicKey)}` };
}
