import { type AuditorKey, makeAuditorKey, parseAuditorKey } from "keyroot/auditors";
import { type KeyFileFormat, makeSigningKeyFile, openSigningKeyFile } from "../../publisher/signers/signingKeyFile.ts";

export interface AuditorSigner {
  key: AuditorKey;
  /** Signs a message with Ed25519 (RFC 8032). The signature has 64 bytes. */
  sign: (message: Uint8Array) => Uint8Array;
}

const FORMAT: KeyFileFormat<AuditorKey> = {
  name: "keyroot-auditor-key-v1",
  title: "an auditor's key file",
  parse: parseAuditorKey,
};

/**
 * Creates an Ed25519 key and the text of its encrypted key file.
 * @param name the auditor's name: a URL without its scheme
 * @throws ArgumentError AUDITOR_KEY_INVALID
 */
export async function makeAuditorKeyFile(name: string, passphrase: string): Promise<{ key: AuditorKey; text: string }> {
  return makeSigningKeyFile(FORMAT, (publicKey) => makeAuditorKey(name, publicKey), passphrase);
}

/**
 * Opens a key file that `makeAuditorKeyFile` made.
 * @param environment the environment variables. The passphrase is in the file KEYROOT_PASSPHRASE_FILE or in the
 *   variable KEYROOT_PASSPHRASE
 * @throws ArgumentError the errors of `openSigningKeyFile`
 */
export async function openAuditorKeyFile(path: string, environment: NodeJS.ProcessEnv): Promise<AuditorSigner> {
  return openSigningKeyFile(FORMAT, path, environment);
}
