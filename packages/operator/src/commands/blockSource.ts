/** The options for a trusted source of the block. The source is a light client or auditors. */
import type { AuditorsOption } from "keyroot/auditors";
import type { BeaconOptions } from "keyroot/beacon";
import { ArgumentError } from "keyroot/errors";
import { LOWERCASE_HASH } from "keyroot/ethereum";
import { describeValue } from "keyroot/input";
import { DEFAULT_LIMITS } from "keyroot/transport";
import { type Evidence, makeSource } from "keyroot/verifier";
import type { ChainAndFiles } from "./chainAndFiles.ts";

interface SourceArguments {
  beacon?: string | undefined;
  checkpoint?: string | undefined;
  beaconNetwork?: "mainnet" | "sepolia" | "hoodi" | "gnosis" | "test" | undefined;
  maxCheckpointAge?: number | undefined;
  auditors?: string | undefined;
  threshold?: number | undefined;
  statementUrls?: string | undefined;
}

/** A block that was proven without trust in the endpoint. */
export interface TrustedBlock {
  /** The block hash: 0x and 64 lowercase hex digits. */
  blockHash: string;
  anchor: Evidence["anchor"];
}

const DAY_MS = 86_400_000;

/**
 * Returns the verifier option `beacon`, and loads the library's light client.
 * @returns undefined without `--beacon`
 * @throws ArgumentError ARGUMENT_INVALID
 */
export async function beaconOptionOf(args: SourceArguments): Promise<BeaconOptions | undefined> {
  const { beacon, checkpoint, beaconNetwork, maxCheckpointAge } = args;
  if (beacon === undefined) {
    const given = checkpoint ?? beaconNetwork ?? maxCheckpointAge;
    if (given === undefined) return undefined;
    throw new ArgumentError("ARGUMENT_INVALID", "The options of a light client need an endpoint. Set --beacon URL.");
  }
  await import("keyroot/beacon");
  return { urls: beacon.split(","), ...lightClientOptionsOf(args) };
}

/**
 * Returns the trusted checkpoint, with the checkpoint's network and maximum age.
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function lightClientOptionsOf({
  checkpoint,
  beaconNetwork,
  maxCheckpointAge,
}: SourceArguments): Omit<BeaconOptions, "urls" | "store"> {
  return {
    checkpoint: checkCheckpoint(checkpoint),
    // The test network is the default for the test chain, and is not used with other chains.
    network: beaconNetwork === "test" ? undefined : beaconNetwork,
    maxCheckpointAgeMs: maxCheckpointAge === undefined ? undefined : maxCheckpointAge * DAY_MS,
  };
}

/** Checks and returns the value of --checkpoint. @throws ArgumentError ARGUMENT_INVALID */
function checkCheckpoint(checkpoint: string | undefined): string {
  if (checkpoint !== undefined && LOWERCASE_HASH.test(checkpoint)) return checkpoint;
  const form = "the root of a beacon block: 0x and 64 lowercase hex digits";
  const message =
    checkpoint === undefined
      ? `The checkpoint is missing. Set --checkpoint to ${form}.`
      : `--checkpoint must be ${form}, not ${describeValue(checkpoint)}.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

/**
 * Returns the verifier option `auditors`, and loads the library's code for statements.
 * @returns undefined without `--auditors`
 * @throws ArgumentError ARGUMENT_INVALID, FILE_UNREADABLE
 */
export async function auditorsOptionOf(args: SourceArguments): Promise<AuditorsOption | undefined> {
  const { auditors, threshold, statementUrls } = args;
  if (auditors === undefined && threshold === undefined && statementUrls === undefined) return undefined;
  if (auditors === undefined || threshold === undefined || statementUrls === undefined) {
    const message =
      "The auditors' keys, threshold and folders are needed together. Set --auditors FILE, --threshold N and --statement-urls URLS.";
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
  await import("keyroot/auditors");
  const { readLines } = await import("./inputFiles.ts");
  return { keys: await readLines(auditors), threshold, urls: statementUrls.split(",") };
}

/**
 * Returns a function that finds the newest block that the light client or the auditors prove. Each call of the returned
 * function searches again.
 * @returns undefined if neither `--beacon` nor `--auditors` is set
 * @throws ArgumentError ARGUMENT_INVALID
 */
export async function blockSourceOf(
  args: SourceArguments,
  chainAndFiles: ChainAndFiles,
): Promise<(() => Promise<TrustedBlock>) | undefined> {
  const [beacon, auditors] = [await beaconOptionOf(args), await auditorsOptionOf(args)];
  if (beacon === undefined && auditors === undefined) return undefined;
  const place = {
    chainId: chainAndFiles.chainId,
    contract: chainAndFiles.contract,
    allowHttp: chainAndFiles.allowHttp,
  };
  const source = beacon === undefined ? makeSource("auditors", auditors, place) : makeSource("beacon", beacon, place);
  return async () => {
    const http = { timeoutMs: DEFAULT_LIMITS.timeoutMs, allowHttp: chainAndFiles.allowHttp };
    // Use new objects for each call, because a source keeps one block per request.
    const { hash, anchor } = await source.find({ calls: [chainAndFiles.call], tag: "finalized", http, now: Date.now });
    return { blockHash: hash, anchor };
  };
}
