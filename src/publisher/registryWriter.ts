import { setTimeout as sleep } from "node:timers/promises";
import { ArgumentError, TransportError, VerificationError } from "../errors.ts";
import { type UserID, userIDToHex } from "../identity/userID.ts";
import { isObject } from "../json.ts";
import { decodeMerkleTreeRoot, encodeGetMerkleTreeRoot } from "../registry/calls.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import { decodeAbi, readRegistry, registryAbi } from "./registryAbi.ts";

/** A root that was added, and the transaction that did it. */
export interface AddedRoot {
  transactionHash: string;
  blockNumber: number;
  gasUsed: number;
  /** How many users got this root; fewer than were named where somebody was faster. */
  addedCount: number;
}

/** How many calls are on their way at once. */
const CALLS_AT_ONCE = 32;
const RECEIPT_TIMEOUT_MS = 600_000;
const RECEIPT_POLL_MS = 250;

/** Reads and writes the registry's roots in the name of its owner, through an endpoint that signs for the owner. */
export class RegistryWriter {
  readonly #call: RpcCall;
  readonly #contract: string;
  readonly #owner: string;

  private constructor(call: RpcCall, contract: string, owner: string) {
    this.#call = call;
    this.#contract = contract;
    this.#owner = owner;
  }

  /**
   * @param call an endpoint that holds the owner's key
   * @param contract the registry's address
   * @throws ArgumentError NOT_OWNER; VerificationError NO_CONTRACT; TransportError
   */
  static async connect(call: RpcCall, contract: string): Promise<RegistryWriter> {
    const owner = String(await readRegistry(call, contract, "owner"));
    const accounts = await call("eth_accounts", []);
    if (
      !Array.isArray(accounts) ||
      !accounts.some((account) => String(account).toLowerCase() === owner.toLowerCase())
    ) {
      const message = `Only the owner ${owner} can add roots to ${contract}, and the endpoint does not sign for it.`;
      throw new ArgumentError("NOT_OWNER", message, { expected: owner, actual: accounts });
    }
    return new RegistryWriter(call, contract, owner);
  }

  /** The roots that users have already, in their order. @param onRead is told after each how many are known */
  async getMerkleTreeRoots(
    userIDs: readonly UserID[],
    onRead: (count: number) => void = () => undefined,
  ): Promise<(string | undefined)[]> {
    const roots: (string | undefined)[] = [];
    for (let i = 0; i < userIDs.length; i += CALLS_AT_ONCE) {
      const some = userIDs.slice(i, i + CALLS_AT_ONCE);
      roots.push(...(await Promise.all(some.map((userID) => this.#getMerkleTreeRoot(userID)))));
      onRead(roots.length);
    }
    return roots;
  }

  /**
   * How many of these users one transaction can take, `most` at the most: halved until the node estimates the
   * transaction's gas and its block holds it. Limits differ from chain to chain and fork to fork: only the node knows.
   * @throws TransportError as the node refuses even a single user
   */
  async usersPerTransaction(userIDs: readonly UserID[], most: number): Promise<number> {
    const block = await this.#call("eth_getBlockByNumber", ["latest", false]);
    const gasLimit = toNumber(isObject(block) ? block["gasLimit"] : undefined);
    // No root of a tree, but gas does not depend on its value, as long as no byte of it is zero.
    const root = "ff".repeat(32);
    for (let count = Math.min(most, userIDs.length); ; count = Math.floor(count / 2)) {
      try {
        const gas = await this.#estimateGas(addMerkleTreeRootData(root, userIDs.slice(0, count)));
        if (toNumber(gas) <= gasLimit || count === 1) return count;
      } catch (error) {
        const refused = error instanceof TransportError && error.code === "RPC_ERROR";
        if (!refused || count === 1) throw error;
      }
    }
  }

  /**
   * Adds a root for users, and waits until the transaction is in a block.
   * @param root 64 hex digits in lower case
   * @throws TransportError NO_RECEIPT where that takes more than ten minutes; VerificationError TRANSACTION_REVERTED
   */
  async addMerkleTreeRoot(root: string, userIDs: readonly UserID[]): Promise<AddedRoot> {
    const data = addMerkleTreeRootData(root, userIDs);
    const gas = await this.#estimateGas(data);
    const transaction = { from: this.#owner, to: this.#contract, data, gas };
    const transactionHash = toHash(await this.#call("eth_sendTransaction", [transaction]));
    const receipt = await this.#receiptOf(transactionHash);
    if (receipt["status"] !== "0x1") {
      const message = `The transaction ${transactionHash} was reverted.`;
      throw new VerificationError("root", "TRANSACTION_REVERTED", message, {
        expected: "0x1",
        actual: receipt["status"],
      });
    }
    return {
      transactionHash,
      blockNumber: toNumber(receipt["blockNumber"]),
      gasUsed: toNumber(receipt["gasUsed"]),
      addedCount: addedCountOf(receipt["logs"]),
    };
  }

  async #getMerkleTreeRoot(userID: UserID): Promise<string | undefined> {
    const call = { to: this.#contract, data: encodeGetMerkleTreeRoot(userID) };
    return decodeMerkleTreeRoot(await this.#call("eth_call", [call, "latest"]));
  }

  #estimateGas(data: string): Promise<unknown> {
    return this.#call("eth_estimateGas", [{ from: this.#owner, to: this.#contract, data }]);
  }

  async #receiptOf(transactionHash: string): Promise<Record<string, unknown>> {
    const end = performance.now() + RECEIPT_TIMEOUT_MS;
    while (performance.now() < end) {
      const receipt = await this.#call("eth_getTransactionReceipt", [transactionHash]);
      if (isObject(receipt)) return receipt;
      await sleep(RECEIPT_POLL_MS);
    }
    const message = `The transaction ${transactionHash} is in no block after ${RECEIPT_TIMEOUT_MS} ms: look for it, then publish again.`;
    throw new TransportError("NO_RECEIPT", message);
  }
}

function addMerkleTreeRootData(root: string, userIDs: readonly UserID[]): string {
  return registryAbi.encodeFunctionData("addMerkleTreeRoot", [`0x${root}`, `0x${userIDs.map(userIDToHex).join("")}`]);
}

function addedCountOf(logs: unknown): number {
  return decodeAbi(logs, () => {
    const events = (logs as { topics: string[]; data: string }[]).map((log) => registryAbi.parseLog(log));
    const added = events.filter((event) => event?.name === "MerkleTreeRootAdded");
    return added.reduce((sum, event) => sum + Number(event?.args["addedCount"]), 0);
  });
}

function toHash(hash: unknown): string {
  if (typeof hash === "string" && /^0x[0-9a-f]{64}$/i.test(hash)) return hash;
  throw new TransportError("RPC_ANSWER_INVALID", "The endpoint's answer is not a transaction's hash.", {
    actual: hash,
  });
}

function toNumber(quantity: unknown): number {
  const number = typeof quantity === "string" && /^0x[0-9a-f]+$/i.test(quantity) ? Number(quantity) : NaN;
  if (Number.isSafeInteger(number)) return number;
  throw new TransportError("RPC_ANSWER_INVALID", "The endpoint's answer is not a quantity.", { actual: quantity });
}
