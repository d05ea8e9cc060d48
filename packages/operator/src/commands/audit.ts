import { readdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { ArgumentError } from "../errors.ts";
import { audit, type AuditStage, verdictOf } from "../audit/audit.ts";
import { AuditState } from "../audit/auditState.ts";
import { registryKeyOf } from "../publisher/plan/plan.ts";
import { filesOf, placeOf, ChainAndFiles } from "./chainAndFiles.ts";
import { checkHash } from "./hexOptions.ts";
import { auditJson, describeAudit } from "./auditResult.ts";
import { endpointsOf, openTrustedChain } from "./trust.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import { EXIT } from "./exitCodes.ts";
import type { Host, Outcome } from "./host.ts";
import { printError, printRebuild } from "./output.ts";
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
  checkHash("--code-hash", args.codeHash);
  const [rpc] = endpointsOf(args.rpc);
  const chainAndFiles = await ChainAndFiles.resolve({ ...args, rpc }, host);
  const chain = await openTrustedChain(
    { ...args, ...(sign !== undefined && { defaultBlock: "finalized" as const }) },
    chainAndFiles,
  );
  const { name: trust, storageProof, tag } = chain.source;
  const signing =
    sign === undefined ? undefined : await (await loadSigning()).prepareSigning({ ...args, sign }, chain, host);
  const files = filesOf(args, chainAndFiles);
  if ("dir" in files) await checkFolder("--files", files.dir);
  const place = await placeOf(chainAndFiles);
  const { chainId, contract } = place;
  // Signed audits have a separate state, so that a signed audit never uses data from an audit that relied on one
  // endpoint.
  const file = `${signing === undefined ? "audit" : "signed-audit"}-${registryKeyOf(place)}.sqlite`;
  const path = args.state ?? join(host.root, ".keyroot", file);
  const target = { ...place, keyType: args.keyType };
  using state = await AuditState.open(path, target, { fresh: args.fresh, onRebuild: printRebuild });
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
  const text = describeAudit(report, place);
  return {
    json: { ...auditJson(report, { contract, chainId }), ...(signed && { signed: signed.json }) },
    text: signed === undefined ? text : `${text}\n${signed.text}`,
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
