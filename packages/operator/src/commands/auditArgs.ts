import { resolve } from "node:path";
import type { FileSource } from "../audit/fileSource.ts";
import type { AuditTarget } from "../audit/stateFile.ts";
import { describeValue } from "keyroot/input";
import { ArgumentError } from "keyroot/errors";
import { fetchGenesisHash } from "keyroot/ethereum";
import { DEFAULT_LIMITS } from "keyroot/transport";
import type { Target } from "./target.ts";

/** Where the files are: in the folder of `--files`, or else at their host. @throws ArgumentError ARGUMENT_INVALID */
export function filesOf(args: { files: string | undefined; fileBytes: number }, target: Target): FileSource {
  checkCount("--file-bytes", args.fileBytes, 1, 2 ** 31 - 1);
  const limits = { maxBytes: args.fileBytes, timeoutMs: DEFAULT_LIMITS.timeoutMs };
  return args.files === undefined
    ? { merkleUrl: target.merkleUrl, ...limits }
    : { dir: resolve(args.files), ...limits };
}

/** Which contract on which chain, as states are bound to it. @throws VerificationError CHAIN_ID_MISMATCH; TransportError */
export async function placeOf(target: Target): Promise<AuditTarget> {
  const contract = target.contract.toLowerCase();
  const chainId = await target.checkChainId();
  const genesisHash = await fetchGenesisHash(target.call);
  return { chainId, genesisHash, contract };
}

/** The tag of `--block`. @throws ArgumentError ARGUMENT_INVALID */
export function tagOf(block = "latest"): "latest" | "safe" | "finalized" {
  if (block === "latest" || block === "safe" || block === "finalized") return block;
  throw new ArgumentError("ARGUMENT_INVALID", `--block must be latest, safe or finalized: ${describeValue(block)}.`);
}

/** @throws ArgumentError ARGUMENT_INVALID */
export function checkCount(option: string, count: number, least: number, most: number): void {
  if (Number.isSafeInteger(count) && count >= least && count <= most) return;
  throw new ArgumentError("ARGUMENT_INVALID", `${option} must be a whole number from ${least} to ${most}: ${count}.`);
}
