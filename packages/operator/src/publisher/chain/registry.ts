import { getAddress } from "ethers/address";
import { parseLogs, parseSafeQuantity, toQuantity } from "keyroot/internal/ethereum";
import type { UserID } from "keyroot/internal/identity";
import {
  decodeRootAddedLog,
  encodeAddMerkleTreeRoot,
  fetchBlockNumber,
  fetchOwner,
  ROOT_ADDED_TOPIC,
} from "keyroot/internal/registry";
import type { RpcCall } from "keyroot/internal/transport";
import { TransportError, VerificationError } from "../../errors.ts";
import type { RetryOptions } from "../../http/retry.ts";
import { readRoots } from "../../follow/index.ts";
import { type BlockTag, Chain, type Receipt, toBlockParameter } from "./chain.ts";
import { type DataFee, DataFees } from "./dataFee.ts";
import { type FeeData, type Fees, gasPriceOf, unlimitedFeesOf } from "./fees.ts";
import { slotsOfUsers } from "./slotsOfUsers.ts";
import { maxUsersBySize } from "./transactionSize.ts";

/** A root, and the users to whom one call of `addMerkleTreeRoot` assigns the root. */
export interface RootBatch {
  /** The root: 64 lowercase hex digits. */
  root: string;
  userIDs: readonly UserID[];
}

/** A call of `addMerkleTreeRoot`, without nonce, gas limit and fees. */
export interface AddRootCall {
  from: string;
  to: string;
  data: string;
  /** The storage slots that the call reads or writes (EIP-2930). */
  accessList?: { address: string; storageKeys: string[] }[];
}

/** An event with an added root, and its transaction. */
export interface AddedRootEvent extends Pick<
  Receipt,
  "transactionHash" | "blockNumber" | "gasUsed" | "gasPrice" | "dataFee"
> {
  /**
   * The number of users to whom the contract assigned this root. Users of the batch who already had a root are not
   * counted.
   */
  addedCount: number;
}

/** The gas estimates of one call, without and with an access list (EIP-2930). */
export interface GasEstimate {
  plain: number;
  /** The gas with an access list. Infinity if the node rejects the call with the list. */
  withAccessList: number;
}

/**
 * The gas that is added to the estimate of a transaction, because the estimate can become too low before the
 * transaction is in a block. For example, the first call of a registry costs 17,100 gas more than later calls, and a
 * reorganization can turn a later call into the first. Unused gas costs nothing.
 */
export const GAS_MARGIN = 25_000;

/**
 * A registry contract on its chain, with the operations that publishing needs. It reads users' roots, builds and
 * estimates the calls that add roots, and finds their events.
 * @example
 * ```ts
 * const registry = await Registry.connect(call, "0x5FbDB2315678afecb367f032d93F642f64180aa3");
 * console.log(registry.owner);
 * ```
 */
export class Registry {
  readonly chain: Chain;
  /** The address of the registry: 0x and 40 hex digits. */
  readonly contract: string;
  /** The only account that may add roots: 0x and 40 hex digits with checksum (EIP-55). */
  readonly owner: string;
  readonly #dataFees: DataFees;

  private constructor(chain: Chain, contract: string, owner: string) {
    this.chain = chain;
    this.#dataFees = new DataFees(chain);
    this.contract = contract;
    this.owner = owner;
  }

  /**
   * Connects to a registry and reads its owner.
   * @param call sends one JSON-RPC request to the chain's endpoint
   * @param contract the registry's address: 0x and 40 hex digits
   * @param retry how often failed reads are repeated. Default: 5 times, the first after 500 ms
   * @throws VerificationError NO_CONTRACT; TransportError RPC_ANSWER_INVALID, and the errors of `call`
   * @example
   * ```ts
   * import { rpcCaller } from "keyroot/internal/transport";
   *
   * const call = rpcCaller("https://rpc.example", { maxBytes: 2 ** 20, timeoutMs: 30_000 });
   * const registry = await Registry.connect(call, "0x5FbDB2315678afecb367f032d93F642f64180aa3");
   * ```
   */
  static async connect(call: RpcCall, contract: string, retry?: RetryOptions): Promise<Registry> {
    const chain = new Chain(call, retry);
    const owner = getAddress(await chain.withRetry(() => fetchOwner(call, contract)));
    return new Registry(chain, contract, owner);
  }

  /**
   * Returns users' roots, in the order of the user ids. Each is 64 lowercase hex digits, or undefined for a user
   * without a root.
   */
  getMerkleTreeRoots(userIDs: readonly UserID[], tag: BlockTag = "latest"): Promise<(string | undefined)[]> {
    const { call } = this.chain;
    return this.chain.withRetry(() => readRoots(call, this.contract, userIDs, toBlockParameter(tag)));
  }

  /**
   * Builds the call that adds a root for the users of a batch.
   * @param withAccessList adds an access list. It is left out if it would make the transaction too large for nodes
   * @throws ArgumentError USER_ID_INVALID
   */
  addRootCall({ root, userIDs }: RootBatch, withAccessList: boolean): AddRootCall {
    const call = { from: this.owner, to: this.contract, data: encodeAddMerkleTreeRoot(root, userIDs) };
    if (!withAccessList || userIDs.length > maxUsersBySize(true)) return call;
    return { ...call, accessList: [{ address: this.contract, storageKeys: slotsOfUsers(userIDs) }] };
  }

  /**
   * Estimates the gas of a call in the current state.
   * @throws TransportError the errors of `chain`, for example RPC_ERROR if the node rejects the call
   */
  estimateGas(call: AddRootCall): Promise<number> {
    return this.chain.request("eth_estimateGas", [call], parseSafeQuantity);
  }

  /**
   * Estimates the gas of a batch's call in the current state, without and with an access list.
   * @throws the errors of `estimateGas`
   */
  async estimateAddRoot(batch: RootBatch): Promise<GasEstimate> {
    const plain = await this.estimateGas(this.addRootCall(batch, false));
    try {
      return { plain, withAccessList: await this.estimateGas(this.addRootCall(batch, true)) };
    } catch (error) {
      // With the list, the call may need more gas than a transaction can have.
      if (error instanceof TransportError && error.code === "RPC_ERROR") return { plain, withAccessList: Infinity };
      throw error;
    }
  }

  /**
   * Returns the fee for the bytes of a call on a rollup.
   * @param gas the gas limit of the transaction
   * @throws the errors of `chain`
   */
  fetchDataFee(call: AddRootCall, gas: number, fees: Fees): Promise<DataFee> {
    return this.#dataFees.fetch(call, gas, fees);
  }

  /**
   * Returns true if a batch's call costs less with an access list. The list saves gas, but also makes the transaction
   * longer, and rollups charge a fee for every byte.
   * @param estimate the result of `estimateAddRoot`
   * @throws the errors of `chain`
   */
  async isAccessListCheaper(batch: RootBatch, estimate: GasEstimate, feeData: FeeData): Promise<boolean> {
    const costOf = async (withAccessList: boolean) => {
      const gas = withAccessList ? estimate.withAccessList : estimate.plain;
      const call = this.addRootCall(batch, withAccessList);
      const { wei } = await this.fetchDataFee(call, gas, unlimitedFeesOf(feeData));
      return BigInt(gas) * gasPriceOf(feeData) + wei;
    };
    return estimate.withAccessList < estimate.plain && (await costOf(true)) <= (await costOf(false));
  }

  /**
   * Checks whether an access list makes the transaction of a batch cheaper at current prices.
   * @throws the errors of `chain`
   */
  async prefersAccessList(batch: RootBatch): Promise<boolean> {
    const feeData = await this.chain.fetchFeeData(await this.chain.block("latest"));
    return this.isAccessListCheaper(batch, await this.estimateAddRoot(batch), feeData);
  }

  /**
   * Finds the first event in which the contract assigned a root to users.
   * @returns undefined if no user has the root in the node's newest state
   * @throws VerificationError TRANSACTION_REVERTED; TransportError the errors of `call`
   */
  async findAddedRoot(root: string): Promise<AddedRootEvent | undefined> {
    const { chain, contract } = this;
    const first = await chain.withRetry(() => fetchBlockNumber(chain.call, contract, root));
    // For a short time, a node may return the state after a new block without returning the block.
    if (first === 0 || first > (await chain.block("latest")).number) return undefined;
    const block = toQuantity(first);
    const filter = { address: contract, topics: [ROOT_ADDED_TOPIC, `0x${root}`], fromBlock: block, toBlock: block };
    const [hash] = await chain.request("eth_getLogs", [filter], (answer) =>
      parseLogs(answer).map(({ transactionHash }) => transactionHash),
    );
    const receipt = hash === undefined ? undefined : await chain.receipt(hash);
    return receipt && this.readAddedRoot(receipt, root);
  }

  /**
   * Reads the event of a root from a transaction receipt.
   * @throws VerificationError TRANSACTION_REVERTED; TransportError RPC_ANSWER_INVALID
   */
  readAddedRoot(receipt: Receipt, root: string): AddedRootEvent {
    const { succeeded, logs, transactionHash, blockNumber, gasUsed, gasPrice, dataFee } = receipt;
    if (!succeeded) {
      const message = `The transaction ${transactionHash} in block ${blockNumber} was reverted.`;
      throw new VerificationError("root", "TRANSACTION_REVERTED", message, { actual: transactionHash });
    }
    const events = logs.map((log) => decodeRootAddedLog(log, this.contract)).filter((event) => event?.root === root);
    const addedCount = events.reduce((sum, event) => sum + (event?.addedCount ?? 0), 0);
    return { transactionHash, blockNumber, gasUsed, gasPrice, dataFee, addedCount };
  }
}
