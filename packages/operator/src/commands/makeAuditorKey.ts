import { makeAuditorKeyFile } from "../audit/statements/auditorKeyFile.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import type { Host, Outcome } from "./host.ts";
import { writeKeyFile } from "./newKeyFile.ts";

/** `keyroot make-auditor-key`: creates a key that signs statements, and stores the key in an encrypted file. */
export default async function makeAuditorKey(args: ArgsOf<"make-auditor-key">, host: Host): Promise<Outcome> {
  const { out, name } = args;
  const key = await writeKeyFile(out, host.environment, (passphrase) => makeAuditorKeyFile(name, passphrase));
  return {
    json: { key: key.text },
    text: `${out} contains the new key in encrypted form. Publish the public key:\n${key.text}`,
  };
}
