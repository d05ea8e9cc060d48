import { RLP } from "@ethereumjs/rlp";
import { getBytes, id, keccak256, toBeHex } from "ethers";
import {
  ANY_KEY,
  type Evidence,
  type KeyRecord,
  KeyrootError,
  type BlockOptions,
  endpoints,
  oneEndpoint,
  ownNode,
  pinnedBlock,
} from "keyroot";
import { makeMerkleFile, type MerkleFile } from "keyroot/merkle";
import { extractHeader } from "keyroot/internal/ethereum";
import { hashHeader, type HeaderJson } from "../../../packages/keyroot/src/ethereum/header.ts";
import { slotOfUser, USERS_SLOT } from "keyroot/internal/registry";
import type { RpcCall } from "keyroot/internal/transport";
import { FolderStore, type PublishedRoot } from "@keyroot/operator/publisher";
import { sampleRecords } from "../samples.ts";
import { type Endpoint, type Lie, startEndpoint } from "./lyingEndpoint.ts";
import { accountOf, trieOf } from "./tries.ts";
import { deployOn, describeOnBoth, type StartChain, withFiles } from "./freshRegistry.ts";
import { publishLocally } from "./local.ts";
import { verifyOnce, type OnceOptions } from "../verifier/verifyOnce.ts";

const GET_MERKLE_TREE_ROOT = id("getMerkleTreeRoot(bytes20)").slice(0, 10);
export const GET_BLOCK_NUMBER = id("getBlockNumber(bytes32)").slice(0, 10);
export const ZERO = `0x${"0".repeat(64)}`;

export const [mine, other, late] = sampleRecords(3) as [KeyRecord, KeyRecord, KeyRecord];
export const { userID } = mine;
const published = makeMerkleFile([mine, other]);
const publishedLater = makeMerkleFile([late]);
/** A false key for the same user, which a dishonest endpoint returns. */
export const forged = makeMerkleFile([{ ...other, userID }]);

/**
 * The sources of a block hash that need no other hosts. `endpoints` requires 3 of the 5 endpoints, and the other
 * sources use the first one.
 */
export const SOURCES = ["one-endpoint", "endpoints", "own-node", "pinned-block"] as const;
export type Source = (typeof SOURCES)[number];
const REQUIRED = 3;

const SOURCE_NAMES: Record<Source, string> = {
  "one-endpoint": "one endpoint",
  endpoints: "several endpoints",
  "own-node": "an own node",
  "pinned-block": "a pinned block",
};

/** Returns a source's name for test titles. */
export const nameOf = (source: Source) => SOURCE_NAMES[source];

/** Whether a source requires a storage proof. */
export const needsProof = (source: Source) => source === "own-node" || source === "pinned-block";

/**
 * Returns whether a source needs only one endpoint's answer at its latest block, as in the specification. In this case,
 * no block is read.
 */
export const needsNoBlock = (source: Source) => source === "one-endpoint";

export type BlockJson = HeaderJson & { hash: string; number: string; timestamp: string };

/** Five endpoints of one chain with the registry and two files. Its fields are set before the tests run. */
export class FiveEndpoints {
  readonly #opened = new AsyncDisposableStack();
  call!: RpcCall;
  endpoints!: Endpoint[];
  /** The host of the files. */
  files!: { url: string };
  contract!: string;
  codeHash!: string;
  /** A contract with the first file's root. Its mapping of users is at slot 1, as in PubKeyTrust. */
  olderContract!: string;
  /** The block that added the first file's root. */
  blockNumber!: number;
  chainId!: number;
  /** The latest block, after both files, and an earlier one, after the first file. */
  head!: BlockJson;
  earlier!: BlockJson;

  async start(startChain: StartChain): Promise<void> {
    const { rpcUrl, merkleUrl, filesDir, owner, ...chain } = await withFiles(await startChain(), this.#opened);
    this.call = chain.call;
    this.chainId = chain.chainId;
    this.files = { url: merkleUrl };
    this.contract = await deployOn(this.call, owner);
    this.codeHash = keccak256(String(await this.call("eth_getCode", [this.contract, "latest"])));
    this.olderContract = await deployOlder(this.call, published.tree.root);

    await new FolderStore(filesDir).put(forged);
    const publish = async ({ records }: MerkleFile) =>
      (await publishLocally({ rpcUrl, filesDir, contract: this.contract }, records)).published;
    [{ blockNumber: this.blockNumber }] = (await publish(published)) as [PublishedRoot];
    // Anvil finalizes the first file, too, before the second one is published. The blocks are at most 2 minutes ahead
    // of the clock.
    await this.call("hardhat_mine", ["0x60"]);
    this.earlier = await this.fetchBlock("latest");
    await publish(publishedLater);
    this.head = await this.fetchBlock("latest");

    this.endpoints = await Promise.all(Array.from({ length: 5 }, () => startEndpoint(rpcUrl)));
    for (const endpoint of this.endpoints) this.#opened.defer(() => endpoint.close());
  }

  close(): Promise<void> {
    return this.#opened.disposeAsync();
  }

  async fetchBlock(at: string): Promise<BlockJson> {
    return (await this.call("eth_getBlockByNumber", [at, false])) as BlockJson;
  }

  urls(): [string, ...string[]] {
    return this.endpoints.map(({ url }) => url) as [string, ...string[]];
  }

  /** Makes the first endpoints return false answers. Their answers arrive first. */
  letLie(lie: Lie, count: number): void {
    for (const endpoint of this.endpoints.slice(0, count)) endpoint.lie = lie;
  }

  /** The first endpoint, the contract and the file host, as options. */
  place() {
    const [rpc] = this.urls();
    return { rpc, chainId: this.chainId, contract: this.contract, merkleUrl: this.files.url };
  }

  /** Returns the options with a source. @param block the requirements for the block that endpoints report */
  optionsFor(source: Source, block: BlockOptions = {}): OnceOptions {
    const place = { ...this.place(), expectedPublicKey: ANY_KEY };
    switch (source) {
      case "one-endpoint":
        return { ...place, trust: oneEndpoint(block) };
      case "endpoints":
        return { ...place, rpc: this.urls(), trust: endpoints({ required: REQUIRED, ...block }) };
      case "own-node":
        return { ...place, trust: ownNode(block) };
      case "pinned-block":
        return { ...place, trust: pinnedBlock(this.head.hash) };
    }
  }

  /** Returns the expected evidence: the source and proof, the block, and the whole file. */
  evidenceOf(source: Source, { hash, number, timestamp }: BlockJson): Evidence {
    return {
      source,
      ...(source === "endpoints" ? { details: { agreeing: REQUIRED } } : {}),
      block: { hash, number: Number(number), timestamp: Number(timestamp) },
      storageProof: needsProof(source),
      uniqueness: "checked",
    };
  }

  /** Invents a latest block in which the user has this root, or none. */
  async inventState(root: string): Promise<InventedState> {
    const slot = slotOfUser(userID, USERS_SLOT);
    const entries: [string, string][] = [
      [ZERO, `0x${"1".repeat(64)}`],
      ...(root === ZERO ? [] : [[slot, root] as [string, string]]),
    ];
    const storage = await trieOf(entries.map(([slot, value]) => [slot, RLP.encode(getBytes(value))]));
    const accounts = await trieOf([[this.contract, accountOf(storage.root, this.codeHash)]]);
    const proof = {
      accountProof: await accounts.prove(this.contract),
      storageProof: [{ proof: await storage.prove(slot) }],
    };
    return { root, block: rehash(this.head, { stateRoot: accounts.root }), proof };
  }
}

/** Describes tests that run on Hardhat's chain, and on Anvil in `npm run test:all`. */
export function describeOnChains(subject: string, body: (chain: FiveEndpoints) => void): void {
  describeOnBoth(subject, (startChain) => {
    const chain = new FiveEndpoints();
    before(() => chain.start(startChain));
    after(() => chain.close());
    beforeEach(() => {
      for (const endpoint of chain.endpoints) endpoint.lie = undefined;
    });
    body(chain);
  });
}

/** The result of a verification: "truth", "lie", or the code of its error. */
export async function resultOf(options: OnceOptions, { userID, pubKey } = mine): Promise<string> {
  try {
    const { record } = await verifyOnce(userID, options);
    return record.pubKey === pubKey ? "truth" : "lie";
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    return error.code;
  }
}

/** The data of an invented chain that a dishonest endpoint returns. */
export interface InventedState {
  root: string;
  block: BlockJson;
  proof: unknown;
}

/** Returns the true block, and an invented answer of the contract. */
export const lieAboutContract = ({ root, proof }: InventedState, ...[method, params, truth]: Parameters<Lie>) => {
  if (method === "eth_getProof") return proof;
  return JSON.stringify(params).includes(GET_MERKLE_TREE_ROOT) ? root : truth(method, params);
};

/** Returns an invented block with its right hash, and the invented state. */
export const lieAboutBlock = (state: InventedState, ...[method, params, truth]: Parameters<Lie>) => {
  if (method.startsWith("eth_getBlockBy")) return state.block;
  // The chain does not have this block.
  return JSON.stringify(params).includes(GET_BLOCK_NUMBER)
    ? toBeHex(1, 32)
    : lieAboutContract(state, method, params, truth);
};

/** A block with other fields, and the hash of these fields. */
export function rehash(block: unknown, fields: HeaderJson): BlockJson {
  const changed = { ...(block as BlockJson), ...fields };
  return { ...changed, hash: hashHeader(extractHeader(changed)).hash };
}

/**
 * Deploys a contract that keeps the roots in a mapping at slot 1, as PubKeyTrust does. One of the roots is the user's.
 * The contract treats every call as a call of `getMerkleTreeRoot(bytes20)`.
 */
async function deployOlder(call: RpcCall, root: string): Promise<string> {
  const code = [
    "600435600052", // the argument to memory at 0
    "6001602052", // the mapping's slot to memory at 32
    "6040600020", // Keccak-256 of both
    "54600052", // the stored value to memory at 0
    "60206000f3", // returns it
  ];
  const contract = `0x${"01de".repeat(10)}`;
  await call("hardhat_setCode", [contract, `0x${code.join("")}`]);
  await call("hardhat_setStorageAt", [contract, slotOfUser(userID, 1), `0x${root}`]);
  // The next block's state root includes it.
  await call("hardhat_mine", ["0x1"]);
  return contract;
}
