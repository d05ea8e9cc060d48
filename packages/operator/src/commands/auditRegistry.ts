/** What `audit` and `sign-statement` share: an audit with the options of a command. */
import { readdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { audit, type AuditReport, type AuditStage, verdictOf } from "../audit/audit.ts";
import { AuditState } from "../audit/auditState.ts";
import type { AuditedContract } from "../follow/index.ts";
import type { KeyTypeName } from "keyroot/internal/identity";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { ArgumentError, argumentInvalid } from "../errors.ts";
import { registryKeyOf } from "../publisher/plan/plan.ts";
import { ChainAndFiles, type ChainAndFilesArgs, filesOf, placeOf } from "./chainAndFiles.ts";
import { EXIT } from "./exitCodes.ts";
import { checkHash } from "./hexOptions.ts";
import type { Host } from "./host.ts";
import { printError, printRebuild } from "./output.ts";
import { Progress } from "./progress.ts";
import { endpointsOf, openTrustedChain, type TrustArguments, type TrustedChain } from "./trust.ts";

const UNITS: Record<AuditStage, string> = {
  "reading events": "blocks",
  "reading roots": "roots",
  "auditing files": "files",
  "auditing stray files": "files",
  "auditing accounts": "users",
};
/** The maximum number of threads, because each one needs memory. */
const MAX_THREADS = 16;
const EXIT_OF = { passed: EXIT.success, damage: EXIT.false, incomplete: EXIT.unavailable };

interface Args extends TrustArguments, Omit<ChainAndFilesArgs, "rpc"> {
  files: string | undefined;
  merkleUrl: string | undefined;
  codeHash: string | undefined;
  state: string | undefined;
  keyType: KeyTypeName;
}

interface Settings {
  /** The beginning of the name of the default state file. */
  stateName: string;
  skipKnownFiles: boolean;
  /** Whether the audit also compares records with account files. Default: false. */
  accounts?: boolean;
  /**
   * Chooses the block for an audit whose result is signed. With this function, the audit proves the number of users
   * with storage proofs, whatever its source is. Default: the newest block of the source, for an unsigned audit.
   */
  findBlock?: (chain: TrustedChain) => Promise<AuditedContract["at"]>;
}

/**
 * Audits a registry, and sets the exit code.
 * @throws ArgumentError, TransportError, VerificationError
 */
export async function auditRegistry(
  args: Args,
  host: Host,
  { stateName, skipKnownFiles, accounts = false, findBlock }: Settings,
): Promise<{ report: AuditReport; place: { chainId: number; contract: string } }> {
  checkHash("--code-hash", args.codeHash);
  if (args.trust === "auditors")
    throw argumentInvalid("An audit relies on no other auditor. Use another choice of --trust than auditors.");
  using chainAndFiles = await ChainAndFiles.resolve({ ...args, rpc: endpointsOf(args.rpc) }, host);
  const chain = await openTrustedChain(args, chainAndFiles);
  const { name: trust, storageProof, tag } = chain.source;
  const files = filesOf(args, chainAndFiles);
  if ("dir" in files) await checkFolder("--files", files.dir);
  const signedAt = await findBlock?.(chain);
  const place = await placeOf(chainAndFiles, chain.call);
  const { chainId, contract } = place;
  // Each key type has its own state file. An audit that was started with the wrong type therefore cannot break the next
  // audit with the right type.
  const name = [stateName, registryKeyOf(place), args.keyType].join("-");
  const path = args.state ?? join(host.root, ".keyroot", `${name}.sqlite`);
  using state = await AuditState.open(path, { ...place, keyType: args.keyType }, { onRebuild: printRebuild });
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
    at: signedAt ?? (trust === "one-endpoint" ? tag : await chain.findBlock()),
    storageProof: storageProof || signedAt !== undefined,
    skipKnownFiles,
    accounts,
    files,
    workers: Math.min(availableParallelism(), MAX_THREADS),
    state,
    onProgress: (stage, done, total) => {
      progress.update(stage, done, total, UNITS[stage]);
    },
  });
  process.exitCode = EXIT_OF[verdictOf(report)];
  return { report, place: { chainId, contract } };
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
