import { basename } from "node:path";
import { setImmediate } from "node:timers/promises";
import { checkUntrusted } from "keyroot/internal/input";
import { type OperatorErrorCode, VerificationError } from "../errors.ts";
import { plural } from "../plural.ts";
import type { KeyType } from "keyroot/internal/identity";
import { command, json } from "./defineCommand.ts";
import { keyType } from "./options.ts";
import { style } from "./output.ts";
import type { Progress } from "./progress.ts";

export const checkFile = command(
  {
    summary: "Check the name, all records and the whole tree of each Merkle-tree file",
    argument: { name: "files", description: "Paths of files named <root>.json", kind: "many" },
    options: { keyType, json },
  },
  async ({ files: paths, ...args }) => {
    const { Progress } = await import("./progress.ts");
    const { loadKeyType } = await import("keyroot/internal/keyTypes");
    const type = await loadKeyType(args.keyType);
    using progress = new Progress();
    const files = [];
    for (const path of paths) files.push({ ...(await check(path, type, progress)), path });
    return {
      json: { users: files.reduce((sum, { users }) => sum + users, 0), files },
      text: files
        .map(({ root, users, levels }) => {
          const size = `${plural(users, "user")}, ${plural(levels, "level")}`;
          return `${root}.json is ${style("success", "valid")}: ${size}. Every record and every node is correct.`;
        })
        .join("\n"),
    };
  },
);

async function check(path: string, type: KeyType, progress: Progress) {
  const { checkKeyRecord } = await import("keyroot/internal/identity");
  const { parseMerkleFile, rootOfFileName } = await import("keyroot/internal/merkle");
  const { readInput } = await import("./inputFiles.ts");
  const bytes = await readInput(path);
  try {
    const root = rootOfFileName(basename(path));
    if (root === undefined) {
      const message = "The name of a Merkle-tree file must be its root: 64 lowercase hex digits and .json.";
      throw new VerificationError("file", "FILE_NAME", message, { actual: basename(path) });
    }
    const { records, tree } = parseMerkleFile(bytes, root, type);
    for (const [i, record] of records.entries()) {
      checkUntrusted("record", `The record of ${record.userID}`, () => checkKeyRecord(record, type));
      progress.update("checking keys", i + 1, records.length);
      // Allow Node to handle Ctrl-C between two records.
      await setImmediate();
    }
    return { root, users: tree.leafCount, levels: tree.height };
  } catch (cause) {
    if (!(cause instanceof VerificationError)) throw cause;
    const { step, code, message, expected, actual } = cause;
    throw new VerificationError(step, code as OperatorErrorCode, `${path}: ${message}`, { expected, actual, cause });
  }
}
