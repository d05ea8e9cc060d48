import { command, json } from "./defineCommand.ts";
import { newKeyFile } from "./options.ts";

export const makeOwnerKey = command(
  {
    summary: "Create the key of a registry's owner, and store it in an encrypted file",
    options: { out: newKeyFile, json },
  },
  async ({ out }, host) => {
    const { makeKeyFile } = await import("../publisher/signers/keyFile.ts");
    const { writeKeyFile } = await import("./newKeyFile.ts");
    const address = await writeKeyFile(out, host.environment, makeKeyFile);
    return {
      json: { address },
      text: `${out} contains the new key in encrypted form. Back up the file and its passphrase. Send ETH for gas to the key's account:\n${address}`,
    };
  },
);
