import { makeAuditorKeyFile } from "../audit/statements/auditorKeyFile.ts";
import { ArgumentError } from "../errors.ts";
import type { ArgsOf } from "./help.ts";
import type { Host, Outcome } from "./host.ts";
import { checkNewFile, passphraseOf, writeNewFile } from "./newKeyFile.ts";

/** `keyroot make-auditor-key`: creates a key that signs statements, and stores it in an encrypted file. */
export default async function makeAuditorKey(args: ArgsOf<"make-auditor-key">, host: Host): Promise<Outcome> {
  const { name } = args;
  if (args.out === undefined || name === undefined)
    throw new ArgumentError("ARGUMENT_INVALID", "Set the file and the auditor's name: --out FILE --name NAME.");
  const out = checkNewFile(args.out);
  const { key, text } = await makeAuditorKeyFile(name, await passphraseOf(out, host.environment));
  await writeNewFile(out, text);
  return {
    json: { key: key.text },
    text: `${out} contains the new key, encrypted. Publish the public key:\n${key.text}`,
  };
}
