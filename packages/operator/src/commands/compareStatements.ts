import type { Comparison } from "../audit/statements/compareStatements.ts";
import { argumentInvalid } from "../errors.ts";
import { plural } from "../plural.ts";
import { chainOptions, command, json } from "./defineCommand.ts";
import { EXIT } from "./exitCodes.ts";
import { auditorsSettings, statementFolder } from "./options.ts";
import { style } from "./output.ts";

const { auditors, statementUrls } = auditorsSettings;

export const compareStatements = command(
  {
    summary: "Compare other auditors' statements with your own",
    options: {
      statementUrls: { ...statementUrls, required: true },
      statements: statementFolder,
      auditors: { ...auditors, required: true },
      allowHttp: chainOptions.allowHttp,
      json,
    },
  },
  async ({ statementUrls, statements, auditors, allowHttp }) => {
    const { parseAuditorKey } = await import("keyroot/auditors");
    const { checkSourceUrl, DEFAULT_LIMITS } = await import("keyroot/internal/transport");
    const { compareStatements } = await import("../audit/statements/compareStatements.ts");
    const { StatementFolder } = await import("../audit/statements/statementFolder.ts");
    const { readLines } = await import("./inputFiles.ts");
    const urls = statementUrls.split(",").map((url) => checkSourceUrl("statementUrls", url, allowHttp));
    const keys = (await readLines(auditors)).map(parseAuditorKey);
    const folder = new StatementFolder(statements);
    const latest = await folder.read("latest");
    if (latest === undefined)
      throw argumentInvalid(`${statements} contains no statement yet. Make one with sign-statement.`);
    const limits = { timeoutMs: DEFAULT_LIMITS.timeoutMs, allowHttp };
    const compared: Comparison[] = [];
    // Compare one folder at a time, because several comparisons may add signatures to the same files.
    for (const url of urls) compared.push(await compareStatements(url, { folder, latest, keys, limits }));
    const has = (result: Comparison["result"]) => compared.some((one) => one.result === result);
    process.exitCode =
      has("conflict") || has("differs") ? EXIT.false : has("unavailable") ? EXIT.unavailable : EXIT.success;
    return { json: { agrees: process.exitCode === EXIT.success, compared }, text: compared.map(describe).join("\n") };
  },
);

function describe({ url, result, blockNumber, message, findings, merged }: Comparison): string {
  const { host, pathname } = new URL(url);
  // The folder tells auditors on one host apart. The rest of the URL may contain secrets.
  const place = `${host}${pathname.replace(/\/$/, "")}`;
  switch (result) {
    case "agrees":
      return `${style("success", "Agrees")}: ${place}, block ${blockNumber}, ${plural(merged, "signature")} merged.`;
    case "differs":
      return `${style("notice", "Differs")}: ${place}, block ${blockNumber}. ${message}`;
    case "unavailable":
      return `${style("notice", "Unavailable")}: ${place}: ${message}`;
    case "conflict":
      return findings
        .map((one) => `${style("failure", "Conflict")}: ${one.message} Use --json to print both statements.`)
        .join("\n");
  }
}
