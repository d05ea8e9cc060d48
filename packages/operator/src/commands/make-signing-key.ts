import { existsSync } from "node:fs";
import { ArgumentError } from "keyroot/errors";
import { writeFileAtomic } from "../disk/writeFileAtomic.ts";
import { makeSigningKey, readKeyFile } from "../service/tokens/signingKeys.ts";
import { command } from "./command.ts";

interface Args {
  out: string | undefined;
  json: boolean;
}

/** `keyroot make-signing-key`: a new key for access tokens, at the end of the file where there is one already. */
export default command(async ({ out }: Args) => {
  if (out === undefined) throw new ArgumentError("ARGUMENT_INVALID", "Name the file of signing keys with --out.");
  const standing = existsSync(out) ? (await readKeyFile(out)).jwks : [];
  const key = await makeSigningKey();
  await writeFileAtomic(out, `${JSON.stringify({ keys: [...standing, key] }, null, 2)}\n`, 0o600);
  const { kid } = key;
  const text =
    standing.length === 0
      ? `${out} holds the key ${kid}, which signs. Keep the file secret, and give it to every replica.`
      : `${out} holds the key ${kid} at its end: give the file to every replica, then move the key to the front.`;
  return { json: { kid, keys: standing.length + 1 }, text };
});
