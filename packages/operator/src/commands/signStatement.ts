import type { Statement } from "keyroot/auditors";
import type { BlockHeader } from "keyroot/internal/ethereum";
import type { RpcCall } from "keyroot/internal/transport";
import type { BlockSource } from "keyroot/internal/verifier";
import type { AuditReport } from "../audit/audit.ts";
import type { AuditorSigner } from "../audit/statements/auditorKeyFile.ts";
import type { StatementFolder } from "../audit/statements/statementFolder.ts";
import { argumentInvalid, VerificationError } from "../errors.ts";
import { plural } from "../plural.ts";
import { command, integer, json, text } from "./defineCommand.ts";
import type { Outcome } from "./host.ts";
import {
  auditedFiles,
  auditedNeeds,
  auditState,
  chainWithTrust,
  codeHash,
  keyType,
  merkleUrl,
  statementFolder,
  trustWithoutAuditors,
} from "./options.ts";
import { style } from "./output.ts";

export const signStatement = command(
  {
    summary: "Audit a registry at a finalized block, and sign the result as a statement",
    needs: auditedNeeds,
    options: {
      key: text("file", "File with the encrypted key of the auditor who signs", { required: true }),
      statements: statementFolder,
      interval: integer("blocks", "Number of blocks between two statements", { min: 1, default: 300 }),
      files: auditedFiles(". The audit then also covers stray files"),
      ...trustWithoutAuditors,
      codeHash: { ...codeHash, required: true },
      keyType,
      state: auditState,
      ...chainWithTrust,
      merkleUrl,
      json,
    },
  },
  async (args, host) => {
    const { openAuditorKeyFile } = await import("../audit/statements/auditorKeyFile.ts");
    const { StatementFolder } = await import("../audit/statements/statementFolder.ts");
    const { verdictOf } = await import("../audit/audit.ts");
    const { auditRegistry } = await import("./auditRegistry.ts");
    const { auditJson, describeAudit } = await import("./auditResult.ts");
    const { endpointsOf } = await import("./trust.ts");
    let source: string | undefined;
    let signer: AuditorSigner | undefined;
    let number: number | undefined;
    const { report, place } = await auditRegistry({ ...args, defaultBlock: "finalized" }, host, {
      // A signed audit has its own state. With a shared state, it could use data from an audit that trusted a single
      // endpoint.
      stateName: "signed-audit",
      skipKnownFiles: true,
      findBlock: async (chain) => {
        source = describeSigned(chain.source, endpointsOf(args.rpc).length);
        signer = await openAuditorKeyFile(args.key, host.environment);
        const found = await chain.findBlock();
        const block = await findAncestor(chain.call, found.blockHash, args.interval);
        ({ number } = block);
        return { ...found, blockHash: block.hash };
      },
    }).catch((error: unknown) => {
      throw nameBlock(error, number, args.interval);
    });
    const signed =
      verdictOf(report) === "incomplete" || source === undefined || signer === undefined
        ? undefined
        : await sign(new StatementFolder(args.statements), report, place, signer, source);
    const text = describeAudit(report, place);
    return {
      json: { ...auditJson(report, place), ...(signed && { signed: signed.json }) },
      text: signed === undefined ? text : `${text}\n${signed.text}`,
    };
  },
);

/**
 * Returns the newest block, up to the given block, whose number is a multiple of the interval. It reads one parent after
 * the other.
 */
async function findAncestor(call: RpcCall, hash: string, interval: number): Promise<BlockHeader> {
  const { fetchBlockByHash } = await import("keyroot/internal/ethereum");
  let block = await fetchBlockByHash(call, hash);
  const number = block.number - (block.number % interval);
  while (block.number > number) block = await fetchBlockByHash(call, block.parentHash);
  return block;
}

/** Names the audited block in the error for a missing contract, which may be newer than this block. */
function nameBlock(error: unknown, number: number | undefined, interval: number): unknown {
  if (!(error instanceof VerificationError && error.code === "NO_CONTRACT") || number === undefined) return error;
  const message = `The address has no registry in block ${number}, the newest finalized block whose number is a multiple of --interval ${interval}. If the registry is newer than this block, wait until block ${number + interval} is final, or set a smaller --interval, which all auditors must share. Otherwise, check --contract.`;
  return new VerificationError("root", "NO_CONTRACT", message, { actual: error.actual, cause: error });
}

/** Describes the source of the block in a statement's description. @throws ArgumentError ARGUMENT_INVALID */
function describeSigned({ name, required = 0 }: BlockSource, count: number): string {
  if (name === "light-client") return "light client";
  if (name === "own-node") return "own node";
  if (name === "endpoints") {
    const least = Math.max(2, Math.floor(count / 2) + 1);
    if (required >= least) return `${required} of ${count} endpoints`;
    throw argumentInvalid(
      `A signed statement needs --trust endpoints:${least} or more, which is more than half of the endpoints in --rpc.`,
    );
  }
  throw argumentInvalid(
    `The command signs no audit that relies on ${name === "one-endpoint" ? "one endpoint's unproven answer" : name}. Set --trust light-client with --beacon and --checkpoint, --trust endpoints:N with several endpoints in --rpc, or --trust own-node for a node that you run.`,
  );
}

async function sign(
  folder: StatementFolder,
  { userCount, rootCount, codeHash = "", findings, evidence }: AuditReport,
  { chainId, contract }: { chainId: number; contract: string },
  signer: AuditorSigner,
  source: string,
): Promise<Outcome | undefined> {
  const { MAX_DAMAGED_ROOTS } = await import("keyroot/internal/auditors");
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
    json: { statement, auditor: signer.key.text, source },
    text: `${style("success", "Signed")} by ${signer.key.name} for block ${evidence.block.number}. Source of the block: ${source}.${roots}`,
  };
}
