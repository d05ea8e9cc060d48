/** Checks the arguments of the commands that create an encrypted key file. */
import { existsSync } from "node:fs";
import { ArgumentError } from "../errors.ts";
import { readPassphrase } from "../publisher/signers/keyFile.ts";

/** Returns the path in `--out`. @throws ArgumentError ARGUMENT_INVALID if the option is missing or the file exists */
export function checkNewFile(out: string | undefined): string {
  if (out === undefined) throw new ArgumentError("ARGUMENT_INVALID", "Set the file for the new key: --out FILE.");
  if (!existsSync(out)) return out;
  throw new ArgumentError("ARGUMENT_INVALID", `${out} exists. Choose another file for the new key.`);
}

/** Reads the passphrase of a key file. @throws ArgumentError PASSPHRASE_MISSING, and the errors of `readPassphrase` */
export function passphraseOf(keyFile: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const { KEYROOT_PASSPHRASE_FILE: file = "", KEYROOT_PASSPHRASE: passphrase = "" } = environment;
  return readPassphrase(keyFile, file === "" ? { passphrase } : { file });
}
