import { command, json } from "@keyroot/operator/definition";

/** The `keyroot rebuild-files` command runs with the publisher's variables. It needs no signer. */
export const rebuildFiles = command(
  {
    summary:
      "Check the Merkle-tree files of published keys and the account files. Rebuild missing and damaged files from the databases",
    options: { json },
  },
  async () => {
    const [{ readPublisherConfig }, { checkMigrations, openDatabases }, { rebuildFiles: rebuild }, { openStores }] =
      await Promise.all([
        import("../config/readConfig.ts"),
        import("../api/database/database.ts"),
        import("../publisher/rebuildFiles.ts"),
        import("../publisher/chainConnection.ts"),
      ]);
    const { rebuildAccountFiles } = await import("../publisher/rebuildAccountFiles.ts");
    const { listed } = await import("./listed.ts");
    const { EXIT } = await import("@keyroot/operator/commands");
    const { plural } = await import("@keyroot/operator/shared");
    const { loadKeyType } = await import("keyroot/internal/keyTypes");
    const { requireKeyType } = await import("../publishing/registryKeyType.ts");
    const { databaseUrl: url, regionUrls, databaseFolder: folder, chain, keyType } = readPublisherConfig(process.env);
    await using databases = await openDatabases({ url, regionUrls, folder });
    await checkMigrations(databases);
    await requireKeyType(databases, keyType);
    const stores = await openStores(chain.files);
    const result = await rebuild(databases, stores, await loadKeyType(keyType));
    const ofAccounts = await rebuildAccountFiles(databases, stores);
    const { files, missing, damaged, lost } = result;
    const { accountFiles, rebuilt, newer } = ofAccounts;
    if (lost.length > 0) process.exitCode = EXIT.false;
    const lines = [
      ...listed("was missing and is rebuilt.", missing),
      ...listed("was damaged and is rebuilt. Remove it from your CDN's caches.", damaged),
      ...listed("is missing or damaged, and cannot be rebuilt. Restore it from a copy.", lost),
      ...listed("has a statement that the databases do not have. The user's app must submit it again.", newer),
      `Checked ${plural(files, "file")}: ${missing.length + damaged.length} rebuilt, ${lost.length} lost.`,
      ...(accountFiles > 0 ? [`Checked ${plural(accountFiles, "account file")}: ${rebuilt.length} rebuilt.`] : []),
    ];
    return { json: { ...result, ...ofAccounts }, text: lines.join("\n") };
  },
);
