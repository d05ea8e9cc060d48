/**
 * The cost of publishing on the chains in docs/choosing-a-chain.md. The calculation needs no registry on these chains.
 */
import { encodeAddMerkleTreeRoot } from "keyroot/internal/registry";
import { USER_ID_BYTES, type UserID } from "keyroot/internal/identity";
import { Chain } from "../chain/chain.ts";
import { DataFees } from "../chain/dataFee.ts";
import { gasPriceOf, unlimitedFeesOf } from "../chain/fees.ts";
import { nextForkGas, type NextForkGas } from "./nextFork.ts";

/** A chain for which `estimate --compare` shows the cost. */
interface KnownChain {
  title: string;
  /** The chain id that the endpoint must have. Undefined if any chain id is accepted. */
  chainId?: number;
  coin: string;
  /** True if the bytes of transactions cost extra. */
  isRollup: boolean;
}

/** The known chains. The keys are the chains' names in `--compare`. */
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
  /** The price per unit of gas. */
  gasPrice: bigint;
  /** The fee for the bytes of all transactions, in addition to gas. */
  dataFee: bigint;
  /** On Arbitrum, the gas that pays for the bytes of all transactions. */
  dataGas: number;
}

/**
 * The size of a publication: the number of users, the number of transactions, and the users of one full transaction.
 */
export interface PublishingSize {
  users: number;
  transactions: number;
  sample: readonly UserID[];
}

/** The cost on one chain, in units of gas and in wei. */
export interface ChainCost extends ChainPrices {
  gas: number;
  cost: bigint;
  /** The cost after the chain's next fork. Undefined if no fork is announced. */
  next: (NextForkGas & { cost: bigint; costAtMost: bigint }) | undefined;
}

/**
 * The gas of one call of the registry without users, and the gas per user. Both values were measured under the rules of
 * the fork Osaka, without an access list. test/operator/publisher/plan/knownChains.test.ts compares the values with the
 * estimates of nodes.
 */
const GAS_PER_TRANSACTION = 53_400;
const GAS_PER_USER = 22_585;
/** The size of a signed transaction without user ids, in bytes. */
const TRANSACTION_BYTES = 280;

/**
 * Returns the gas of the registry's calls, without gas for bytes. This gas is the same under the current rules of all
 * known chains.
 */
export function gasOf({ users, transactions }: PublishingSize): number {
  return transactions * GAS_PER_TRANSACTION + users * GAS_PER_USER;
}

/** Returns the size of all transactions, in bytes. */
export function bytesOf({ users, transactions }: PublishingSize): number {
  return transactions * TRANSACTION_BYTES + users * USER_ID_BYTES;
}

/** Returns the cost of publishing at these prices. */
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
 * Fetches the current prices of a chain.
 * @throws VerificationError CHAIN_ID_MISMATCH; TransportError the errors of `chain`
 */
export async function fetchPrices(name: ChainName, chain: Chain, size: PublishingSize): Promise<ChainPrices> {
  const { chainId }: KnownChain = KNOWN_CHAINS[name];
  if (chainId !== undefined) await chain.verifyChainId(chainId);
  const feeData = await chain.fetchFeeData(await chain.block("latest"));
  const { sample, users } = size;
  const call = { to: ANY_ADDRESS, data: encodeAddMerkleTreeRoot(ANY_ROOT, sample) };
  const gas = gasOf({ ...size, users: sample.length, transactions: 1 });
  const fees = unlimitedFeesOf(feeData);
  const data = await new DataFees(chain).fetch(call, gas, fees);
  return {
    gasPrice: gasPriceOf(feeData),
    dataFee: (data.wei * BigInt(users)) / BigInt(sample.length),
    dataGas: Math.round((data.gas / sample.length) * users),
  };
}

/** The address of a registry that need not exist. The fee for bytes does not depend on the address. */
const ANY_ADDRESS = `0x${"12".repeat(20)}`;
const ANY_ROOT = "ab".repeat(32);
