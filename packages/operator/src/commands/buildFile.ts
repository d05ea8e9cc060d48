import { openStore } from "../publisher/files/openStore.ts";
import { cutIntoFiles } from "../publisher/plan/cutIntoFiles.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import type { Outcome } from "./host.ts";
import { loadRecords, skippedLine } from "./inputFiles.ts";
import { plural } from "../plural.ts";
import { Progress } from "./progress.ts";

/** `keyroot build-file`: builds Merkle-tree files from user records, without a chain. */
export default async function buildFile({ files: dir, usersPerFile, ...args }: ArgsOf<"build-file">): Promise<Outcome> {
  using progress = new Progress();
  const { records, bad } = await loadRecords(args, progress);
  const store = await openStore(dir, args);
  const files = [];
  let users = 0;
  for (const file of cutIntoFiles(records, usersPerFile, records.keyType)) {
    const { where: path } = await store.put(file);
    files.push({ root: file.tree.root, users: file.records.length, path });
    progress.update("storing files", (users += file.records.length), records.length);
  }
  return {
    json: { users, files, skipped: bad },
    text: [
      ...files.map((file) => `${file.path}  ${plural(file.users, "user")}`),
      `${plural(users, "user")} in ${plural(files.length, "file")}.`,
      ...skippedLine(bad),
    ].join("\n"),
  };
}
