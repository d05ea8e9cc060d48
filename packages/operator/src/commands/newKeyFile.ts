import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { cannotWrite } from "../disk/fileErrors.ts";
import { makeFolder, syncFolder } from "../disk/folder.ts";
import { writeToDisk } from "../disk/writeFileAtomic.ts";
import { ArgumentError, argumentInvalid } from "../errors.ts";
import { plural } from "../plural.ts";
import { passphraseSourceOf, readPassphrase } from "../publisher/signers/keyFile.ts";

/**
 * The minimum length of a new key file's passphrase, in Unicode code points. Anyone with a copy of the file can guess
 * passphrases offline, and the passphrase is then the only protection. The length therefore follows NIST SP 800-63B-4,
 * section 3.1.1.2, for a password that is used as the only factor.
 */
const MIN_PASSPHRASE = 15;

/**
 * Creates a key and writes it to a new encrypted file with mode 0600. An existing file is never replaced, because its
 * key may be in use.
 * @param make creates a key and the text of its encrypted file
 * @returns the public part of the key
 * @throws ArgumentError ARGUMENT_INVALID if the file exists, PASSPHRASE_MISSING, PASSPHRASE_TOO_SHORT; TransportError
 *   FILE_UNWRITABLE
 */
export async function writeKeyFile<Key>(
  path: string,
  environment: NodeJS.ProcessEnv,
  make: (passphrase: string) => Promise<{ key: Key; text: string }>,
): Promise<Key> {
  if (existsSync(path)) throw fileExists(path);
  const passphrase = await readPassphrase(path, passphraseSourceOf(environment));
  checkLength(passphrase);
  const { key, text } = await make(passphrase);
  try {
    await makeFolder(dirname(path));
    await writeToDisk(path, text, 0o600);
    await syncFolder(dirname(path));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") throw fileExists(path);
    throw cannotWrite(path, cause);
  }
  return key;
}

function checkLength(passphrase: string): void {
  const { length } = Array.from(passphrase);
  if (length >= MIN_PASSPHRASE) return;
  const message =
    `The passphrase of the new key file has ${plural(length, "character")}, but it needs at least ${MIN_PASSPHRASE}. ` +
    "Make a random passphrase, for example with `openssl rand -base64 24`.";
  throw new ArgumentError("PASSPHRASE_TOO_SHORT", message, { expected: MIN_PASSPHRASE, actual: length });
}

function fileExists(path: string): ArgumentError {
  return argumentInvalid(`${path} already exists. Choose another file for the new key.`);
}
