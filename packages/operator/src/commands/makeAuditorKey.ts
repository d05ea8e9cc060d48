import { command, json, text } from "./defineCommand.ts";
import { newKeyFile } from "./options.ts";

export const makeAuditorKey = command(
  {
    summary: "Create an auditor's signing key, and store it in an encrypted file",
    options: {
      out: newKeyFile,
      name: text("name", "Name of the auditor: a URL without https://, such as auditor.example", { required: true }),
      json,
    },
  },
  async ({ out, name }, host) => {
    const { makeAuditorKeyFile } = await import("../audit/statements/auditorKeyFile.ts");
    const { writeKeyFile } = await import("./newKeyFile.ts");
    const key = await writeKeyFile(out, host.environment, (passphrase) => makeAuditorKeyFile(name, passphrase));
    return {
      json: { key: key.text },
      text: `${out} contains the new key in encrypted form. Publish the public key:\n${key.text}`,
    };
  },
);
