import { command, json } from "@keyroot/operator/definition";

/** The `keyroot reconcile` command runs with the publisher's variables. It needs no signer. */
export const reconcile = command(
  {
    summary: "Add published keys that are missing in the databases, for example after restoring a backup",
    options: { json },
  },
  async () => {
    const [{ readPublisherConfig }, { limitsOf }, { checkMigrations, openDatabases }, { KeyPublisher }, { listed }] =
      await Promise.all([
        import("../config/readConfig.ts"),
        import("../config/publisherConfig.ts"),
        import("../api/database/database.ts"),
        import("../publisher/keyPublisher.ts"),
        import("./listed.ts"),
      ]);
    const { EXIT } = await import("@keyroot/operator/commands");
    const { plural } = await import("@keyroot/operator/shared");
    const { loadKeyType } = await import("keyroot/internal/keyTypes");
    const { requireKeyType } = await import("../publishing/registryKeyType.ts");
    const { databaseUrl: url, regionUrls, databaseFolder: folder, chain, ...config } = readPublisherConfig(process.env);
    const { keyType, accounts } = config;
    await using databases = await openDatabases({ url, regionUrls, folder });
    await checkMigrations(databases);
    await requireKeyType(databases, keyType);
    const publisher = new KeyPublisher(databases, { ...chain, limits: limitsOf(chain) }, undefined, {
      keyType: await loadKeyType(keyType),
      accounts,
    });
    const result = await publisher.reconcile();
    const { roots, recorded, replaced, added, lost, statements, unknownUsers, differences } = result;
    // The users of these roots could not be compared.
    if (differences.length > 0) process.exitCode = EXIT.unavailable;
    const lines = [
      `Compared ${plural(roots, "root")}: ${plural(recorded, "key")} recorded as published, ${replaced} replaced, ${added} added, ${lost} submitted again.`,
      ...(statements > 0 ? [`Added ${plural(statements, "statement")} from account files.`] : []),
      ...listed("has a published key, but is in no database. The partner must create the user again.", unknownUsers),
      ...listed(
        "could not be confirmed.",
        differences.map(({ root, code }) => `${root}  ${code}`),
      ),
    ];
    return { json: { ...result }, text: lines.join("\n") };
  },
);
