import { command, flag, json } from "./defineCommand.ts";
import {
  auditedFiles,
  auditedNeeds,
  auditState,
  block,
  chainWithTrust,
  codeHash,
  keyType,
  merkleUrl,
  trustWithoutAuditors,
} from "./options.ts";

export const audit = command(
  {
    summary: "Compare the whole history of a registry with all files, in both directions",
    needs: auditedNeeds,
    options: {
      files: auditedFiles(". The audit then also covers stray files"),
      ...trustWithoutAuditors,
      block,
      codeHash,
      keyType,
      state: auditState,
      accounts: flag(
        "The registry has accounts: also compare all records with the account files that lie beside the Merkle-tree files",
      ),
      skipKnownFiles: flag("Skip files that an earlier audit with the same --state found valid"),
      ...chainWithTrust,
      merkleUrl,
      json,
    },
  },
  async (args, host) => {
    const { auditRegistry } = await import("./auditRegistry.ts");
    const { auditJson, describeAudit } = await import("./auditResult.ts");
    const { report, place } = await auditRegistry(args, host, {
      stateName: "audit",
      skipKnownFiles: args.skipKnownFiles,
      accounts: args.accounts,
    });
    return { json: auditJson(report, place), text: describeAudit(report, place) };
  },
);
