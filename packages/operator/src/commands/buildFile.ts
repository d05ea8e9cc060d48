import { plural } from "../plural.ts";
import { command, json } from "./defineCommand.ts";
import { besideFiles, recordFiles, requiredFiles } from "./options.ts";

export const buildFile = command(
  {
    summary: "Build Merkle-tree files from user records",
    options: {
      ...recordFiles,
      files: requiredFiles("Folder or s3://<bucket>/<prefix> for the files"),
      ...besideFiles,
      json,
    },
  },
  async ({ records: path, keyType, files: dir, usersPerFile, brotli }) => {
    const { openStore } = await import("../publisher/files/openStore.ts");
    const { cutIntoFiles } = await import("../publisher/plan/cutIntoFiles.ts");
    const { loadRecords } = await import("./inputFiles.ts");
    const { Progress } = await import("./progress.ts");
    using progress = new Progress();
    const records = await loadRecords({ records: path, keyType }, progress);
    const store = await openStore(dir, { brotli });
    const files = [];
    let users = 0;
    for (const file of cutIntoFiles(records, usersPerFile, records.keyType)) {
      const { where: path } = await store.put(file);
      files.push({ root: file.tree.root, users: file.records.length, path });
      progress.update("storing files", (users += file.records.length), records.length);
    }
    return {
      json: { users, files },
      text: [
        ...files.map((file) => `${file.path}  ${plural(file.users, "user")}`),
        `${plural(users, "user")} in ${plural(files.length, "file")}.`,
      ].join("\n"),
    };
  },
);
