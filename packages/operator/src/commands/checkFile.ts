import { basename } from "node:path";
import { setImmediate } from "node:timers/promises";
import { checkUntrusted } from "keyroot/internal/input";
import { checkKeyRecord, type KeyType } from "keyroot/internal/identity";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { parseMerkleFile, rootOfFileName } from "keyroot/internal/merkle";
import { type OperatorErrorCode, VerificationError } from "../errors.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import type { Outcome } from "./host.ts";
import { plural } from "../plural.ts";
import { Progress } from "./progress.ts";
import { readInput } from "./inputFiles.ts";
import { style } from "./output.ts";

/** `keyroot check-file <files…>`: checks the names, all records and the whole trees of Merkle-tree files without a chain. */
export default async function checkFiles({ files: paths, ...args }: ArgsOf<"check-file">): Promise<Outcome> {
  const keyType = await loadKeyType(args.keyType);
  using progress = new Progress();
  const files = [];
  for (const path of paths) files.push({ ...(await checkFile(path, keyType, progress)), path });
  return {
    json: { users: files.reduce((sum, { users }) => sum + users, 0), files },
    text: files
      .map(({ root, users, levels }) => {
        const size = `${plural(users, "user")}, ${plural(levels, "level")}`;
        return `${root}.json is ${style("success", "valid")}: ${size}. Every record and every node is correct.`;
      })
      .join("\n"),
  };
}

async function checkFile(path: string, keyType: KeyType, progress: Progress) {
  const bytes = await readInput(path);
  try {
    const root = rootOfFileName(basename(path));
    if (root === undefined) {
      const message = "The name of a Merkle-tree file must be its root: 64 lowercase hex digits and .json.";
      throw new VerificationError("file", "FILE_NAME", message, { actual: basename(path) });
    }
    const { records, tree } = parseMerkleFile(bytes, root, keyType);
    for (const [i, record] of records.entries()) {
      checkUntrusted("record", `values[${i}]`, () => checkKeyRecord(record, keyType));
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
