import { readdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { ArgumentError } from "../errors.ts";
import { audit, type AuditStage, verdictOf } from "../audit/audit.ts";
import { AuditState } from "../audit/auditState.ts";
import { mergeParts } from "../audit/mergeParts.ts";
import { MAX_PARTS, parsePart } from "../audit/part.ts";
import { filesOf, placeOf, ChainAndFiles } from "./chainAndFiles.ts";
import { checkHash } from "./hexOptions.ts";
import { auditJson, describeAudit, describePart, partJson } from "./auditResult.ts";
import { endpointsOf, openTrustedChain } from "./trust.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import { EXIT } from "./exitCodes.ts";
import type { Host, Outcome } from "./host.ts";
import { printError } from "./output.ts";
import { Progress } from "./progress.ts";

const UNITS: Record<AuditStage, string> = {
  "reading events": "blocks",
  "reading roots": "roots",
  "auditing files": "files",
  "auditing stray files": "files",
};
/** Loads the code for statements on demand, because the code for statements contains the curve Ed25519. */
const loadSigning = () => import("./signedAudit.ts");
const EXIT_OF = { passed: EXIT.success, damage: EXIT.false, incomplete: EXIT.unavailable };

/** `keyroot audit`: compares the whole history of a registry with all files, in both directions. */
export default async function runAudit(args: ArgsOf<"audit">, host: Host): Promise<Outcome> {
  const { sign, compare } = args;
  if (compare !== undefined) return (await loadSigning()).compareWithOthers(args);
  if (args.mergeParts !== undefined) return mergeFolder(args.mergeParts);
  const part = args.part === undefined ? undefined : parsePart(args.part);
  checkHash("--code-hash", args.codeHash);
  const [rpc] = endpointsOf(args.rpc);
  const chainAndFiles = await ChainAndFiles.resolve({ ...args, rpc }, host);
  const chain = await openTrustedChain(
    { ...args, ...(sign !== undefined && { defaultBlock: "finalized" as const }) },
    chainAndFiles,
  );
  const { name: trust, storageProof, tag } = chain.source;
  if (part !== undefined && trust !== "pinned-block")
    throw new ArgumentError("ARGUMENT_INVALID", "All parts need the same block. Set --trust pinned-block:HASH.");
  const signing =
    sign === undefined ? undefined : await (await loadSigning()).prepareSigning({ ...args, sign }, chain, host);
  const files = filesOf(args, chainAndFiles);
  if ("dir" in files) await checkFolder("--files", files.dir);
  const place = await placeOf(chainAndFiles);
  const { chainId, contract } = place;
  // Signed audits have a separate state, so that a signed audit never uses data from an audit that relied on one
  // endpoint.
  const name = `${signing === undefined ? "audit" : "signed-audit"}-${chainId}-${place.genesisHash.slice(2, 10)}-${contract}`;
  const file = part === undefined ? `${name}.sqlite` : join(`${name}-parts`, `${part.number}-of-${part.count}.sqlite`);
  const path = args.state ?? join(host.root, ".keyroot", file);
  using state = await AuditState.open(path, { ...place, keyType: args.keyType }, { fresh: args.fresh });
  using progress = new Progress({
    onInterrupt: () => {
      printError("Interrupted. There is no verdict yet. To continue, run the same command again.");
    },
  });
  const report = await audit({
    call: chain.call,
    contract,
    chainId,
    codeHash: args.codeHash,
    keyType: await loadKeyType(args.keyType),
    at: signing?.at ?? (trust === "one-endpoint" ? tag : await chain.findBlock()),
    storageProof: storageProof || signing !== undefined,
    skipKnownFiles: args.skipKnownFiles || signing !== undefined,
    part,
    files,
    workers: args.workers === 0 ? availableParallelism() : args.workers,
    state,
    onProgress: (stage, done, total) => {
      progress.update(stage, done, total, UNITS[stage]);
    },
  });
  const verdict = verdictOf(report);
  process.exitCode = EXIT_OF[verdict];
  const signed = verdict === "incomplete" ? undefined : await signing?.sign(report, place);
  const text = describeAudit(report, place, part);
  return {
    json: { ...auditJson(report, { contract, chainId }, part), ...(signed && { signed: signed.json }) },
    text: signed === undefined ? text : `${text}\n${signed.text}`,
  };
}

/** `keyroot audit --merge-parts`: merges the states of all parts into one verdict. */
async function mergeFolder(dir: string): Promise<Outcome> {
  await checkFolder("--merge-parts", dir);
  const names = (await readdir(dir)).filter((name) => name.endsWith(".sqlite")).sort();
  if (names.length > MAX_PARTS) {
    const message = `${dir} has ${names.length} states. The maximum is ${MAX_PARTS}.`;
    throw new ArgumentError("PARTS_INVALID", message);
  }
  const states: AuditState[] = [];
  try {
    for (const name of names) states.push(await AuditState.openExisting(join(dir, name)));
    return outcomeOfMerge(states);
  } finally {
    for (const state of states) state[Symbol.dispose]();
  }
}

function outcomeOfMerge(states: readonly AuditState[]): Outcome {
  const report = mergeParts(states);
  process.exitCode = EXIT_OF[verdictOf(report)];
  const { contract = "", chainId = 0 } = states[0]?.target ?? {};
  return {
    json: { ...auditJson(report, { contract, chainId }), parts: report.parts.map(partJson) },
    text: [describeAudit(report, { contract, chainId }), "", ...report.parts.map(describePart)].join("\n"),
  };
}

/** Checks that a folder can be read. @throws ArgumentError FILE_UNREADABLE */
async function checkFolder(option: string, dir: string): Promise<void> {
  try {
    await readdir(dir);
  } catch (cause) {
    const message = `${option} must be a readable folder. The system reports: ${(cause as Error).message}.`;
    throw new ArgumentError("FILE_UNREADABLE", message, { cause });
  }
}
