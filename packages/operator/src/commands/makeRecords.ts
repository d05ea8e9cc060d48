import { once } from "node:events";
import { command, flag, text } from "./defineCommand.ts";
import { plural } from "../plural.ts";
import { keyType } from "./options.ts";

/** The maximum size of the file with the secret for user ids, in bytes. */
const MAX_SECRET_BYTES = 4096;

export const makeRecords = command(
  {
    summary: "Make user records from a CSV file, with ids that are derived from a column and a secret",
    options: {
      csv: text("file", "CSV file with a header, a column pubKey in base64 or hex, and the column in --id-column", {
        required: true,
      }),
      idColumn: text(
        "name",
        "Column that identifies each user in your system, such as email. The same text always gets the same id, without spaces around it and in the Unicode form NFC",
        { required: true },
      ),
      secretFile: text(
        "file",
        "File with the secret for user ids: at least 32 random bytes as text, such as from 'openssl rand -hex 32'",
        { required: true },
      ),
      keyType,
      json: flag("Print one JSON object with all records instead of one record per line"),
    },
  },
  async ({ csv, idColumn: name, secretFile, keyType, json }) => {
    const { readSecretFile } = await import("../disk/permissions.ts");
    const { encodeUtf8 } = await import("keyroot/internal/engine");
    const { deriveUserID, serializeKeyRecord } = await import("keyroot/internal/identity");
    const { loadRecords } = await import("./inputFiles.ts");
    const { printError } = await import("./output.ts");
    const { Progress } = await import("./progress.ts");
    const secret = encodeUtf8((await readSecretFile(secretFile, MAX_SECRET_BYTES)).trimEnd());
    deriveUserID(secret, name); // Checks the secret before all rows.
    let uppercase = 0;
    const toUserID = (cell: string) => {
      const identifier = cell.trim().normalize("NFC");
      if (identifier !== identifier.toLowerCase()) uppercase++;
      return deriveUserID(secret, identifier);
    };
    using progress = new Progress();
    // Nothing is printed before every row is valid.
    const records = await loadRecords({ records: csv, keyType, idColumn: { name, toUserID } }, progress);
    if (uppercase > 0)
      printError(
        `Warning: ${plural(uppercase, "cell")} of the column ${name} contain uppercase letters, and another spelling gets another id. If your system ignores case, convert the column to lowercase first.`,
      );
    // The line names the CSV file's row in messages about the record.
    if (json) {
      const made = Array.from(records, (record) => ({ ...record, line: records.lineOf(record.userID) }));
      return { json: { records: made }, text: "" };
    }
    for (const record of records) {
      const line = `${serializeKeyRecord(record).slice(0, -1)},"line":${records.lineOf(record.userID)}}\n`;
      if (!process.stdout.write(line)) await once(process.stdout, "drain").catch(() => undefined);
    }
    return undefined;
  },
);
