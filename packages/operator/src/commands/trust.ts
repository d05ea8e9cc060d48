/** The option `--trust` and its settings: what a command trusts for the block at which it reads the chain. */
import { endpoints, oneEndpoint, ownNode, pinnedBlock, type Trust } from "keyroot";
import type { AuditorsOptions } from "keyroot/auditors";
import { argumentInvalid } from "../errors.ts";
import { LOWERCASE_HASH } from "keyroot/internal/ethereum";
import { describeValue } from "keyroot/internal/input";
import type { LightClientOptions } from "keyroot/light-client";
import { checkDifferentHosts, checkSourceUrl, DEFAULT_LIMITS } from "keyroot/internal/transport";
import type { RpcCall } from "keyroot/internal/transport";
import { type BlockSource, type Evidence, openTrust } from "keyroot/internal/verifier";
import { Quorum } from "keyroot/internal/auditors";
import { quorumCall } from "../audit/statements/quorumCall.ts";
import { openEndpoint } from "../rpc/openEndpoint.ts";
import type { ChainAndFiles } from "./chainAndFiles.ts";
import { readLines } from "./inputFiles.ts";

/** The settings of `--trust`. A command may have only some of them. */
interface TrustSettings {
  rpc?: string | undefined;
  block?: BlockSource["tag"] | undefined;
  /** The block to read if `block` is undefined. Default: `latest`. */
  defaultBlock?: BlockSource["tag"] | undefined;
  maxAge?: number | undefined;
  beacon?: string | undefined;
  checkpoint?: string | undefined;
  auditors?: string | undefined;
  threshold?: number | undefined;
  statementUrls?: string | undefined;
}

export interface TrustArguments extends TrustSettings {
  trust: string;
}

/** A choice of `--trust`. The options' definitions (`onlyWith`) refuse the settings of other choices. */
interface Choice {
  /** The name of the value after the colon, such as `N` in `endpoints:N`. */
  value?: string;
  make: (args: TrustArguments, value: string) => Trust | Promise<Trust>;
}

/** All choices. The keys are the names that `Evidence` uses. To add a source, add one row. */
const CHOICES: Readonly<Record<BlockSource["name"], Choice>> = {
  "one-endpoint": { make: (args) => oneEndpoint(blockOf(args)) },
  endpoints: {
    value: "N",
    make: (args, value) => endpoints({ ...blockOf(args), required: countOf(value) }),
  },
  "own-node": { make: (args) => ownNode(blockOf(args)) },
  "pinned-block": { value: "HASH", make: (_, value) => pinnedBlock(hashOf(value)) },
  "light-client": {
    make: async (args) => {
      const { lightClient } = await import("keyroot/light-client");
      return lightClient({ ...lightClientOf(args), maxAgeMs: msOf(args.maxAge) });
    },
  },
  auditors: {
    make: async (args) => {
      // The curve Ed25519 is loaded only for auditors.
      const { auditors } = await import("keyroot/auditors");
      return auditors({ ...(await auditorsOf(args)), maxAgeMs: msOf(args.maxAge) });
    },
  },
};

const FORMS = Object.entries(CHOICES).map(([name, { value }]) => (value === undefined ? name : `${name}:${value}`));

/**
 * Returns the trust that `--trust` selects. If this trust asks only one endpoint, a list of endpoints in `--rpc` is
 * rejected.
 * @throws ArgumentError ARGUMENT_INVALID, AUDITOR_KEY_INVALID, FILE_UNREADABLE
 */
export async function trustOf(args: TrustArguments): Promise<Trust> {
  const { trust: given } = args;
  const [name = "", ...rest] = given.split(":");
  const choice = new Map<string, Choice>(Object.entries(CHOICES)).get(name);
  if (choice === undefined || (choice.value === undefined) !== (rest.length === 0))
    throw argumentInvalid(
      `--trust must be ${FORMS.slice(0, -1).join(", ")} or ${FORMS.at(-1)}, not ${describeValue(given)}.`,
    );
  const count = endpointsOf(args.rpc).length;
  if (count > 1 && name !== "endpoints")
    throw argumentInvalid(
      `--trust ${name} asks one endpoint, but --rpc contains ${count}. Set one URL, or --trust endpoints:N for N endpoints that agree.`,
    );
  return choice.make(args, rest.join(":"));
}

/** A chain that a command reads with the trust that its user chose. */
export interface TrustedChain {
  source: BlockSource;
  /**
   * Sends a call to the endpoint. With `--trust endpoints:N`, the call is sent to all endpoints, and N of them must
   * give the same answer.
   */
  call: RpcCall;
  /** Finds the newest block of the source. Each call searches again. */
  findBlock: () => Promise<TrustedBlock>;
}

export interface TrustedBlock {
  /** The block hash: 0x and 64 lowercase hex digits. */
  blockHash: string;
  source: Evidence["source"];
  details?: Evidence["details"];
}

/** Opens the chain of a command with the choice of `--trust`. @throws ArgumentError as `trustOf` */
export async function openTrustedChain(args: TrustArguments, chainAndFiles: ChainAndFiles): Promise<TrustedChain> {
  const { allowHttp } = chainAndFiles;
  // Not every source needs `--chain-id`, so the source reads it itself.
  const source = openTrust(await trustOf(args), chainAndFiles);
  const { name, required, tag } = source;
  const calls = required === undefined ? [chainAndFiles.call] : callsOf(args, required, chainAndFiles);
  return {
    source,
    call: required === undefined ? chainAndFiles.call : quorumCall(calls, required),
    findBlock: async () => {
      const http = { timeoutMs: DEFAULT_LIMITS.timeoutMs, allowHttp };
      // Use new objects for each call, because a source keeps one block per request.
      const quorum = required === undefined ? undefined : new Quorum(calls, required);
      const { hash, details } = await source.findBlock({ calls: [...calls], quorum, tag, http, now: Date.now });
      return { blockHash: hash, source: name, ...(details && { details }) };
    },
  };
}

/** Returns the functions that call the endpoints of `--trust endpoints:N`. @throws ArgumentError ARGUMENT_INVALID */
function callsOf({ rpc }: TrustArguments, required: number, { allowHttp, retry, signal }: ChainAndFiles): RpcCall[] {
  const urls = endpointsOf(rpc);
  if (urls.length < required)
    throw argumentInvalid(
      `--trust endpoints:${required} needs at least ${required} endpoints, separated by commas in --rpc, but there ${urls.length === 1 ? "is 1" : `are ${urls.length}`}.`,
    );
  checkDifferentHosts(urls.map((url) => checkSourceUrl("rpc", url, allowHttp)));
  return urls.map((url) => openEndpoint(url, { allowHttp, retry, signal }));
}

export function endpointsOf(rpc: string | undefined): string[] {
  return rpc?.split(",") ?? [];
}

/** Returns the settings of `light-client`. @throws ArgumentError ARGUMENT_INVALID */
export function lightClientOf(args: TrustSettings): LightClientOptions {
  if (args.beacon === undefined) throw argumentInvalid("The light client needs an endpoint. Set --beacon URL.");
  return { urls: args.beacon.split(","), checkpoint: checkpointOf(args) };
}

/** Returns the trusted checkpoint. @throws ArgumentError ARGUMENT_INVALID */
export function checkpointOf({ checkpoint }: TrustSettings): string {
  if (checkpoint !== undefined && LOWERCASE_HASH.test(checkpoint)) return checkpoint;
  const form = "the root of a beacon block: 0x and 64 lowercase hex digits";
  throw argumentInvalid(
    checkpoint === undefined
      ? `The checkpoint is missing. Set --checkpoint to ${form}.`
      : `--checkpoint must be ${form}, not ${describeValue(checkpoint)}.`,
  );
}

/** Returns the settings of `auditors`. @throws ArgumentError ARGUMENT_INVALID, FILE_UNREADABLE */
export async function auditorsOf(args: TrustSettings, needsUrls = true): Promise<AuditorsOptions> {
  const { auditors: file, threshold, statementUrls } = args;
  if (file === undefined || threshold === undefined || (needsUrls && statementUrls === undefined)) {
    const folders = needsUrls ? " and --statement-urls URLS" : "";
    throw argumentInvalid(`The auditors' settings are needed together. Set --auditors FILE, --threshold N${folders}.`);
  }
  return { keys: await readLines(file), threshold, ...(needsUrls && { urls: statementUrls?.split(",") ?? [] }) };
}

function blockOf({ defaultBlock, block = defaultBlock, maxAge }: TrustSettings): {
  block?: BlockSource["tag"];
  maxAgeMs?: number | undefined;
} {
  return { ...(block !== undefined && { block }), maxAgeMs: msOf(maxAge) };
}

function msOf(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

function countOf(value: string): number {
  if (/^[1-9]\d{0,3}$/.test(value)) return Number(value);
  throw argumentInvalid(
    `--trust endpoints:N needs a number of endpoints, such as endpoints:2, not ${describeValue(value)}.`,
  );
}

function hashOf(value: string): string {
  if (LOWERCASE_HASH.test(value)) return value;
  throw argumentInvalid(`--trust pinned-block:HASH needs 0x and 64 lowercase hex digits, not ${describeValue(value)}.`);
}
