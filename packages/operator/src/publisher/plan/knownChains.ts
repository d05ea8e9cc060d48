/** The cost of publishing on chains that docs/choosing-a-chain.md describes, without a registry on them. */
import { encodeAddMerkleTreeRoot } from "keyroot/registry";
import type { UserID } from "keyroot/identity";
import { Chain } from "../chain/chain.ts";
import { DataFees } from "../chain/dataFee.ts";
import { feesOf, gasPriceOf } from "../chain/fees.ts";
import { nextForkGas, type NextForkGas } from "./nextFork.ts";

/** A chain whose cost `estimate --compare` shows. */
interface KnownChain {
  title: string;
  /** Undefined: any chain id. */
  chainId?: number;
  coin: string;
  /** True if transactions' bytes cost extra. */
  isRollup: boolean;
}

/** The known chains, by their names in `--compare`. */
export const KNOWN_CHAINS = {
  ethereum: { title: "Ethereum", chainId: 1, coin: "ETH", isRollup: false },
  optimism: { title: "OP Mainnet", chainId: 10, coin: "ETH", isRollup: true },
  base: { title: "Base", chainId: 8453, coin: "ETH", isRollup: true },
  arbitrum: { title: "Arbitrum One", chainId: 42_161, coin: "ETH", isRollup: true },
  gnosis: { title: "Gnosis", chainId: 100, coin: "xDAI", isRollup: false },
  own: { title: "your own", coin: "coins", isRollup: false },
} as const satisfies Record<string, KnownChain>;

/** A key of `KNOWN_CHAINS`. */
export type ChainName = keyof typeof KNOWN_CHAINS;

/** The prices of a chain, in wei. */
export interface ChainPrices {
  /** Per unit of gas. */
  gasPrice: bigint;
  /** All transactions' bytes, in addition to gas. */
  dataFee: bigint;
  /** Units of gas for all transactions' bytes: Arbitrum. */
  dataGas: number;
}

/** The users to publish: their number, that of the transactions, and the users of one full transaction. */
export interface PublishingSize {
  users: number;
  transactions: number;
  sample: readonly UserID[];
}

/** The cost on one chain, in units of gas and in wei. */
export interface ChainCost extends ChainPrices {
  gas: number;
  cost: bigint;
  /** After the chain's next fork, if it has announced one. */
  next: (NextForkGas & { cost: bigint; costAtMost: bigint }) | undefined;
}

/**
 * Gas of the registry's calls by the rules of the fork Osaka, without an access list: for each transaction and each user. Measured;
 * test/operator/publisher/plan/knownChains.test.ts compares it with the nodes' estimates.
 */
const GAS_PER_TRANSACTION = 53_400;
const GAS_PER_USER = 22_585;
/** Bytes of a signed transaction without user ids. */
const TRANSACTION_BYTES = 280;
const USER_ID_BYTES = 20;

/** The gas of the registry's calls by the present rules of all known chains, without gas for bytes. */
export function gasOf({ users, transactions }: PublishingSize): number {
  return transactions * GAS_PER_TRANSACTION + users * GAS_PER_USER;
}

/** The bytes of all transactions. */
export function bytesOf({ users, transactions }: PublishingSize): number {
  return transactions * TRANSACTION_BYTES + users * USER_ID_BYTES;
}

/** The cost at these prices. */
export function costOn(name: ChainName, size: PublishingSize, { gasPrice, dataFee, dataGas }: ChainPrices): ChainCost {
  const chain: KnownChain = KNOWN_CHAINS[name];
  const execution = gasOf(size);
  const costOf = (gas: number) => BigInt(gas + dataGas) * gasPrice + dataFee;
  const next = nextForkGas(chain.chainId ?? 0, { ...size, gas: execution });
  return {
    ...{ gasPrice, dataFee, dataGas },
    gas: execution + dataGas,
    cost: costOf(execution),
    next: next && { ...next, cost: costOf(next.gas), costAtMost: costOf(next.gasAtMost) },
  };
}

/**
 * Fetches a chain's present prices.
 * @throws VerificationError CHAIN_ID_MISMATCH; TransportError as the chain
 */
export async function fetchPrices(name: ChainName, chain: Chain, size: PublishingSize): Promise<ChainPrices> {
  const { chainId }: KnownChain = KNOWN_CHAINS[name];
  if (chainId !== undefined) await chain.verifyChainId(chainId);
  const feeData = await chain.fetchFeeData(await chain.block("latest"));
  const { sample, users } = size;
  const call = { to: ANY_ADDRESS, data: encodeAddMerkleTreeRoot(ANY_ROOT, sample) };
  const gas = gasOf({ ...size, users: sample.length, transactions: 1 });
  const fees = feesOf(feeData, 2n ** 256n) ?? { gasPrice: 0n };
  const data = await new DataFees(chain).fetch(call, gas, fees);
  return {
    gasPrice: gasPriceOf(feeData),
    dataFee: (data.wei * BigInt(users)) / BigInt(sample.length),
    dataGas: Math.round((data.gas / sample.length) * users),
  };
}

/** The fee for bytes does not depend on these values. */
const ANY_ADDRESS = `0x${"12".repeat(20)}`;
const ANY_ROOT = "ab".repeat(32);
