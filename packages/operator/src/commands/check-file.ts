import { basename } from "node:path";
import { setImmediate } from "node:timers/promises";
import { VerificationError } from "keyroot/errors";
import { checkUntrusted } from "keyroot/input";
import { checkKeyRecord } from "keyroot/identity";
import { parseMerkleFile } from "keyroot/merkle";
import { command } from "./command.ts";
import { Progress } from "./progress.ts";
import { readInput } from "./readInput.ts";

interface Args {
  files: string[];
  json: boolean;
}

/** `keyroot check-file <files…>`: Merkle-tree files by themselves: name, every record, the whole tree. */
export default command(async ({ files: paths }: Args) => {
  using progress = new Progress();
  const files = [];
  for (const path of paths) files.push({ ...(await check(path, progress)), path });
  return {
    json: { users: files.reduce((sum, { users }) => sum + users, 0), files },
    text: files
      .map(({ root, users, levels }) => {
        return `${root}.json holds: ${users} users, ${levels} levels, every record and every node as it should be.`;
      })
      .join("\n"),
  };
});

async function check(path: string, progress: Progress) {
  const bytes = await readInput(path);
  try {
    const root = /^([0-9a-f]{64})\.json$/.exec(basename(path))?.[1];
    if (root === undefined) {
      const message = "The name of a Merkle-tree file is its root, 64 lowercase hex digits and .json.";
      throw new VerificationError("file", "FILE_NAME", message, { actual: basename(path) });
    }
    const { records, tree } = parseMerkleFile(bytes, root);
    for (const [i, record] of records.entries()) {
      checkUntrusted("record", `values[${i}]`, () => checkKeyRecord(record));
      progress.update("checking keys", i + 1, records.length);
      // Lets Ctrl-C through.
      await setImmediate();
    }
    return { root, users: tree.leafCount, levels: tree.height };
  } catch (cause) {
    if (!(cause instanceof VerificationError)) throw cause;
    const { step, code, message, expected, actual } = cause;
    throw new VerificationError(step, code, `${path}: ${message}`, { expected, actual, cause });
  }
}
