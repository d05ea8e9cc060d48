import { existsSync } from "node:fs";
import { writeFileAtomic } from "@keyroot/operator/shared";
import { makeSigningKey, readKeyFile } from "../tokens/signingKeys.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import type { Outcome } from "@keyroot/operator/commands";
import { ArgumentError } from "../api/base/errors.ts";

/**
 * The `keyroot make-signing-key` command creates a key for access tokens. If the key file exists, the command appends
 * the key to the file.
 */
export default async function makeKey({ out }: ArgsOf<"make-signing-key">): Promise<Outcome> {
  if (out === undefined)
    throw new ArgumentError("ARGUMENT_INVALID", "--out is missing. Set it to the file of signing keys.");
  const existing = existsSync(out) ? (await readKeyFile(out)).jwks : [];
  const key = await makeSigningKey();
  await writeFileAtomic(out, `${JSON.stringify({ keys: [...existing, key] }, null, 2)}\n`, 0o600);
  const { kid } = key;
  const text =
    existing.length === 0
      ? `${out} contains the signing key ${kid}. Keep the file secret, and give it to every replica.`
      : `Added the key ${kid} at the end of ${out}. Give the file to every replica, then move the key to the front.`;
  return { json: { kid, keys: existing.length + 1 }, text };
}
