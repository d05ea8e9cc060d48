import { availableParallelism } from "node:os";
import { join } from "node:path";
import { describeValue } from "keyroot/input";
import { ArgumentError } from "keyroot/errors";
import { audit, verdictOf } from "../audit/audit.ts";
import type { AuditedContract } from "../audit/readCounts.ts";
import { AuditState } from "../audit/auditState.ts";
import { checkCount, filesOf, placeOf, tagOf } from "./auditArgs.ts";
import { auditJson, auditPage } from "./auditPage.ts";
import { command } from "./command.ts";
import { EXIT } from "./exitCodes.ts";
import { Progress } from "./progress.ts";
import { Target, type TargetArgs } from "./target.ts";

interface Args extends TargetArgs {
  files: string | undefined;
  blockHash: string | undefined;
  block: string | undefined;
  proof: boolean;
  codeHash: string | undefined;
  state: string | undefined;
  fresh: boolean;
  workers: number;
  fileBytes: number;
  json: boolean;
}

const EXIT_OF = { passed: EXIT.done, damage: EXIT.false, incomplete: EXIT.noAnswer };
/** More threads than any machine has cores would only take its memory. */
const MAX_WORKERS = 256;

/** `keyroot audit`: the whole history against all files, both ways. */
export default command(async (args: Args, hre) => {
  const at = blockOf(args);
  checkForm("--code-hash", args.codeHash);
  checkCount("--workers", args.workers, 0, MAX_WORKERS);
  const target = await Target.resolve(args, hre);
  const { call } = target;
  const files = filesOf(args, target);
  const place = await placeOf(target);
  const { chainId, contract } = place;
  const name = `audit-${chainId}-${place.genesisHash.slice(2, 10)}-${contract}`;
  const [path, oldPath] = [".sqlite", ".json"].map((end) => join(hre.config.paths.root, ".keyroot", name + end));
  using state = await AuditState.open(args.state ?? path ?? name, place, {
    fresh: args.fresh,
    importFrom: args.state === undefined ? oldPath : undefined,
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
      progress.update(stage, done, total, stage === "reading events" ? "blocks" : "roots");
    },
  });
  process.exitCode = EXIT_OF[verdictOf(report)];
  return { json: auditJson(report, { contract, chainId }), text: auditPage(report, { contract, chainId }) };
});

function blockOf({ blockHash, block }: Args): AuditedContract["at"] {
  if (blockHash !== undefined && block !== undefined) {
    throw new ArgumentError("ARGUMENT_INVALID", "--block and --block-hash each name a block: give one.");
  }
  checkForm("--block-hash", blockHash);
  return blockHash === undefined ? tagOf(block) : { blockHash };
}

function checkForm(option: string, hash: string | undefined): void {
  if (hash === undefined || /^0x[0-9a-f]{64}$/.test(hash)) return;
  const message = `${option} must be 0x and 64 hex digits in lower case: ${describeValue(hash)}.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}
