/** The options of `keyroot audit` that sign and compare statements. */
import { parseAuditorKey, type Statement } from "keyroot/auditors";
import { MAX_DAMAGED_ROOTS } from "keyroot/internal/auditors";
import { fetchBlockByHash } from "keyroot/internal/ethereum";
import { checkSourceUrl, DEFAULT_LIMITS, type RpcCall } from "keyroot/internal/transport";
import type { BlockSource } from "keyroot/internal/verifier";
import type { AuditReport } from "../audit/audit.ts";
import type { AuditedContract } from "../follow/index.ts";
import { type AuditorSigner, openAuditorKeyFile } from "../audit/statements/auditorKeyFile.ts";
import { type Comparison, compareStatements } from "../audit/statements/compareStatements.ts";
import { StatementFolder, type StatementSource } from "../audit/statements/statementFolder.ts";
import { ArgumentError } from "../errors.ts";
import { EXIT } from "./exitCodes.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import type { Host, Outcome } from "./host.ts";
import { endpointsOf, type TrustedChain } from "./trust.ts";
import { readLines } from "./inputFiles.ts";
import { plural } from "../plural.ts";
import { style } from "./output.ts";

type Args = ArgsOf<"audit">;

/** The settings of an audit with a signed result. */
export interface Signing {
  /** The block of the audit. The block is finalized, and the block's number is a multiple of the interval. */
  at: AuditedContract["at"];
  /**
   * Signs the audit's result, and returns a description of the statement. Returns undefined if the chain's data is
   * damaged.
   */
  sign: (report: AuditReport, place: { chainId: number; contract: string }) => Promise<Outcome | undefined>;
}

/**
 * Prepares an audit with `--sign`. Opens the auditor's key and finds the audit's block. Rejects a source that is the
 * unproven response of a single endpoint.
 * @throws ArgumentError ARGUMENT_INVALID, and the errors of `openAuditorKeyFile`; TransportError, VerificationError
 * QUORUM_NOT_REACHED
 */
export async function prepareSigning(
  args: Args & { sign: string },
  { source, call, findBlock }: TrustedChain,
  host: Host,
): Promise<Signing> {
  const { sign: keyFile, statements, interval } = args;
  if (statements === undefined) throw invalid("--sign needs the folder of statements. Set --statements DIR.");
  if (args.codeHash === undefined) throw invalid("--sign needs the hash of the contract's code. Set --code-hash HASH.");
  const description = describeSigned(source, endpointsOf(args.rpc).length);
  const signer = await openAuditorKeyFile(keyFile, host.environment);
  const found = await findBlock();
  const blockHash = await findAncestor(call, found.blockHash, interval);
  const folder = new StatementFolder(statements);
  return {
    at: { ...found, blockHash },
    sign: (report, place) => sign(folder, report, place, signer, { source: description }),
  };
}

function lastMultiple(number: number, interval: number): number {
  return Math.floor(number / interval) * interval;
}

/**
 * Returns the hash of the nearest block with a number that is a multiple of the interval. The search starts with the
 * given block, and reads one parent at a time.
 */
async function findAncestor(call: RpcCall, hash: string, interval: number): Promise<string> {
  let block = await fetchBlockByHash(call, hash);
  const number = lastMultiple(block.number, interval);
  while (block.number > number) block = await fetchBlockByHash(call, block.parentHash);
  return block.hash;
}

/** Describes the source of the block in a statement's description. @throws ArgumentError ARGUMENT_INVALID */
function describeSigned({ name, required = 0 }: BlockSource, count: number): StatementSource["source"] {
  if (name === "light-client") return "light client";
  if (name === "own-node" || name === "endpoints") {
    if (name === "own-node") return "own node";
    const least = Math.max(2, Math.floor(count / 2) + 1);
    if (required >= least) return `${required} of ${count} endpoints`;
    throw invalid(
      `--sign needs --trust endpoints:${least} or more, which is more than half of the endpoints in --rpc.`,
    );
  }
  throw invalid(
    `--sign does not sign an audit that relies on ${name === "one-endpoint" ? "one endpoint's unproven answer" : name}. Set --trust light-client with --beacon and --checkpoint, --trust endpoints:N with several endpoints in --rpc, or --trust own-node for a node that you run.`,
  );
}

async function sign(
  folder: StatementFolder,
  { userCount, rootCount, codeHash = "", findings, evidence }: AuditReport,
  { chainId, contract }: { chainId: number; contract: string },
  signer: AuditorSigner,
  source: StatementSource,
): Promise<Outcome | undefined> {
  // The source of the chain's data is false or incomplete.
  if (findings.isChainDamaged) return undefined;
  const damaged = [...findings.damagedRoots].map(([root, codes]) => ({ root, codes: [...codes].sort() }));
  const statement: Statement = {
    ...{ chainId, contract: contract.toLowerCase(), codeHash, block: evidence.block, userCount, rootCount },
    damagedCount: damaged.length,
    damagedRoots: damaged.sort((a, b) => (a.root < b.root ? -1 : 1)).slice(0, MAX_DAMAGED_ROOTS),
  };
  await folder.sign(statement, signer, source);
  const roots = damaged.length === 0 ? "" : ` The statement lists ${plural(damaged.length, "damaged root")}.`;
  return {
    json: { statement, auditor: signer.key.text, ...source },
    text: `${style("success", "Signed")} by ${signer.key.name} for block ${evidence.block.number}. Source of the block: ${source.source}.${roots}`,
  };
}

/** `keyroot audit --compare`: compares other auditors' statements with the auditor's own statements. */
export async function compareWithOthers({ compare = "", statements, auditors, allowHttp }: Args): Promise<Outcome> {
  if (statements === undefined || auditors === undefined)
    throw invalid(
      "--compare needs your own statements and the auditors' keys. Set --statements DIR and --auditors FILE.",
    );
  const urls = compare.split(",").map((url) => checkSourceUrl("compare", url, allowHttp));
  const keys = (await readLines(auditors)).map(parseAuditorKey);
  const folder = new StatementFolder(statements);
  const latest = await folder.read("latest");
  if (latest === undefined) throw invalid(`${statements} contains no statement yet. Make one with --sign.`);
  const limits = { timeoutMs: DEFAULT_LIMITS.timeoutMs, allowHttp };
  const compared: Comparison[] = [];
  // Compare one folder at a time, because several comparisons may add signatures to the same files.
  for (const url of urls) compared.push(await compareStatements(url, { folder, latest, keys, limits }));
  const has = (result: Comparison["result"]) => compared.some((one) => one.result === result);
  process.exitCode =
    has("conflict") || has("differs") ? EXIT.false : has("unavailable") ? EXIT.unavailable : EXIT.success;
  return { json: { agrees: process.exitCode === EXIT.success, compared }, text: compared.map(describe).join("\n") };
}

function describe({ url, result, blockNumber, message, findings, merged }: Comparison): string {
  const { host } = new URL(url);
  switch (result) {
    case "agrees":
      return `${style("success", "Agrees")}: ${host}, block ${blockNumber}, ${plural(merged, "signature")} merged.`;
    case "differs":
      return `${style("notice", "Differs")}: ${host}, block ${blockNumber}. ${message}`;
    case "unavailable":
      return `${style("notice", "Unavailable")}: ${host}: ${message}`;
    case "conflict":
      return findings
        .map((one) => `${style("failure", "Conflict")}: ${one.message} Use --json to print both statements.`)
        .join("\n");
  }
}

function invalid(message: string): ArgumentError {
  return new ArgumentError("ARGUMENT_INVALID", message);
}
