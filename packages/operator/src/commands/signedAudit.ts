/** The options of `keyroot audit` that sign and compare statements. */
import { parseAuditorKey, type Statement } from "keyroot/auditors";
import { MAX_DAMAGED_ROOTS } from "keyroot/auditors/protocol";
import { KeyrootError } from "keyroot/errors";
import { fetchBlock, fetchBlockByHash } from "keyroot/ethereum";
import { checkDifferentHosts, checkSourceUrl, DEFAULT_LIMITS, type RpcCall, rpcCaller } from "keyroot/transport";
import type { AuditReport } from "../audit/audit.ts";
import type { AuditedContract } from "../audit/readCounts.ts";
import { type AuditorSigner, openAuditorKeyFile } from "../audit/statements/auditorKeyFile.ts";
import { type Comparison, compareStatements } from "../audit/statements/compareStatements.ts";
import { quorumCall, quorumHead } from "../audit/statements/quorumCall.ts";
import { StatementFolder, type StatementSource } from "../audit/statements/statementFolder.ts";
import { ArgumentError, TransportError } from "../errors.ts";
import { EXIT } from "./exitCodes.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import { repeatingCaller } from "../rpc/repeatReads.ts";
import type { Host, Outcome } from "./host.ts";
import type { TrustedBlock } from "./blockSource.ts";
import { readLines } from "./inputFiles.ts";
import { plural } from "../plural.ts";
import { style } from "./output.ts";
import type { ChainAndFiles } from "./chainAndFiles.ts";

type Args = ArgsOf<"audit">;

/** The settings of an audit with a signed result. */
export interface Signing {
  /** Sends each call to the source that the auditor has chosen. */
  call: RpcCall;
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
 * @param findBlock finds the light client's block. Undefined without `--beacon`
 * @throws ArgumentError ARGUMENT_INVALID, and the errors of `openAuditorKeyFile`; TransportError, VerificationError
 * QUORUM_NOT_REACHED
 */
export async function prepareSigning(
  args: Args & { sign: string },
  chainAndFiles: ChainAndFiles,
  host: Host,
  findBlock: (() => Promise<TrustedBlock>) | undefined,
): Promise<Signing> {
  const { sign: keyFile, statements, interval } = args;
  if (statements === undefined) throw invalid("--sign needs the folder of statements. Set --statements DIR.");
  if (args.codeHash === undefined) throw invalid("--sign needs the hash of the contract's code. Set --code-hash HASH.");
  const { calls, quorum, ...source } = sourceOf(args, chainAndFiles);
  const signer = await openAuditorKeyFile(keyFile, host.environment);
  const call = quorum === undefined ? chainAndFiles.call : quorumCall(calls, quorum);
  const hash =
    findBlock === undefined
      ? (await fetchBlock(call, lastMultiple(await finalizedNumber(calls, quorum ?? 1), interval))).hash
      : await findAncestor(call, (await findBlock()).blockHash, interval);
  const folder = new StatementFolder(statements);
  return {
    call,
    at: { blockHash: hash, anchor: source.anchor },
    sign: (report, place) => sign(folder, report, place, signer, { source: source.source }),
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

interface ChosenSource extends Pick<StatementSource, "source"> {
  calls: readonly RpcCall[];
  quorum: number | undefined;
  anchor: "endpoint" | "quorum" | "light-client" | "beacon";
}

/** Returns the source of the chain's data, as the auditor's options declare it. @throws ArgumentError ARGUMENT_INVALID */
function sourceOf({ rpc, quorum, ownNode, lightClient, beacon }: Args, chainAndFiles: ChainAndFiles): ChosenSource {
  if ([quorum !== undefined, ownNode, lightClient, beacon !== undefined].filter(Boolean).length !== 1) {
    throw invalid(
      "--sign does not sign an audit that relies on one endpoint's unproven answer. Set one of these: --beacon with --checkpoint, --quorum with several endpoints in --rpc, --own-node for your own node, or --light-client for a light client.",
    );
  }
  const own = { calls: [chainAndFiles.call], quorum: undefined };
  if (ownNode) return { ...own, anchor: "endpoint", source: "own node" };
  if (lightClient) return { ...own, anchor: "light-client", source: "light client" };
  if (beacon !== undefined) return { ...own, anchor: "beacon", source: "light client" };
  const urls = rpc?.split(",") ?? [];
  const least = Math.max(2, Math.floor(urls.length / 2) + 1);
  if (quorum === undefined || quorum < least || quorum > urls.length)
    throw invalid(
      `--quorum must be from ${least} to ${Math.max(least, urls.length)}, which is more than half of the endpoints in --rpc.`,
    );
  const { rpcBytes: maxBytes, timeoutMs } = DEFAULT_LIMITS;
  checkDifferentHosts(urls.map((url) => checkSourceUrl("rpc", url, chainAndFiles.allowHttp)));
  const { allowHttp } = chainAndFiles;
  const calls = urls.map((url) => repeatingCaller(rpcCaller(url, { maxBytes, timeoutMs, allowHttp })));
  return { calls, quorum, anchor: "quorum", source: `${quorum} of ${urls.length} endpoints` };
}

/** @throws TransportError QUORUM_NOT_REACHED if too few endpoints have a finalized block */
async function finalizedNumber(calls: readonly RpcCall[], quorum: number): Promise<number> {
  const read = async (call: RpcCall) => {
    try {
      return [(await fetchBlock(call, "finalized")).number];
    } catch (error) {
      if (error instanceof KeyrootError && calls.length > 1) return [];
      throw error;
    }
  };
  const number = quorumHead((await Promise.all(calls.map(read))).flat(), quorum);
  if (number !== undefined) return number;
  throw new TransportError(
    "QUORUM_NOT_REACHED",
    `Fewer than ${quorum} endpoints have a finalized block. Use other endpoints.`,
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
