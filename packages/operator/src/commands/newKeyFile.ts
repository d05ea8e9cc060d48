import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder, syncFolder } from "../disk/folder.ts";
import { writeToDisk } from "../disk/writeFileAtomic.ts";
import { ArgumentError, TransportError } from "../errors.ts";
import { passphraseSourceOf, readPassphrase } from "../publisher/signers/keyFile.ts";

/**
 * Makes a key, and writes it to a new encrypted file with mode 0600. Never replaces a file, because another process may have
 * made its key there in the meantime.
 * @param make makes a key, and the text of its file under a passphrase
 * @returns the public part of the key
 * @throws ArgumentError ARGUMENT_INVALID if the file exists, PASSPHRASE_MISSING; TransportError FILE_UNWRITABLE
 */
export async function writeKeyFile<Key>(
  path: string,
  environment: NodeJS.ProcessEnv,
  make: (passphrase: string) => Promise<{ key: Key; text: string }>,
): Promise<Key> {
  if (existsSync(path)) throw fileExists(path);
  const { key, text } = await make(await readPassphrase(path, passphraseSourceOf(environment)));
  try {
    await makeFolder(dirname(path));
    await writeToDisk(path, text, 0o600);
    await syncFolder(dirname(path));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") throw fileExists(path);
    throw new TransportError("FILE_UNWRITABLE", `Cannot write ${path}: ${(cause as Error).message}.`, { cause });
  }
  return key;
}

function fileExists(path: string): ArgumentError {
  return new ArgumentError("ARGUMENT_INVALID", `${path} exists. Choose another file for the new key.`);
}
