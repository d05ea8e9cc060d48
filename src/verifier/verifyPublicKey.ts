import { describeValue } from "../describeValue.ts";
import { ArgumentError } from "../errors.ts";
import { base64ToBytes } from "../identity/base64.ts";
import { PUBLIC_KEY_BYTES } from "../identity/publicKey.ts";
import { parseUserID, type UserID } from "../identity/userID.ts";
import { decodeBlockNumber, decodeCode, encodeGetBlockNumber, encodeGetMerkleTreeRoot } from "../registry/calls.ts";
import { DEFAULT_LIMITS, type Limits } from "../transport/fetchBytes.ts";
import { fetchMerkleFile } from "../transport/fetchMerkleFile.ts";
import { checkUrl, type Eip1193Provider, type RpcCall, rpcCaller } from "../transport/jsonRpc.ts";
import { judgeFile, type JudgedRecord, judgeRoot, type Question } from "./judgement.ts";

/** Where to look, what to insist on, and what it may cost. */
export interface VerifyOptions {
  /** A JSON-RPC endpoint of the chain (http or https), or an EIP-1193 provider. */
  rpc: string | Eip1193Provider;
  /** The chain that holds the contract (EIP-155): 1 is Ethereum's mainnet. */
  chainId: number;
  /** The address of the contract `PublicKeyRegistry`: 0x and 40 hex digits. */
  contract: string;
  /** The address under which the Merkle-tree files are served (http or https). */
  merkleUrl: string;
  /** The key that a server handed out for this user: 105 bytes, or their base64. */
  expectedPublicKey?: Uint8Array | string | undefined;
  /** Keccak-256 of the contract's deployed code, 0x and 64 hex digits: nothing but this code is believed. */
  codeHash?: string | undefined;
  limits?: Partial<Limits> | undefined;
  /** Ends the verification early, with ABORTED. */
  signal?: AbortSignal | undefined;
  /** Fetches files and RPC answers; default the global one. It must heed `signal` and `redirect`. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** A public key that is published, and where. */
export interface VerifiedKey extends JudgedRecord {
  /** The root that the contract keeps for the user: 64 hex digits in lower case. */
  root: string;
  /** The block in which the root was added. */
  blockNumber: number;
  contract: string;
  chainId: number;
}

/**
 * Verifies a user's public key against the root that the contract keeps for that user (specification, "Public-key
 * verification procedure"): reads the root, fetches the root's file, rebuilds its tree, and insists on the one record
 * of this user. Returns only when everything holds; a key must not be used otherwise.
 *
 * The root is worth the word of the endpoint that named it: take one that neither the key's server nor the file host runs.
 * @param userID 32 characters of zBase32 in lower case
 * @throws VerificationError where the key is not verified; `step`, `code`, `expected` and `actual` say why
 * @throws TransportError where endpoint or file host did not answer; nothing is known then
 * @throws ArgumentError where the options are unusable; nothing was asked then
 */
export async function verifyPublicKey(userID: UserID, options: VerifyOptions): Promise<VerifiedKey> {
  const question = parseQuestion(userID, options);
  const { fileBytes, rpcBytes, timeoutMs } = parseLimits(options.limits);
  const { contract, chainId } = question;
  const ended = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, ended.signal]) : ended.signal;
  const via = { fetch: options.fetch, signal, timeoutMs };
  const call = rpcCaller(options.rpc, { ...via, maxBytes: rpcBytes });
  const merkleUrl = checkUrl("merkleUrl", options.merkleUrl);
  try {
    const root = judgeRoot(question, await askChain(question, call));
    const [bytes, answer] = await Promise.all([
      fetchMerkleFile(merkleUrl, root, { ...via, maxBytes: fileBytes }),
      call("eth_call", [{ to: contract, data: encodeGetBlockNumber(root) }, "latest"]),
    ]);
    const judged = judgeFile(question, root, bytes);
    return { ...judged, root, blockNumber: decodeBlockNumber(answer), contract, chainId };
  } finally {
    // Where one of several requests failed, the others are still under way.
    ended.abort();
  }
}

async function askChain({ userID, contract, codeHash }: Question, call: RpcCall) {
  const [chainId, root, code] = await Promise.all([
    call("eth_chainId", []),
    call("eth_call", [{ to: contract, data: encodeGetMerkleTreeRoot(userID) }, "latest"]),
    codeHash === undefined ? undefined : call("eth_getCode", [contract, "latest"]),
  ]);
  return { chainId, root, codeHash: codeHash === undefined ? undefined : await hashCode(decodeCode(code)) };
}

/** Loaded when asked for: most callers never need Keccak. */
async function hashCode(code: string): Promise<string> {
  const { keccak_256 } = await import("@noble/hashes/sha3.js");
  const { bytesToHex, hexToBytes } = await import("@noble/hashes/utils.js");
  return `0x${bytesToHex(keccak_256(hexToBytes(code)))}`;
}

function parseQuestion(userID: UserID, options: VerifyOptions): Question {
  const { chainId, contract, codeHash, expectedPublicKey } = options;
  if (!Number.isSafeInteger(chainId) || chainId < 1) throw invalidOption("chainId", "a positive whole number", chainId);
  if (!/^0x[0-9a-f]{40}$/i.test(contract)) throw invalidOption("contract", "0x and 40 hex digits", contract);
  if (codeHash !== undefined && !/^0x[0-9a-f]{64}$/.test(codeHash)) {
    throw invalidOption("codeHash", "0x and 64 hex digits in lower case", codeHash);
  }
  const key = typeof expectedPublicKey === "string" ? base64ToBytes(expectedPublicKey) : expectedPublicKey;
  if (key !== undefined && (!(key instanceof Uint8Array) || key.length !== PUBLIC_KEY_BYTES)) {
    const message = `expectedPublicKey must be ${PUBLIC_KEY_BYTES} bytes, or their base64.`;
    throw new ArgumentError("PUBLIC_KEY_LENGTH", message, { expected: PUBLIC_KEY_BYTES });
  }
  return { userID: parseUserID(userID), chainId, contract, codeHash, expectedPublicKey: key };
}

function parseLimits(limits: Partial<Limits> = {}): Limits {
  const all = { ...DEFAULT_LIMITS, ...limits };
  for (const [name, value] of Object.entries(all)) {
    // setTimeout takes no more than 31 bits.
    if (!Number.isSafeInteger(value) || value < 1 || value >= 2 ** 31) {
      throw invalidOption(`limits.${name}`, "a whole number from 1 to 2^31 - 1", value);
    }
  }
  return all;
}

function invalidOption(name: string, expected: string, actual: unknown): ArgumentError {
  const message = `The option ${name} must be ${expected}, it is ${describeValue(actual)}.`;
  return new ArgumentError("ARGUMENT_INVALID", message, { expected, actual });
}
