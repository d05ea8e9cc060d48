import { describeValue } from "keyroot/internal/input";
import { argumentInvalid } from "../errors.ts";
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
    checkName(name, (await import("keyroot/auditors")).AUDITOR_NAME);
    const { makeAuditorKeyFile } = await import("../audit/statements/auditorKeyFile.ts");
    const { writeKeyFile } = await import("./newKeyFile.ts");
    const key = await writeKeyFile(out, host.environment, (passphrase) => makeAuditorKeyFile(name, passphrase));
    return {
      json: { key: key.text },
      text: `${out} contains the new key in encrypted form. Publish the public key:\n${key.text}`,
    };
  },
);

/**
 * Checks the name before a key is made, because the name cannot be changed afterwards: it is part of the key's id.
 * @throws ArgumentError ARGUMENT_INVALID
 */
function checkName(name: string, form: RegExp): void {
  const [scheme = ""] = /^.*:\/\//.exec(name) ?? [];
  if (scheme === "" && form.test(name)) return;
  const rest = name.slice(scheme.length).replace(/\/+$/, "");
  const example = scheme !== "" && form.test(rest) ? rest : "auditor.example";
  throw argumentInvalid(
    `--name must be a URL without https://, such as ${example}, of 1 to 100 visible ASCII characters without a plus sign, not ${describeValue(name)}.`,
  );
}
