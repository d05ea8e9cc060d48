import { z } from "zod";
import { REGIONS, type Region } from "keyroot/internal/identity";
import { isLoopback } from "keyroot/internal/transport";
import { isLocalChain, MAX_TIMER_SECONDS, parseAmount } from "@keyroot/operator/shared";
import type { CostLimits } from "@keyroot/operator/publisher";
import {
  checkConfig,
  httpUrl,
  inEachRegion,
  registryFields,
  type SharedConfig,
  sharedFields,
  text,
  wholeNumber,
} from "./fields.ts";
import { PUBLISHER_VARIABLES } from "./variables.ts";

/** The configuration of a publisher. docs/variables.md describes the environment variable of each field. */
export interface PublisherConfig extends SharedConfig {
  /** The chain and stores for publishing. */
  chain: ChainOptions;
  /** The publishing schedule. If unset, keys are published only on request. */
  schedule?: Schedule | undefined;
}

/** When the publisher publishes by itself. */
export interface Schedule {
  /** Seconds between two checks for publishable keys: more than 0, at most `MAX_TIMER_SECONDS`. */
  every: number;
  /** Minimum number of publishable keys that starts a publication. */
  atLeast: number;
}

/** The chain and stores for publishing. */
export interface ChainOptions {
  /** The JSON-RPC endpoint of the chain. */
  rpcUrl: string;
  /** A second endpoint, from another operator. A key is published only when both endpoints agree. Default: none. */
  secondRpcUrl?: string | undefined;
  /** The registry's address: 0x and 40 hex digits. */
  contract: string;
  /** The chain's id (EIP-155), for which transactions are signed. The endpoint must report the same id. */
  chainId: number;
  /** Whether an endpoint on another machine may use plain http. Default: false. */
  allowHttp?: boolean | undefined;
  /** Maximum gwei per unit of gas, as a decimal number. Required, except for development chains on this machine. */
  maxFee?: string | undefined;
  /**
   * Maximum priority fee (tip) in gwei per unit of gas, as a decimal number. Requires `maxFee`. Default: a quarter of
   * `maxFee`.
   */
  maxPriorityFee?: string | undefined;
  /**
   * Maximum cost of a plan with all its rounds, in ETH as a decimal number. Requires `maxFee`. Default: the default of
   * `CostLimits`.
   */
  maxCost?: string | undefined;
  /** Maximum cost of all plans within 24 hours, in ETH as a decimal number. Default: no limit. Requires `maxFee`. */
  maxCostPerDay?: string | undefined;
  /** Number of blocks, including the root's own block, after which a root is treated as published. Default: 1. */
  confirmations?: number | undefined;
  /**
   * The stores of Merkle-tree files: a folder or `s3://<bucket>/<prefix>` for each region. It can also be one text for
   * all regions, in which `{region}` stands for the region.
   */
  files: string | Record<Region, string>;
}

type CostOption = "maxFee" | "maxPriorityFee" | "maxCost" | "maxCostPerDay";

/** The chain and stores for publishing, with all defaults. */
export interface ChainConfig extends Omit<ChainOptions, CostOption> {
  /** Cost limits per plan and region, and per day. "local" means a development chain, which needs no limits. */
  limits: CostLimits | "local";
  confirmations: number;
  files: Record<Region, string>;
}

export type ResolvedPublisherConfig = z.output<typeof schema>;

const gwei = () => text().refine((amount) => parseAmount(amount, "gwei"), "must be a number of gwei above 0");
const ether = () => text().refine((amount) => parseAmount(amount, "ether"), "must be a number of ETH above 0");

const schema = z.strictObject({
  ...sharedFields,
  chain: z.strictObject({
    rpcUrl: httpUrl(),
    secondRpcUrl: httpUrl().optional(),
    ...registryFields,
    allowHttp: z.boolean("must be true or unset").default(false),
    maxFee: gwei().optional(),
    maxPriorityFee: gwei().optional(),
    maxCost: ether().optional(),
    maxCostPerDay: ether().optional(),
    confirmations: wholeNumber(1, 1000).default(1),
    files: z.union(
      [text().transform(filesOfRegions), inEachRegion(text())],
      "must be a folder or s3://<bucket>/<prefix>",
    ),
  }),
  schedule: z
    .strictObject({
      every: z
        .number()
        .positive("must be greater than 0")
        .max(MAX_TIMER_SECONDS, `must be at most ${MAX_TIMER_SECONDS} s`),
      atLeast: wholeNumber(1, 1e9),
    })
    .optional(),
}) satisfies z.ZodType<unknown, PublisherConfig>;

/**
 * Checks a publisher's configuration and adds the defaults.
 * @param nameOf returns the name of a field such as `chain.rpcUrl` in error messages. Default: the field itself
 * @throws ArgumentError CONFIGURATION_INVALID. The message lists every invalid field, without its value
 */
export function resolvePublisherConfig(config: unknown, nameOf = (field: string) => field): ResolvedPublisherConfig {
  const faults = faultsBetweenFields(config as Partial<PublisherConfig>, nameOf);
  return checkConfig(schema, config, Object.keys(PUBLISHER_VARIABLES), nameOf, faults);
}

function faultsBetweenFields({ chain }: Partial<PublisherConfig>, nameOf: (field: string) => string): string[] {
  const faults: string[] = [];
  if (typeof chain?.rpcUrl !== "string" || typeof chain.chainId !== "number") return faults;
  const { rpcUrl, chainId, maxFee, maxPriorityFee, maxCost, maxCostPerDay, allowHttp } = chain;
  for (const field of ["rpcUrl", "secondRpcUrl"] as const)
    if (allowHttp !== true && isRemoteHttp(chain[field]))
      faults.push(`${nameOf(`chain.${field}`)} must be an https URL, unless ${nameOf("chain.allowHttp")} is true`);
  const others = maxPriorityFee ?? maxCost ?? maxCostPerDay;
  if (maxFee === undefined && (others !== undefined || !isLocalChain(rpcUrl, chainId)))
    faults.push(`${nameOf("chain.maxFee")} is missing. It limits the cost of publishing, in gwei per unit of gas`);
  return faults;
}

function isRemoteHttp(url: string | undefined): boolean {
  if (url === undefined || !URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !isLoopback(hostname);
}

function filesOfRegions(files: string): Record<Region, string> {
  return Object.fromEntries(REGIONS.map((region) => [region, files.replaceAll("{region}", region)])) as Record<
    Region,
    string
  >;
}

export function limitsOf({
  maxFee,
  maxPriorityFee = "",
  maxCost = "",
  maxCostPerDay = "",
}: Pick<ChainOptions, CostOption>): CostLimits | "local" {
  const maxFeePerGas = maxFee === undefined ? undefined : parseAmount(maxFee, "gwei");
  if (maxFeePerGas === undefined) return "local";
  const maxPriorityFeePerGas = parseAmount(maxPriorityFee, "gwei");
  const [plan, day] = [parseAmount(maxCost, "ether"), parseAmount(maxCostPerDay, "ether")];
  return { maxFeePerGas, maxPriorityFeePerGas, maxCost: plan, maxCostPerDay: day };
}
