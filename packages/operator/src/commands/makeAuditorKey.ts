import { existsSync } from "node:fs";
import { makeAuditorKeyFile } from "../audit/statements/auditorKeyFile.ts";
import { writeFileAtomic } from "../disk/writeFileAtomic.ts";
import { ArgumentError } from "../errors.ts";
import { readPassphrase } from "../publisher/signers/keyFile.ts";
import type { ArgsOf } from "./help.ts";
import type { Host, Outcome } from "./host.ts";

/** `keyroot make-auditor-key`: a new key that signs statements, in an encrypted file. */
export default async function makeAuditorKey({ out, name }: ArgsOf<"make-auditor-key">, host: Host): Promise<Outcome> {
  if (out === undefined || name === undefined)
    throw new ArgumentError("ARGUMENT_INVALID", "Set the file and the auditor's name: --out FILE --name NAME.");
  if (existsSync(out))
    throw new ArgumentError("ARGUMENT_INVALID", `${out} exists. Choose another file for the new key.`);
  const { key, text } = await makeAuditorKeyFile(name, await passphraseOf(out, host.environment));
  await writeFileAtomic(out, text, 0o600);
  return {
    json: { key: key.text },
    text: `${out} contains the new key, encrypted. Publish the public key:\n${key.text}`,
  };
}

/** Reads the passphrase of an auditor's key file. @throws ArgumentError PASSPHRASE_MISSING, and as `readPassphrase` */
export function passphraseOf(keyFile: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const { KEYROOT_PASSPHRASE_FILE: file, KEYROOT_PASSPHRASE: passphrase = "" } = environment;
  return readPassphrase(keyFile, file === undefined ? { passphrase } : { file });
}
