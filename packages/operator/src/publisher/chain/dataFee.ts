/** The fees that rollups charge for a transaction's bytes, in addition to its execution. */
import { Interface } from "ethers/abi";
import { Transaction } from "ethers/transaction";
import { TransportError } from "keyroot/errors";
import type { Chain } from "./chain.ts";
import { type Fees, maxGasPriceOf } from "./fees.ts";

/** The fields of a transaction that determine the fee for its bytes. */
interface Call {
  /** Undefined if it creates a contract. */
  to?: string | undefined;
  data: string;
  accessList?: { address: string; storageKeys: string[] }[];
}

/** The fee for a transaction's bytes, by the rollup's present prices. Both are 0 on chains without such a fee. */
export interface DataFee {
  /** Wei, charged in addition to gas: the L1 fee and operator fee of OP-stack chains. A transaction cannot limit it. */
  wei: bigint;
  /** The part of the gas estimate that pays for bytes: Arbitrum. */
  gas: number;
}

/** Limits count data fees with this factor, because prices change until a transaction is in a block. */
const DATA_FEE_FACTOR = 2n;

/** Source: https://docs.optimism.io/op-stack/transactions/fees and the predeploys of https://specs.optimism.io. */
const GAS_PRICE_ORACLE = "0x420000000000000000000000000000000000000f";
/** Source: https://docs.arbitrum.io/build-decentralized-apps/nodeinterface/reference. It exists only for eth_call. */
const NODE_INTERFACE = "0x00000000000000000000000000000000000000c8";
const abi = new Interface([
  "function getL1Fee(bytes transaction) view returns (uint256 wei)",
  "function getOperatorFee(uint256 gasUsed) view returns (uint256 wei)",
  "function gasEstimateL1Component(address to, bool isCreation, bytes data) view returns (uint64 gas, uint256, uint256)",
]);

/** Reads the fees for transactions' bytes. */
export class DataFees {
  readonly #chain: Chain;
  #rollup: Promise<"opStack" | "arbitrum" | undefined> | undefined;

  constructor(chain: Chain) {
    this.#chain = chain;
  }

  /**
   * The fee for the bytes of a call's transaction now.
   * @param gas the gas limit
   * @throws TransportError as the chain, if it has such a fee and does not return it
   */
  async fetch({ to, data, accessList = [] }: Call, gas: number, fees: Fees): Promise<DataFee> {
    const rollup = await (this.#rollup ??= this.#findRollup());
    if (rollup === "arbitrum") {
      const args = [to ?? NODE_INTERFACE, to === undefined, data];
      return { wei: 0n, gas: Number(await this.#read(NODE_INTERFACE, "gasEstimateL1Component", args)) };
    }
    if (rollup === undefined) return { wei: 0n, gas: 0 };
    const maxFeePerGas = maxGasPriceOf(fees);
    // Nonces and chain ids of usual sizes have the same number of bytes.
    const usual = { type: 2, chainId: 8453, nonce: 65_535, value: 0 };
    const { unsignedSerialized } = Transaction.from({
      ...{ ...usual, to: to ?? null, data, accessList, gasLimit: gas },
      ...{ maxFeePerGas, maxPriorityFeePerGas: maxFeePerGas },
    });
    const l1Fee = await this.#read(GAS_PRICE_ORACLE, "getL1Fee", [unsignedSerialized]);
    return { wei: l1Fee + (await this.#operatorFee(BigInt(gas))), gas: 0 };
  }

  async #findRollup() {
    const code = (address: string) => this.#chain.request("eth_getCode", [address, "latest"], hexBytes);
    if ((await code(GAS_PRICE_ORACLE)) !== "0x") return "opStack" as const;
    // The interface has no code on Arbitrum, so a call shows whether a node has it.
    const data = abi.encodeFunctionData("gasEstimateL1Component", [NODE_INTERFACE, false, "0x"]);
    const answer = await this.#chain.request("eth_call", [{ to: NODE_INTERFACE, data }, "latest"], hexBytes);
    return answer === "0x" ? undefined : ("arbitrum" as const);
  }

  /** Chains before the upgrade Isthmus have no operator fee, and their contract rejects the call. */
  async #operatorFee(gas: bigint): Promise<bigint> {
    try {
      return await this.#read(GAS_PRICE_ORACLE, "getOperatorFee", [gas]);
    } catch (error) {
      if (error instanceof TransportError && error.code === "RPC_ERROR" && /revert/i.test(error.message)) return 0n;
      throw error;
    }
  }

  /** The first value that a function returns. */
  #read(to: string, name: string, args: readonly unknown[]): Promise<bigint> {
    const data = abi.encodeFunctionData(name, args);
    return this.#chain.request("eth_call", [{ to, data }, "latest"], (answer) => {
      const [value] = abi.decodeFunctionResult(name, hexBytes(answer)) as unknown[];
      if (typeof value !== "bigint") throw new Error("not a number");
      return value;
    });
  }
}

/** The most that a data fee counts for limits of cost, in wei. */
export function worstDataFeeOf({ wei }: DataFee): bigint {
  return DATA_FEE_FACTOR * wei;
}

function hexBytes(answer: unknown): string {
  if (typeof answer === "string" && /^0x(?:[0-9a-f]{2})*$/i.test(answer)) return answer;
  throw new Error("not bytes");
}
