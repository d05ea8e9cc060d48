import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { ArgumentError, VerificationError, verifying } from "../src/errors.ts";
import { checkKeyRecord } from "../src/identity/keyRecord.ts";
import { parseMerkleFile } from "../src/merkle/file.ts";
import { command } from "./command.ts";
import { Progress } from "./progress.ts";

interface Args {
  file: string;
  json: boolean;
}

/** V8 holds no longer text: some 660,000 users. */
const MAX_BYTES = 2 ** 29 - 24;

/** `keyroot check-file <file>`: a Merkle-tree file by itself: its name, every record, the whole tree. */
export default command(async ({ file }: Args) => {
  const root = /^([0-9a-f]{64})\.json$/.exec(basename(file))?.[1];
  if (root === undefined) {
    const message = `A Merkle-tree file is named by its root, 64 lowercase hex digits and .json, not ${basename(file)}.`;
    throw new VerificationError("file", "FILE_NAME", message, { actual: basename(file) });
  }
  const { records, tree } = parseMerkleFile(await read(file), root);
  using progress = new Progress();
  for (const [i, record] of records.entries()) {
    verifying("record", `values[${i}]`, () => checkKeyRecord(record));
    progress.update("checking keys", i + 1, records.length);
  }
  const { leafCount: users, height: levels } = tree;
  return {
    json: { root, users, levels },
    text: `${basename(file)} holds: ${users} users, ${levels} levels, every record and every node as it should be.`,
  };
});

async function read(path: string): Promise<Uint8Array> {
  try {
    const { size } = await stat(path);
    if (size <= MAX_BYTES) return await readFile(path);
    const message = `${path} has ${size} bytes; at most ${MAX_BYTES} can be checked in one piece.`;
    throw new VerificationError("file", "FILE_TOO_LARGE", message, { expected: MAX_BYTES, actual: size });
  } catch (cause) {
    if (cause instanceof VerificationError) throw cause;
    throw new ArgumentError("FILE_UNREADABLE", `${path} cannot be read: ${(cause as Error).message}.`, { cause });
  }
}
