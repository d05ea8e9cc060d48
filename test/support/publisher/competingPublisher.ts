import { AbiCoder } from "ethers";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type KeyRecord, userIDToHex } from "keyroot/internal/identity";
import { receiptOf } from "../chain/local.ts";
import { plainFile } from "../data/plainFile.ts";
import type { Deployment } from "./deployment.ts";

/** The selector of `addMerkleTreeRoot(bytes32,bytes)`. */
const ADD_MERKLE_TREE_ROOT = "0x12e36530";
/** The gas limit: enough for about 700 users, and at most the limit of EIP-7825. */
const GAS = "0x1000000";

/**
 * Another publisher with the owner's key. It writes a file by the specification, and adds its root in a transaction,
 * without checks. It shares no code with the tested publisher.
 */
export class CompetingPublisher {
  readonly #deployment: Deployment;

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
  }

  /** Stores a file of these records, in this order. @returns its root: 64 hex digits */
  async store(records: readonly KeyRecord[]): Promise<string> {
    const { root, ...file } = plainFile(records.map((record) => JSON.stringify(record)));
    await writeFile(join(this.#deployment.filesDir, `${root}.json`), JSON.stringify(file));
    return root;
  }

  /**
   * Sends the transaction that adds a root for these users.
   * @param changes fields of the transaction, such as the nonce and fee to replace another transaction
   * @returns the transaction's hash
   */
  async add(root: string, records: readonly KeyRecord[], changes: Record<string, string> = {}): Promise<string> {
    const { call, contract, owner } = this.#deployment;
    const packed = records.map(({ userID }) => userIDToHex(userID)).join("");
    const values = AbiCoder.defaultAbiCoder().encode(["bytes32", "bytes"], [`0x${root}`, `0x${packed}`]);
    const data = ADD_MERKLE_TREE_ROOT + values.slice(2);
    const transaction = { from: owner, to: contract, data, gas: GAS, ...changes };
    return (await call("eth_sendTransaction", [transaction])) as string;
  }

  /** Stores a file, adds its root, and waits until it is in a block. @returns the root */
  async publish(records: readonly KeyRecord[]): Promise<string> {
    const root = await this.store(records);
    await this.untilIncluded(await this.add(root, records));
    return root;
  }

  /** Waits until a transaction is in a block. */
  async untilIncluded(hash: string): Promise<void> {
    await receiptOf(this.#deployment.call, hash);
  }
}
