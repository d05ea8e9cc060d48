import { readdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { LOWERCASE_HASH } from "keyroot/ethereum";
import { describeValue } from "keyroot/input";
import { ArgumentError } from "../errors.ts";
import { audit, type AuditStage, verdictOf } from "../audit/audit.ts";
import type { AuditedContract } from "../audit/readCounts.ts";
import { AuditState } from "../audit/auditState.ts";
import { filesOf, placeOf, Target } from "./target.ts";
import { auditJson, auditPage } from "./auditPage.ts";
import { blockSourceOf } from "./blockSource.ts";
import type { ArgsOf } from "./help.ts";
import { EXIT } from "./exitCodes.ts";
import type { Host, Outcome } from "./host.ts";
import { Progress } from "./progress.ts";
import { compareWithOthers, prepareSigning } from "./signedAudit.ts";

const UNITS: Record<AuditStage, string> = {
  "reading events": "blocks",
  "reading roots": "roots",
  "auditing files": "files",
  "auditing stray files": "files",
};
const EXIT_OF = { passed: EXIT.success, damage: EXIT.false, incomplete: EXIT.unavailable };

/** `keyroot audit`: the whole history against all files, in both directions. */
export default async function runAudit(args: ArgsOf<"audit">, host: Host): Promise<Outcome> {
  if (args.compare !== undefined) return compareWithOthers(args);
  const at = blockOf(args);
  checkHash("--code-hash", args.codeHash);
  const [rpc] = args.rpc?.split(",") ?? [];
  const target = await Target.resolve({ ...args, rpc }, host);
  const findBlock = await blockSourceOf({ ...args, auditors: undefined }, target);
  const signing = await prepareSigning(args, target, host, findBlock);
  const files = filesOf(args, target);
  if ("dir" in files) await checkFolder("--files", files.dir);
  const place = await placeOf(target);
  const { chainId, contract } = place;
  // Signed results never rest on data that an audit of one endpoint saved.
  const name = `${signing === undefined ? "audit" : "signed-audit"}-${chainId}-${place.genesisHash.slice(2, 10)}-${contract}.sqlite`;
  const path = args.state ?? join(host.root, ".keyroot", name);
  using state = await AuditState.open(path, place, { fresh: args.fresh });
  using progress = new Progress();
  const report = await audit({
    call: signing?.call ?? target.call,
    contract,
    chainId,
    codeHash: args.codeHash,
    at: signing?.at ?? (await findBlock?.()) ?? at,
    storageProof: args.storageProof || signing !== undefined || findBlock !== undefined,
    skipKnownFiles: signing !== undefined,
    files,
    workers: args.workers === 0 ? availableParallelism() : args.workers,
    state,
    onProgress: (stage, done, total) => {
      progress.update(stage, done, total, UNITS[stage]);
    },
  });
  const verdict = verdictOf(report);
  process.exitCode = EXIT_OF[verdict];
  const signed = verdict === "passed" ? await signing?.sign(report, place) : undefined;
  const text = auditPage(report, place);
  return {
    json: { ...auditJson(report, { contract, chainId }), ...(signed && { signed: signed.json }) },
    text: signed === undefined ? text : `${text}\n${signed.text}`,
  };
}

function blockOf({ pinned, block }: ArgsOf<"audit">): AuditedContract["at"] {
  checkHash("--pinned", pinned);
  return pinned === undefined ? (block ?? "latest") : { blockHash: pinned };
}

/** @throws ArgumentError FILE_UNREADABLE */
async function checkFolder(option: string, dir: string): Promise<void> {
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
