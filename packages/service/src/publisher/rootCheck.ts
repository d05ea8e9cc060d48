import { isDeepStrictEqual } from "node:util";
import { VerificationError } from "keyroot/internal/errors";
import { parseSafeQuantity, toHash, toQuantity } from "keyroot/internal/ethereum";
import { REGIONS, type KeyRecord, type KeyType, type Region, type UserID } from "keyroot/internal/identity";
import { isObject } from "keyroot/internal/input";
import { type MerkleFile, parseMerkleFile } from "keyroot/internal/merkle";
import { fetchBlockNumber, type RootAddedLog, ZERO_ROOT } from "keyroot/internal/registry";
import { findStored, type MerkleFileStore, type Registry } from "@keyroot/operator/publisher";
import {
  checkBlock,
  divideByRoot,
  fetchUserCountIfAny,
  proveRecords,
  readRootAddedLogs,
  readUntil,
  waitForFinality,
} from "@keyroot/operator/shared";
import { TransportError } from "../api/base/errors.ts";
import type { AddedRoot } from "../publishing/publications.ts";

/**
 * The limits in ms for waiting until a block is final: the pause between two requests, and the time after which the
 * wait ends if the slowest endpoint shows no new block.
 */
const FINALITY_WAIT = { pollMs: 500, timeoutMs: 60_000, report: () => undefined };

/** A root with a verified file, and the users who have the root at a final block. */
export interface CheckedRoot {
  /** The transaction and the block that added the root. Undefined if no user has the root. */
  added: AddedRoot | undefined;
  /** Hash of the block that added the root: 0x and 64 hex digits. Undefined if no user has the root. */
  blockHash: string | undefined;
  /** The file's records of users who have the root. */
  records: KeyRecord[];
  /** Users who have no root or a different root. */
  lost: UserID[];
}

export interface RootCheckOptions {
  /** The registry, read through each endpoint. If there are two endpoints, they must agree. */
  registries: readonly [Registry, ...Registry[]];
  stores: Record<Region, MerkleFileStore>;
  chainId: number;
  /** Number of blocks, including the root's own block, after which a root is treated as published. */
  confirmations: number;
  keyType: KeyType;
  now: () => number;
}

/** Compares stored roots with the chain and the Merkle-tree files. */
export class RootCheck {
  readonly #options: RootCheckOptions;

  constructor(options: RootCheckOptions) {
    this.#options = options;
  }

  /**
   * Returns the newest block that is final at every endpoint.
   * @param target the number of a block that must be final. The call waits for it. Default: 0
   * @throws TransportError FUTURE_BLOCK, NOT_FINAL, and the errors of the endpoints
   */
  async finalBlock(target = 0): Promise<number> {
    const { registries, confirmations } = this.#options;
    const block = async () => {
      const heads = await Promise.all(registries.map((registry) => this.#readBlock(registry, "latest")));
      return { number: Math.min(...heads.map((head) => head?.number ?? 0)) };
    };
    const finalizedBlock = () => Promise.resolve(undefined);
    return waitForFinality({ block, finalizedBlock }, target, { confirmations }, FINALITY_WAIT);
  }

  /**
   * Returns a block's hash. Returns undefined if the block does not exist.
   * @throws VerificationError QUORUM_NOT_REACHED
   */
  blockHash(number: number): Promise<string | undefined> {
    return this.#agree(async (registry) => (await this.#readBlock(registry, number))?.hash);
  }

  /**
   * Lists all roots that the chain has at a block, in order. @throws VerificationError QUORUM_NOT_REACHED;
   * TransportError
   */
  listAddedRoots(toBlock: number): Promise<string[]> {
    return this.#agree(async ({ chain: { call }, contract }) => {
      const fromBlock = await fetchBlockNumber(call, contract, ZERO_ROOT);
      if (toBlock < fromBlock) return [];
      const read = async () => {
        const logs = await readRootAddedLogs(call, contract, { fromBlock, toBlock });
        return { logs, users: await fetchUserCountIfAny(call, contract, toQuantity(toBlock)) };
      };
      const { logs, users } = await readUntil(isComplete, read);
      if (isComplete({ logs, users })) return [...new Set(logs.map(({ root }) => root))];
      const message = `The endpoint's events up to the block ${toBlock} do not add up to its ${users} users. Compare again later, or use another endpoint.`;
      throw new TransportError("NOT_FINAL", message, { expected: users });
    });
  }

  /** Reads the users' roots at a block, in order. @throws VerificationError QUORUM_NOT_REACHED; TransportError */
  rootsOf(userIDs: readonly UserID[], block: number): Promise<(string | undefined)[]> {
    return this.#agree((registry) => registry.getMerkleTreeRoots(userIDs, block));
  }

  /**
   * Verifies a root's file, and checks which users have the root at a final block.
   * @param users the users to check. Undefined for all users in the file
   * @param final a block from `finalBlock`
   * @throws VerificationError QUORUM_NOT_REACHED, FILE_NOT_FOUND, USER_NOT_IN_FILE, and the codes of `parseMerkleFile`;
   * TransportError NOT_FINAL, and the errors of the endpoints and the stores
   */
  async check(root: string, users: readonly UserID[] | undefined, final: number): Promise<CheckedRoot> {
    const known = users === undefined ? await this.#readFile(root) : undefined;
    const userIDs = users ?? known?.records.map(({ userID }) => userID) ?? [];
    const { registries, chainId } = this.#options;
    const [{ contract }] = registries;
    const reading = { chainId, roots: await this.rootsOf(userIDs, final) };
    const { userIDs: holders, superseded, unpublished } = divideByRoot(root, userIDs, { chainId, contract }, reading);
    const lost = [...superseded.map(({ userID }) => userID), ...unpublished];
    if (holders.length === 0) return { added: undefined, blockHash: undefined, records: [], lost };
    // A node that is behind the others may not know the root or its block yet.
    const { added, blockHash } = await readUntil(
      ({ added, blockHash }) => added !== undefined && blockHash !== undefined,
      async () => {
        const added = await registries[0].findAddedRoot(root);
        return { added, blockHash: added && (await this.blockHash(added.blockNumber)) };
      },
    );
    if (added === undefined || blockHash === undefined || added.blockNumber > final) {
      const message = `Users have the root ${root}, but the endpoint returns no final block in which it was added. Publish again later.`;
      throw new TransportError("NOT_FINAL", message, { actual: added?.blockNumber });
    }
    const records = proveRecords(root, holders, { chainId, contract }, known ?? (await this.#readFile(root)));
    return { added, blockHash, records, lost };
  }

  /**
   * Reads a root's file from the first store that contains the file.
   * @throws VerificationError FILE_NOT_FOUND; TransportError
   */
  async #readFile(root: string): Promise<MerkleFile> {
    for (const region of REGIONS) {
      const bytes = await findStored(root, this.#options.stores[region]);
      if (bytes !== undefined) return parseMerkleFile(bytes, root, this.#options.keyType);
    }
    const message = `No store has the file ${root}.json, so its keys cannot be verified. Restore it from a copy.`;
    throw new VerificationError("file", "FILE_NOT_FOUND", message, { actual: root });
  }

  /**
   * Returns the result on which all endpoints agree. If they contradict each other, it first reads again, because an
   * endpoint may be behind.
   * @throws VerificationError QUORUM_NOT_REACHED
   */
  async #agree<T>(read: (registry: Registry) => Promise<T>): Promise<T> {
    const { registries } = this.#options;
    const agrees = ([first, ...others]: readonly T[]) => others.every((other) => isDeepStrictEqual(other, first));
    const results = await readUntil(agrees, () => Promise.all([read(registries[0]), ...registries.slice(1).map(read)]));
    if (agrees(results)) return results[0] as T;
    const message =
      "The two endpoints contradict each other about the registry. Nothing was changed. Find out which endpoint is wrong.";
    throw new VerificationError("anchor", "QUORUM_NOT_REACHED", message, { expected: registries.length });
  }

  async #readBlock({ chain }: Registry, tag: number | "latest"): Promise<{ number: number; hash: string } | undefined> {
    const parameter = typeof tag === "number" ? toQuantity(tag) : tag;
    const block = await chain.request("eth_getBlockByNumber", [parameter, false], parseBlock);
    const { chainId, now } = this.#options;
    if (block !== undefined) checkBlock(block, { chainId, last: undefined, now });
    return block;
  }
}

/** Whether the events add up to the contract's number of users. */
function isComplete({ logs, users }: { logs: readonly RootAddedLog[]; users: number | undefined }): boolean {
  return users === undefined || users === logs.reduce((sum, { addedCount }) => sum + addedCount, 0);
}

function parseBlock(answer: unknown): { number: number; hash: string; timestamp: number } | undefined {
  if (answer === null) return undefined;
  if (!isObject(answer)) throw new Error("not an object");
  const { number, hash, timestamp } = answer;
  return { number: parseSafeQuantity(number), hash: toHash(hash), timestamp: parseSafeQuantity(timestamp) };
}
