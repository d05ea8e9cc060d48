import { command, json, text } from "@keyroot/operator/definition";

/**
 * The `keyroot make-signing-key` command creates a key for access tokens. If the key file already exists, the new key
 * is appended to it.
 */
export const makeSigningKey = command(
  {
    summary: "Create a signing key for access tokens",
    needs: () => ["out"],
    options: {
      out: text("file", "File of signing keys. If it exists, the new key is added at its end"),
      json,
    },
  },
  async ({ out }) => {
    const [{ existsSync }, { writeFileAtomic }, { makeSigningKey: makeKey, readKeyFile }, { required }] =
      await Promise.all([
        import("node:fs"),
        import("@keyroot/operator/shared"),
        import("../tokens/signingKeys.ts"),
        import("./adminCommands.ts"),
      ]);
    const file = required(out, "--out", "the file of signing keys");
    const existing = existsSync(file) ? (await readKeyFile(file)).jwks : [];
    const key = await makeKey();
    await writeFileAtomic(file, `${JSON.stringify({ keys: [...existing, key] }, null, 2)}\n`, 0o600);
    const { kid } = key;
    const text =
      existing.length === 0
        ? `${file} contains the signing key ${kid}. Keep the file secret, and give it to every replica.`
        : `Added the key ${kid} at the end of ${file}. Give the file to every replica, then move the key to the front.`;
    return { json: { kid, keys: existing.length + 1 }, text };
  },
);
