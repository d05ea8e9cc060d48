/** Checks the arguments of the commands that create an encrypted key file, and writes the file. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder, syncFolder } from "../disk/folder.ts";
import { writeToDisk } from "../disk/writeFileAtomic.ts";
import { ArgumentError, TransportError } from "../errors.ts";
import { readPassphrase } from "../publisher/signers/keyFile.ts";

/** Returns the path in `--out`. @throws ArgumentError ARGUMENT_INVALID if the option is missing or the file exists */
export function checkNewFile(out: string | undefined): string {
  if (out === undefined) throw new ArgumentError("ARGUMENT_INVALID", "Set the file for the new key: --out FILE.");
  if (!existsSync(out)) return out;
  throw fileExists(out);
}

/**
 * Writes the file of a new key with mode 0600. Never replaces a file, because another process may have made its key there in
 * the meantime.
 * @throws ArgumentError ARGUMENT_INVALID if the file exists; TransportError FILE_UNWRITABLE
 */
export async function writeNewFile(path: string, content: string): Promise<void> {
  try {
    await makeFolder(dirname(path));
    await writeToDisk(path, content, 0o600);
    await syncFolder(dirname(path));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") throw fileExists(path);
    throw new TransportError("FILE_UNWRITABLE", `Cannot write ${path}: ${(cause as Error).message}.`, { cause });
  }
}

function fileExists(path: string): ArgumentError {
  return new ArgumentError("ARGUMENT_INVALID", `${path} exists. Choose another file for the new key.`);
}

/** Reads the passphrase of a key file. @throws ArgumentError PASSPHRASE_MISSING, and the errors of `readPassphrase` */
export function passphraseOf(keyFile: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const { KEYROOT_PASSPHRASE_FILE: file = "", KEYROOT_PASSPHRASE: passphrase = "" } = environment;
  return readPassphrase(keyFile, file === "" ? { passphrase } : { file });
}
