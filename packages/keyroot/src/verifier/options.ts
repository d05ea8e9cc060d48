import { describeValue } from "../input/describeValue.ts";
import { ArgumentError } from "../errors.ts";
import { base64ToBytes } from "../bytes/base64.ts";
import { PUBLIC_KEY_BYTES } from "../identity/publicKey.ts";
import { parseUserID, type UserID } from "../identity/userID.ts";
import { USERS_SLOT } from "../registry/calldata.ts";
import { DEFAULT_LIMITS, type Limits } from "../transport/fetchBytes.ts";
import type { Eip1193Provider } from "../transport/jsonRpc.ts";
import type { EvidencePolicy } from "./readRoot.ts";
import type { KeyQuery } from "./verdict.ts";

/** Where to look, what to insist on, and what it may cost. */
export interface VerifyOptions {
  /** A JSON-RPC endpoint of the chain (http or https), or an EIP-1193 provider; several of them with `quorum`. */
  rpc: Endpoint | readonly Endpoint[];
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
  /**
   * Insists that this many of the endpoints agree on a block, and on the contract's answer at it. Take more than half of
   * them: fewer could be liars who agree among themselves.
   */
  quorum?: number | undefined;
  /** Insists on the contract's answer at this block: 0x and 64 hex digits in lower case. */
  blockHash?: string | undefined;
  /** Declares that `rpc` is a light client, which checks by itself which block is the chain's. */
  lightClient?: boolean | undefined;
  /** Insists on a storage proof (EIP-1186) of the contract's answer. */
  storageProof?: boolean | undefined;
  /** The block to ask at, where none is given by `blockHash`: default `latest`. */
  block?: "latest" | "safe" | "finalized" | undefined;
  /** Refuses a block that is older, in milliseconds: an endpoint that has stopped, or is held back. */
  maxAgeMs?: number | undefined;
  /** The slot of the contract's mapping from users to roots, for storage proofs: default 2; `PubKeyTrust` has 1. */
  usersSlot?: number | undefined;
  limits?: Partial<Limits> | undefined;
  /** Ends the verification early, with ABORTED. */
  signal?: AbortSignal | undefined;
  /** Fetches files and RPC answers; default the global one. It must heed `signal` and `redirect`. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Milliseconds since 1970; default the system's clock. */
  now?: (() => number) | undefined;
}

/** A JSON-RPC endpoint of the chain (http or https), or an EIP-1193 provider. */
export type Endpoint = string | Eip1193Provider;

/** What the answer must rest on. @throws ArgumentError ARGUMENT_INVALID */
export function parseEvidencePolicy(options: VerifyOptions): EvidencePolicy {
  const { quorum, blockHash, lightClient = false, storageProof = false, block: tag = "latest", maxAgeMs } = options;
  if ([quorum !== undefined, blockHash !== undefined, lightClient].filter(Boolean).length > 1) {
    const message = "The options quorum, blockHash and lightClient each name where the block comes from: give one.";
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
  if (blockHash !== undefined && options.block !== undefined) {
    throw new ArgumentError("ARGUMENT_INVALID", "The options block and blockHash each name a block: give one.");
  }
  for (const [name, value] of Object.entries({ lightClient, storageProof })) {
    // A text such as "false" would be taken for true here, and for false there.
    if (typeof value !== "boolean") throw invalidOption(name, "true or false", value);
  }
  const usersSlot = options.usersSlot ?? USERS_SLOT;
  const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
  if (!isCount(usersSlot)) throw invalidOption("usersSlot", "a whole number", usersSlot);
  if (maxAgeMs !== undefined && !isCount(maxAgeMs)) throw invalidOption("maxAgeMs", "a whole number", maxAgeMs);
  if (!["latest", "safe", "finalized"].includes(tag)) throw invalidOption("block", "latest, safe or finalized", tag);
  if (blockHash !== undefined && !/^0x[0-9a-f]{64}$/.test(blockHash)) {
    throw invalidOption("blockHash", "0x and 64 hex digits in lower case", blockHash);
  }
  const anchor =
    quorum !== undefined
      ? { quorum }
      : blockHash !== undefined
        ? { blockHash }
        : lightClient
          ? "light-client"
          : "endpoint";
  return { anchor, storageProof, tag, maxAgeMs, usersSlot };
}

/** The endpoints to ask. @throws ArgumentError ARGUMENT_INVALID */
export function parseEndpoints({ rpc, quorum }: VerifyOptions): readonly Endpoint[] {
  const endpoints = Array.isArray(rpc) ? (rpc as readonly Endpoint[]) : [rpc as Endpoint];
  if (quorum === undefined) {
    if (endpoints.length !== 1) throw invalidOption("rpc", "one endpoint, or several with a quorum", endpoints.length);
    return endpoints;
  }
  // Two addresses of one host are one operator's word, not two; nor does a way to write it make it another.
  const hosts = endpoints.map((rpc) =>
    typeof rpc === "string" && URL.canParse(rpc) ? new URL(rpc).host.replace(/\.(?=:|$)/, "") : rpc,
  );
  if (new Set(hosts).size !== hosts.length) throw invalidOption("rpc", "endpoints on different hosts", hosts.length);
  if (!Number.isSafeInteger(quorum) || quorum < 1 || quorum > endpoints.length) {
    throw invalidOption("quorum", `a whole number from 1 to the ${endpoints.length} endpoints`, quorum);
  }
  return endpoints;
}

/** What is asked. @throws ArgumentError ARGUMENT_INVALID, USER_ID_INVALID, BASE64_INVALID, PUBLIC_KEY_LENGTH */
export function parseKeyQuery(userID: UserID, options: VerifyOptions): KeyQuery {
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

/** What it may cost. @throws ArgumentError ARGUMENT_INVALID */
export function parseLimits(limits: Partial<Limits> = {}): Limits {
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
