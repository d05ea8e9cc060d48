import { ArgumentError } from "keyroot/errors";
import { checkUsersPerFile, cutIntoFiles } from "../publisher/plan/cutIntoFiles.ts";
import { FolderStore } from "../publisher/files/folderStore.ts";
import { command } from "./command.ts";
import { loadRecords, skippedLine } from "./loadRecords.ts";
import { Progress } from "./progress.ts";

interface Args {
  records: string | undefined;
  out: string | undefined;
  usersPerFile: number;
  skipBad: boolean;
  json: boolean;
}

/** `keyroot build-file`: Merkle-tree files from users' records; nothing is asked of a chain. */
export default command(async ({ out, usersPerFile, ...args }: Args) => {
  if (out === undefined) throw new ArgumentError("ARGUMENT_INVALID", "Name the folder for the files: --out DIR.");
  checkUsersPerFile(usersPerFile);
  using progress = new Progress();
  const { records, bad } = await loadRecords(args, progress);
  const store = new FolderStore(out);
  const files = [];
  let users = 0;
  for (const file of cutIntoFiles(records, usersPerFile)) {
    const { where: path } = await store.put(file);
    files.push({ root: file.tree.root, users: file.records.length, path });
    progress.update("storing files", (users += file.records.length), records.length);
  }
  return {
    json: { users, files, skipped: bad },
    text: [
      ...files.map((file) => `${file.path}  ${file.users} users`),
      `${users} users in ${files.length} ${files.length === 1 ? "file" : "files"}.`,
      ...skippedLine(bad),
    ].join("\n"),
  };
});
