/** The fees that rollups charge for a transaction's bytes, in addition to its execution. */
import { Interface } from "ethers/abi";
import { Transaction } from "ethers/transaction";
import { TransportError } from "keyroot/internal/errors";
import type { Chain } from "./chain.ts";
import { type Fees, maxGasPriceOf } from "./fees.ts";
import { serializeUnsigned } from "./serializeTransaction.ts";

/** The fields of a transaction that determine the fee for its bytes. */
interface Call {
  /** The address of the called contract. Undefined if the transaction creates a contract. */
  to?: string | undefined;
  data: string;
  accessList?: { address: string; storageKeys: string[] }[];
}

/** The current fee of a rollup for the bytes of a transaction. On chains without such a fee, `wei` and `gas` are 0. */
export interface DataFee {
  /**
   * The sum of the L1 fee and the operator fee on OP-stack chains, in wei. Both are paid in addition to gas, and a
   * transaction cannot limit them.
   */
  wei: bigint;
  /** On Arbitrum, the part of the gas estimate that pays for bytes. */
  gas: number;
}

/** The factor for data fees in cost limits. Prices can rise before a transaction is in a block. */
const DATA_FEE_FACTOR = 2n;

/**
 * The address of the contract that returns the prices of data on OP-stack chains. Sources:
 * https://docs.optimism.io/op-stack/transactions/fees and the predeploys of https://specs.optimism.io.
 */
const GAS_PRICE_ORACLE = "0x420000000000000000000000000000000000000f";
/**
 * The address of Arbitrum's NodeInterface, which estimates fees. It exists only in simulated calls (`eth_call`).
 * Source: https://docs.arbitrum.io/build-decentralized-apps/nodeinterface/reference.
 */
const NODE_INTERFACE = "0x00000000000000000000000000000000000000c8";
const abi = new Interface([
  "function getL1Fee(bytes transaction) view returns (uint256 wei)",
  "function getOperatorFee(uint256 gasUsed) view returns (uint256 wei)",
  "function gasEstimateL1Component(address to, bool isCreation, bytes data) view returns (uint64 gas, uint256, uint256)",
]);

export class DataFees {
  readonly #chain: Chain;
  #rollup: Promise<"opStack" | "arbitrum" | undefined> | undefined;

  constructor(chain: Chain) {
    this.#chain = chain;
  }

  /**
   * Returns the current fee for the bytes of a transaction.
   * @param gas the gas limit
   * @throws TransportError the errors of `chain`, if the chain has such a fee and the endpoint does not return it
   */
  async fetch({ to, data, accessList = [] }: Call, gas: number, fees: Fees): Promise<DataFee> {
    const rollup = await (this.#rollup ??= this.#findRollup());
    if (rollup === "arbitrum") {
      const args = [to ?? NODE_INTERFACE, to === undefined, data];
      return { wei: 0n, gas: Number(await this.#read(NODE_INTERFACE, "gasEstimateL1Component", args)) };
    }
    if (rollup === undefined) return { wei: 0n, gas: 0 };
    const maxFeePerGas = maxGasPriceOf(fees);
    // Use typical values, because real nonces and chain ids usually have the same number of bytes.
    const usual = { type: 2, chainId: 8453, nonce: 65_535, value: 0 };
    const transaction = Transaction.from({
      ...{ ...usual, to: to ?? null, data, accessList, gasLimit: gas },
      ...{ maxFeePerGas, maxPriorityFeePerGas: maxFeePerGas },
    });
    const l1Fee = await this.#read(GAS_PRICE_ORACLE, "getL1Fee", [serializeUnsigned(transaction)]);
    return { wei: l1Fee + (await this.#operatorFee(BigInt(gas))), gas: 0 };
  }

  async #findRollup() {
    const code = (address: string) => this.#chain.request("eth_getCode", [address, "latest"], hexBytes);
    if ((await code(GAS_PRICE_ORACLE)) !== "0x") return "opStack" as const;
    // On Arbitrum, this address has no code. Only a call shows whether the node supports the interface.
    const data = abi.encodeFunctionData("gasEstimateL1Component", [NODE_INTERFACE, false, "0x"]);
    const answer = await this.#chain.request("eth_call", [{ to: NODE_INTERFACE, data }, "latest"], hexBytes);
    return answer === "0x" ? undefined : ("arbitrum" as const);
  }

  /**
   * Returns the operator fee in wei. Before the upgrade Isthmus, chains have no operator fee, and their older contract
   * rejects this call. The result is then 0.
   */
  async #operatorFee(gas: bigint): Promise<bigint> {
    try {
      return await this.#read(GAS_PRICE_ORACLE, "getOperatorFee", [gas]);
    } catch (error) {
      if (error instanceof TransportError && error.code === "RPC_ERROR" && /revert/i.test(error.message)) return 0n;
      throw error;
    }
  }

  #read(to: string, name: string, args: readonly unknown[]): Promise<bigint> {
    const data = abi.encodeFunctionData(name, args);
    return this.#chain.request("eth_call", [{ to, data }, "latest"], (answer) => {
      const [value] = abi.decodeFunctionResult(name, hexBytes(answer)) as unknown[];
      if (typeof value !== "bigint") throw new Error("not a number");
      return value;
    });
  }
}

/** Returns the data fee that a transaction is assumed to cost at most, for the cost limits, in wei. */
export function worstDataFeeOf({ wei }: DataFee): bigint {
  return DATA_FEE_FACTOR * wei;
}

function hexBytes(answer: unknown): string {
  if (typeof answer === "string" && /^0x(?:[0-9a-f]{2})*$/i.test(answer)) return answer;
  throw new Error("not bytes");
}
