import { once } from "node:events";
import { command, text } from "./defineCommand.ts";
import { keyType } from "./options.ts";

/** The maximum size of the file with the secret for user ids, in bytes. */
const MAX_SECRET_BYTES = 4096;

/** `keyroot make-records`: prints records for the users of a CSV file, whose ids it derives from a column and a secret. */
export const makeRecords = command(
  {
    summary: "Make user records from a CSV file, with ids that are derived from a column and a secret",
    options: {
      csv: text("file", "CSV file with a header, a column pubKey in base64 or hex, and the column in --id-column", {
        required: true,
      }),
      idColumn: text(
        "name",
        "Column that identifies each user in your system, such as email. The same text always gets the same id",
        { required: true },
      ),
      secretFile: text(
        "file",
        "File with the secret for user ids: at least 32 random bytes as text, such as from 'openssl rand -hex 32'",
        { required: true },
      ),
      keyType,
    },
  },
  async ({ csv, idColumn: name, secretFile, keyType }) => {
    const { readSecretFile } = await import("../disk/permissions.ts");
    const { encodeUtf8 } = await import("keyroot/internal/engine");
    const { deriveUserID, serializeKeyRecord } = await import("keyroot/internal/identity");
    const { loadRecords } = await import("./inputFiles.ts");
    const { Progress } = await import("./progress.ts");
    const secret = encodeUtf8((await readSecretFile(secretFile, MAX_SECRET_BYTES)).trimEnd());
    const idColumn = { name, toUserID: (cell: string) => deriveUserID(secret, cell) };
    using progress = new Progress();
    // Nothing is printed before every row is valid.
    const records = await loadRecords({ records: csv, keyType, idColumn }, progress);
    for (const record of records)
      if (!process.stdout.write(`${serializeKeyRecord(record)}\n`))
        await once(process.stdout, "drain").catch(() => undefined);
    return undefined;
  },
);
