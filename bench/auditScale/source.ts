/**
 * The chain and the file host of an audit, for any number of users. It answers JSON-RPC requests from a generated log,
 * and serves real Merkle-tree files from a folder. It replaces Anvil, which would need more time than the audit and
 * more memory than the machine has.
 *
 * It answers each message `{ dir, users }` with `{ url, bytes }`, and reuses the files of earlier messages.
 */
import { randomBytes } from "node:crypto";
import { createReadStream, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { encodeRlp, keccak256 } from "ethers";
import {
  generateKeyPair,
  makeKeyRecord,
  randomUserID,
  USER_ID_BYTES,
  userIDFromBytes,
} from "keyroot/internal/identity";
import { makeMerkleFile, serializeMerkleFile } from "keyroot/internal/merkle";
import { ROOT_ADDED_TOPIC } from "keyroot/internal/registry";
import { serve } from "../../test/support/servers/servers.ts";

/** The number of users in a registry, and the folder with its files. */
export interface ScaleRequest {
  /** The folder of the registry's files. */
  dir: string;
  users: number;
}

export interface ScaleSource {
  /** The URL of the endpoint, which also serves the files. */
  url: string;
  /** The size of all files in bytes. */
  bytes: number;
}

export const CONTRACT = `0x${"5c".repeat(20)}`;
/** The id of a development chain. Blocks of a development chain may have any time. */
export const CHAIN_ID = 31_337;
const USERS_PER_FILE = 700;
/** Users share keys, because a new key takes a millisecond. No check compares the keys of two users. */
const KEYS = 100;
/**
 * The number of bytes at the end of each user id that contain the number of the user's file. With this number, the
 * chain finds a user's root without an index.
 */
const FILE_NUMBER_BYTES = 4;
const DEPLOYMENT_BLOCK = 1;
const SECONDS_PER_BLOCK = 12;
/** The number of hex digits in an ABI word. */
const WORD = 64;
const ZERO = "0".repeat(WORD);
/**
 * The first fields of a header with their sizes in bytes, in the order of the header's RLP (Yellow Paper, section 4.4).
 */
const BEFORE_NUMBER = {
  ...{ parentHash: 32, sha3Uncles: 32, miner: 20, stateRoot: 32, transactionsRoot: 32, receiptsRoot: 32 },
  logsBloom: 256,
};

interface AddedRoot {
  root: string;
  users: number;
}

const roots: AddedRoot[] = [];
const numberOfRoot = new Map<string, number>();
let bytes = 0;
let folder = "";

if (process.send !== undefined) {
  const { url } = await serve((request, response) => void answer(request, response));
  process.on("message", ({ dir, users }: ScaleRequest) => {
    folder = dir;
    addFiles(users);
    process.send?.({ url, bytes } satisfies ScaleSource);
  });
  process.once("disconnect", () => process.exit());
}

/** Writes files and adds the files' roots to the chain until the chain has this number of users. */
function addFiles(users: number): void {
  const keys = Array.from({ length: KEYS }, () => makeKeyRecord(randomUserID(), generateKeyPair().publicKey));
  for (let left = users - countUsers(); left > 0; left -= USERS_PER_FILE) {
    const count = Math.min(left, USERS_PER_FILE);
    const ids = randomBytes(count * USER_ID_BYTES);
    const records = Array.from({ length: count }, (_, i) => {
      const id = ids.subarray(i * USER_ID_BYTES, (i + 1) * USER_ID_BYTES);
      id.writeUInt32BE(roots.length, USER_ID_BYTES - FILE_NUMBER_BYTES);
      return { ...keys[i % KEYS], userID: userIDFromBytes(id) } as (typeof keys)[number];
    });
    const file = makeMerkleFile(records);
    const text = [...serializeMerkleFile(file)].join("");
    writeFileSync(join(folder, `${file.tree.root}.json`), text, "latin1");
    bytes += text.length;
    numberOfRoot.set(file.tree.root, roots.length);
    roots.push({ root: file.tree.root, users: count });
  }
}

function countUsers(): number {
  return roots.reduce((sum, { users }) => sum + users, 0);
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === "GET") {
    createReadStream(join(folder, request.url ?? "")).pipe(response);
    return;
  }
  const { id, method, params } = (await json(request)) as { id: number; method: string; params: unknown[] };
  response.end(JSON.stringify({ jsonrpc: "2.0", id, result: resultOf(method, params) }));
}

function resultOf(method: string, [first]: unknown[]): unknown {
  switch (method) {
    case "eth_chainId":
      return toHex(CHAIN_ID);
    case "eth_getBlockByNumber":
      return blockOf(first === "latest" ? newestBlock() : Number(first));
    case "eth_getBlockByHash":
      return blockOf(newestBlock());
    case "eth_getLogs":
      return logsOf(first as { fromBlock: string; toBlock: string });
    case "eth_call":
      return call(first as { to?: string; data: string });
    default:
      throw new Error(`There is no answer to ${method}.`);
  }
}

/** Returns the number of the newest block. Each block after the deployment block adds one root. */
function newestBlock(): number {
  return DEPLOYMENT_BLOCK + roots.length;
}

function blockOf(number: number): Record<string, string> {
  const constants = Object.fromEntries(Object.entries(BEFORE_NUMBER).map(([name, size]) => [name, zeros(size)]));
  const timestamp = toHex(1_700_000_000 + number * SECONDS_PER_BLOCK);
  const header = {
    ...{ ...constants, difficulty: "0x0", number: toHex(number), gasLimit: "0x0", gasUsed: "0x0", timestamp },
    ...{ extraData: "0x", mixHash: zeros(32), nonce: zeros(8) },
  };
  const quantities = new Set(["difficulty", "number", "gasLimit", "gasUsed", "timestamp"]);
  const fields = Object.entries(header).map(([name, value]) => (quantities.has(name) ? toRlpQuantity(value) : value));
  return { ...header, hash: keccak256(encodeRlp(fields)) };
}

function logsOf({ fromBlock, toBlock }: { fromBlock: string; toBlock: string }): object[] {
  const first = Math.max(Number(fromBlock) - DEPLOYMENT_BLOCK - 1, 0);
  return roots.slice(first, Number(toBlock) - DEPLOYMENT_BLOCK).map(({ root, users }, i) => {
    const { number, hash } = blockOf(DEPLOYMENT_BLOCK + 1 + first + i);
    const data = `0x${toWord(users)}`;
    const position = { blockNumber: number, blockHash: hash, transactionHash: `0x${root}`, logIndex: "0x0" };
    return { address: CONTRACT, topics: [ROOT_ADDED_TOPIC, `0x${root}`], data, ...position, removed: false };
  });
}

/** Answers `userCount()`, `getBlockNumber(bytes32)`, and the contract that reads the roots of many users. */
function call({ to, data }: { to?: string; data: string }): string {
  if (to === undefined) return readRoots(data);
  const root = data.slice("0x47378145".length);
  if (root === "") return `0x${toWord(countUsers())}`;
  const number = numberOfRoot.get(root);
  if (root === ZERO) return `0x${toWord(DEPLOYMENT_BLOCK)}`;
  return `0x${toWord(number === undefined ? 0 : DEPLOYMENT_BLOCK + 1 + number)}`;
}

/**
 * Answers a call for the roots of users. In the call data, the user ids follow the contract, an offset and a length.
 * The result has one entry for each group of consecutive users with the same root: the number of users in 2 bytes, and
 * the root.
 */
function readRoots(data: string): string {
  const start = data.lastIndexOf(CONTRACT.slice(2)) + CONTRACT.length - 2 + 2 * WORD;
  const digits = 2 * parseInt(data.slice(start - 8, start), 16);
  const runs: { root: string; users: number }[] = [];
  for (let end = start + 2 * USER_ID_BYTES; end <= start + digits; end += 2 * USER_ID_BYTES) {
    const { root = ZERO } = roots[parseInt(data.slice(end - 2 * FILE_NUMBER_BYTES, end), 16)] ?? {};
    const last = runs.at(-1);
    if (last?.root === root) last.users++;
    else runs.push({ root, users: 1 });
  }
  return `0x${runs.map(({ root, users }) => users.toString(16).padStart(4, "0") + root).join("")}`;
}

function zeros(size: number): string {
  return `0x${"00".repeat(size)}`;
}

function toHex(number: number): string {
  return `0x${number.toString(16)}`;
}

function toWord(number: number): string {
  return number.toString(16).padStart(WORD, "0");
}

/** Returns the bytes of a number without leading zeros, as RLP requires. For 0, there are none. */
function toRlpQuantity(quantity: string): string {
  const digits = quantity.slice(2).replace(/^0+/, "");
  return `0x${digits.length % 2 === 0 ? digits : `0${digits}`}`;
}
