import { makeKeyFile } from "../publisher/signers/keyFile.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import type { Host, Outcome } from "./host.ts";
import { writeKeyFile } from "./newKeyFile.ts";

/**
 * `keyroot make-owner-key`: creates a key that signs an owner's transactions, and stores the key in an encrypted file.
 */
export default async function makeOwnerKey(args: ArgsOf<"make-owner-key">, host: Host): Promise<Outcome> {
  const { out } = args;
  const address = await writeKeyFile(out, host.environment, makeKeyFile);
  return {
    json: { address },
    text: `${out} contains the new key in encrypted form. Back up the file and its passphrase. Send ETH for gas to the key's account:\n${address}`,
  };
}
