import { readdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { ArgumentError } from "keyroot/errors";
import { LOWERCASE_HASH } from "keyroot/ethereum";
import { describeValue } from "keyroot/input";
import { audit, type AuditStage, verdictOf } from "../audit/audit.ts";
import type { AuditedContract } from "../audit/readCounts.ts";
import { AuditState } from "../audit/auditState.ts";
import { filesOf, placeOf } from "./auditArgs.ts";
import { auditJson, auditPage } from "./auditPage.ts";
import type { ArgsOf } from "./definitions.ts";
import { EXIT } from "./exitCodes.ts";
import type { Host, Outcome } from "./host.ts";
import { Progress } from "./progress.ts";
import { Target } from "./target.ts";

const UNITS: Record<AuditStage, string> = {
  "reading events": "blocks",
  "reading roots": "roots",
  "auditing files": "files",
  "auditing stray files": "files",
};
const EXIT_OF = { passed: EXIT.success, damage: EXIT.false, incomplete: EXIT.unavailable };

/** `keyroot audit`: the whole history against all files, in both directions. */
export default async function runAudit(args: ArgsOf<"audit">, host: Host): Promise<Outcome> {
  const at = blockOf(args);
  checkHash("--code-hash", args.codeHash);
  await checkFolder("--files", args.files);
  const target = await Target.resolve(args, host);
  const { call } = target;
  const files = filesOf(args, target);
  const place = await placeOf(target);
  const { chainId, contract } = place;
  const path = join(host.root, ".keyroot", `audit-${chainId}-${place.genesisHash.slice(2, 10)}-${contract}`);
  using state = await AuditState.open(args.state ?? `${path}.sqlite`, place, {
    fresh: args.fresh,
    // Versions before 0.1 kept their state in JSON.
    importFrom: args.state === undefined ? `${path}.json` : undefined,
  });
  using progress = new Progress();
  const report = await audit({
    call,
    contract,
    chainId,
    codeHash: args.codeHash,
    at,
    storageProof: args.proof,
    files,
    workers: args.workers === 0 ? availableParallelism() : args.workers,
    state,
    onProgress: (stage, done, total) => {
      progress.update(stage, done, total, UNITS[stage]);
    },
  });
  process.exitCode = EXIT_OF[verdictOf(report)];
  return { json: auditJson(report, { contract, chainId }), text: auditPage(report, { contract, chainId }) };
}

function blockOf({ blockHash, block }: ArgsOf<"audit">): AuditedContract["at"] {
  if (blockHash !== undefined && block !== undefined) {
    throw new ArgumentError("ARGUMENT_INVALID", "--block and --block-hash both name a block. Use one of them.");
  }
  checkHash("--block-hash", blockHash);
  return blockHash === undefined ? (block ?? "latest") : { blockHash };
}

/** @throws ArgumentError FILE_UNREADABLE */
async function checkFolder(option: string, dir: string | undefined): Promise<void> {
  if (dir === undefined) return;
  try {
    await readdir(dir);
  } catch (cause) {
    const message = `${option} must be a folder that can be read: ${(cause as Error).message}.`;
    throw new ArgumentError("FILE_UNREADABLE", message, { cause });
  }
}

function checkHash(option: string, hash: string | undefined): void {
  if (hash === undefined || LOWERCASE_HASH.test(hash)) return;
  const message = `${option} must be 0x and 64 lowercase hex digits, not ${describeValue(hash)}.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}
