import { TransportError, VerificationError } from "keyroot/errors";
import type { UserID } from "keyroot/identity";
import { encodeAddMerkleTreeRoot } from "keyroot/registry";
import { readMerkleTreeRoots } from "keyroot/registry";
import type { RpcCall } from "keyroot/transport";
import { type BlockTag, Chain, type Receipt, spell, toHash, toHex, toLogs, toNumber } from "./chain.ts";
import type { Patience } from "./retry.ts";
import { readRegistry, registryAbi } from "./registryAbi.ts";
import { slotsOfUsers } from "../transactions/slots.ts";

/** The users of one root and one transaction. */
export interface RootWithUsers {
  /** 64 hex digits in lower case. */
  root: string;
  userIDs: readonly UserID[];
}

/** A transaction that adds a root for users, but for its nonce and fees. */
export interface Addition {
  from: string;
  to: string;
  data: string;
  /** The storage slots that it will touch (EIP-2930). */
  accessList?: { address: string; storageKeys: string[] }[];
}

/** A root that was added, and the transaction that did it. */
export interface AddedRoot {
  /** 0x and 64 hex digits in lower case. */
  transactionHash: string;
  blockNumber: number;
  gasUsed: number;
  /** In wei a unit of gas. */
  gasPrice: bigint;
  /** How many users got this root; fewer than were named where somebody was faster. */
  addedCount: number;
}

/** The registry, as its publisher sees it: who has which root, and what it costs to add one. */
export class Registry {
  readonly chain: Chain;
  /** 0x and 40 hex digits. */
  readonly contract: string;
  /** The account that may add roots. */
  readonly owner: string;

  private constructor(chain: Chain, contract: string, owner: string) {
    this.chain = chain;
    this.contract = contract;
    this.owner = owner;
  }

  /** @throws VerificationError NO_CONTRACT; TransportError as the call */
  static async connect(call: RpcCall, contract: string, patience?: Patience): Promise<Registry> {
    const chain = new Chain(call, patience);
    const owner = String(await chain.patiently(() => readRegistry(call, contract, "owner")));
    return new Registry(chain, contract, owner);
  }

  /** The roots that users have, in their order: 64 hex digits in lower case, or undefined where there is none. */
  getMerkleTreeRoots(userIDs: readonly UserID[], tag: BlockTag = "latest"): Promise<(string | undefined)[]> {
    const { call } = this.chain;
    return this.chain.patiently(() => readMerkleTreeRoots(call, this.contract, userIDs, { block: spell(tag) }));
  }

  /** The transaction that adds a root for its users. */
  addition({ root, userIDs }: RootWithUsers, withAccessList: boolean): Addition {
    const addition = { from: this.owner, to: this.contract, data: encodeAddMerkleTreeRoot(root, userIDs) };
    if (!withAccessList) return addition;
    return { ...addition, accessList: [{ address: this.contract, storageKeys: slotsOfUsers(userIDs) }] };
  }

  /** What a transaction would use now. @throws TransportError RPC_ERROR also where the node refuses it */
  estimateGas(addition: Addition): Promise<number> {
    return this.chain.ask("eth_estimateGas", [addition], toNumber);
  }

  /** How a root came to its first users; undefined where it has none, as far as the node knows. */
  async findAddition(root: string): Promise<AddedRoot | undefined> {
    const { chain, contract } = this;
    const first = await chain.patiently(() => readRegistry(chain.call, contract, "getBlockNumber", `0x${root}`));
    // For a moment, a node may know what a new block did before it knows of the block.
    if (first === 0n || (first as bigint) > (await chain.block("latest")).number) return undefined;
    const block = toHex(first as bigint);
    const filter = { address: contract, topics: [ROOT_ADDED, `0x${root}`], fromBlock: block, toBlock: block };
    const [hash] = await chain.ask("eth_getLogs", [filter], (answer) =>
      toLogs(answer).map(({ transactionHash }) => toHash(transactionHash)),
    );
    const receipt = hash === undefined ? undefined : await chain.receipt(hash);
    return receipt && this.addedBy(receipt, root);
  }

  /**
   * What a transaction did for a root.
   * @throws VerificationError TRANSACTION_REVERTED
   */
  addedBy({ succeeded, logs, transactionHash, blockNumber, gasUsed, gasPrice }: Receipt, root: string): AddedRoot {
    if (!succeeded) {
      const message = `The transaction ${transactionHash} in block ${blockNumber} was reverted.`;
      throw new VerificationError("root", "TRANSACTION_REVERTED", message, { actual: transactionHash });
    }
    const own = logs.filter(({ address, topics: [event, named] }) => {
      return address.toLowerCase() === this.contract.toLowerCase() && event === ROOT_ADDED && named === `0x${root}`;
    });
    const addedCount = own.reduce((sum, log) => sum + addedCountOf(log), 0);
    return { transactionHash, blockNumber, gasUsed, gasPrice, addedCount };
  }
}

const ROOT_ADDED = registryAbi.getEvent("MerkleTreeRootAdded")?.topicHash ?? "";

function addedCountOf({ data }: { data: string }): number {
  if (/^0x[0-9a-f]{64}$/i.test(data)) return Number(BigInt(data));
  throw new TransportError("RPC_ANSWER_INVALID", "The endpoint's event does not count users.", { actual: data });
}
