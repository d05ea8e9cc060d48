import { ArgumentError } from "../errors.ts";
import { type ExpectedBytes, type ExpectedKey, parseExpectedKey } from "../identity/expectedKey.ts";
import { parseUserID, type UserID } from "../identity/userID.ts";
import { checkNames, checkBoolean, checkInteger, checkObject, checkText, invalidArgument } from "../input/options.ts";
import { type AddedSource, type KeyProof, makeSource } from "../blocks/addedSources.ts";
import type { BeaconOptions } from "../blocks/beacon/options.ts";
import { ADDRESS, LOWERCASE_HASH } from "../ethereum/rpcValues.ts";
import { USERS_SLOT } from "../registry/slots.ts";
import type { Limits } from "../transport/limits.ts";
import type { Eip1193Provider } from "../transport/jsonRpc.ts";

/** The contract, the file host, the required evidence and the limits of a verification. */
export interface VerifyOptions {
  /** A JSON-RPC endpoint of the chain (https, see `allowHttp`), or an EIP-1193 provider; several of them with `quorum`. */
  rpc: Endpoint | readonly Endpoint[];
  /** The chain of the contract (EIP-155): 1 is Ethereum's mainnet. Below 2^53. */
  chainId: number | bigint;
  /** The address of the contract `PublicKeyRegistry`: 0x and 40 hex digits. */
  contract: string;
  /** The URL of the folder that holds the Merkle-tree files (https, see `allowHttp`). */
  merkleUrl: string;
  /** The key that a server returned for this user: 105 bytes, or their base64. `ANY_KEY` accepts any published key. */
  expectedPublicKey: ExpectedKey;
  /** Keccak-256 of the contract's deployed code (as EIP-1052), 0x and 64 lowercase hex digits. Default: any code. */
  codeHash?: string | undefined;
  /**
   * Requires that this many endpoints agree on a block and on the contract's answer at that block. Choose more than
   * half of them: otherwise two groups of this size can disagree.
   */
  quorum?: number | undefined;
  /** Requires the contract's answer at this block: 0x and 64 lowercase hex digits. */
  pinned?: string | undefined;
  /** Declares that `rpc` is a light client, which verifies that blocks belong to the chain. */
  lightClient?: boolean | undefined;
  /**
   * Requires that auditors signed a statement about the block: `{ keys, threshold, urls, maxAgeMs }`. Import
   * `keyroot/auditors`, which describes the fields. The contract's answer then needs a storage proof, too.
   */
  auditors?: object | undefined;
  /**
   * With `auditors`: verifies a key with two short proofs instead of the whole file, where the auditors' statement allows it
   * (docs/short-proofs.md). Otherwise reads the whole file. `evidence.uniqueness` states which of them.
   */
  proofs?: boolean | undefined;
  /**
   * Verifies the block with Ethereum's light client protocol. Import `keyroot/beacon`. The contract's answer then needs a storage
   * proof, too.
   */
  beacon?: BeaconOptions | undefined;
  /** Requires a storage proof (EIP-1186) of the contract's answer. */
  storageProof?: boolean | undefined;
  /** The block to read at, unless `pinned` names one. Default `latest`. */
  block?: "latest" | "safe" | "finalized" | undefined;
  /** The maximum age of the block in ms. This detects an endpoint that has stopped, or is held back. */
  maxAgeMs?: number | undefined;
  /** The slot of the contract's mapping from users to roots, for storage proofs. Default 2; `PubKeyTrust` has 1. */
  usersSlot?: number | undefined;
  /**
   * The time at which the app first had this user, in ms since 1970, from the app's own records. Until `publicationMs` later, the
   * advice about a proven NOT_PUBLISHED is to wait.
   */
  knownSince?: number | undefined;
  /** The maximum time from a user's registration to the publication of the key in ms. Default 2 days. */
  publicationMs?: number | undefined;
  /** Declares that the app has verified a key with these options earlier. Errors then do not count as a wrong configuration. */
  verifiedBefore?: boolean | undefined;
  limits?: Partial<Limits> | undefined;
  /** Allows http to other machines than this one. Default false: others on the network could change the answers. */
  allowHttp?: boolean | undefined;
  /** Aborts the verification, which then throws TransportError ABORTED. */
  signal?: AbortSignal | undefined;
  /** Replaces the global `fetch` for files and RPC. It must support `signal` and `redirect: "manual"`. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Returns the current time in ms since 1970. Default `Date.now`. */
  now?: (() => number) | undefined;
}

/** A JSON-RPC endpoint of the chain (http or https), or an EIP-1193 provider. */
export type Endpoint = string | Eip1193Provider;

/** The contract whose answer counts. */
export interface RegistryReference {
  /** The chain of the contract (EIP-155). */
  chainId: number;
  /** The contract's address: 0x and 40 hex digits. */
  contract: string;
  /** Keccak-256 of the contract's code (as EIP-1052), 0x and 64 hex digits; undefined accepts any code. */
  codeHash?: string | undefined;
}

/** The user whose root to read from this contract. */
export interface RootQuery extends RegistryReference {
  userID: UserID;
}

/** The user whose key must be published in this contract. */
export interface KeyQuery extends RootQuery {
  /** The 105 bytes that a server returned as this user's public key; `ANY_KEY` for no comparison. */
  expectedPublicKey: ExpectedBytes;
}

/** The evidence that a verdict requires. */
export interface EvidencePolicy {
  /** The source of the block hash: `quorum` is the number of endpoints that must agree, `pinned` is the pinned hash. */
  anchor: "endpoint" | "light-client" | { quorum: number } | { pinned: string } | { added: AddedSource };
  storageProof: boolean;
  /** Verifies keys without the whole file, with the option `proofs`. */
  proveKey?: KeyProof | undefined;
  /** The block to read at, unless one is pinned. */
  tag: "latest" | "safe" | "finalized";
  /** The maximum age of the block in ms. */
  maxAgeMs: number | undefined;
  /** The slot of the contract's mapping from users to roots. */
  usersSlot: number;
}

const TAGS: readonly unknown[] = ["latest", "safe", "finalized"];

/** All names of verification options. */
export const VERIFY_OPTIONS: readonly (keyof VerifyOptions)[] = [
  "rpc",
  "chainId",
  "contract",
  "codeHash",
  "usersSlot",
  "merkleUrl",
  "quorum",
  "pinned",
  "lightClient",
  "auditors",
  "proofs",
  "beacon",
  "storageProof",
  "block",
  "maxAgeMs",
  "publicationMs",
  "verifiedBefore",
  "expectedPublicKey",
  "knownSince",
  "limits",
  "allowHttp",
  "signal",
  "fetch",
  "now",
];

/**
 * The contract that the options name. Refuses options that the call does not have.
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function parseRegistryReference(
  options: Pick<VerifyOptions, "chainId" | "contract" | "codeHash">,
  names: readonly string[],
): RegistryReference {
  const checked = checkObject("The options", options, "an object with chainId and contract");
  const { chainId, contract, codeHash } = checkNames("The options", checked, names);
  checkHash("The option codeHash", codeHash);
  return {
    // Does the same as `checkChainId`, but is smaller, because every app loads this code.
    chainId: checkInteger("The option chainId", typeof chainId === "bigint" ? Number(chainId) : chainId, 1),
    contract: checkText("The option contract", contract, "an address, 0x and 40 hex digits", ADDRESS),
    codeHash,
  };
}

/** @throws ArgumentError ARGUMENT_INVALID, USER_ID_INVALID, BASE64_INVALID, PUBLIC_KEY_LENGTH */
export function parseKeyQuery(registry: RegistryReference, userID: UserID, expectedPublicKey: ExpectedKey): KeyQuery {
  return { ...registry, userID: parseUserID(userID), expectedPublicKey: parseExpectedKey(expectedPublicKey) };
}

/** @throws ArgumentError ARGUMENT_INVALID */
export function parseEvidencePolicy(
  options: Partial<VerifyOptions> & Pick<VerifyOptions, "chainId" | "contract">,
): EvidencePolicy {
  const { quorum, pinned, lightClient = false, auditors, proofs, beacon } = options;
  const { storageProof = false, maxAgeMs } = options;
  checkBoolean("The option lightClient", lightClient);
  checkBoolean("The option storageProof", storageProof);
  checkOnlyOne(options, ["quorum", "pinned", "lightClient", "auditors", "beacon"]);
  checkOnlyOne(options, ["block", "pinned", "auditors", "beacon"]);
  checkHash("The option pinned", pinned);
  // The auditors' source checks the proofs, and refuses them without auditors.
  const given = auditors ?? beacon ?? (proofs ? true : undefined);
  const added = given === undefined ? given : makeSource(auditors || proofs ? "auditors" : "beacon", given, options);
  const { block: tag = added ? "finalized" : "latest" } = options;
  if (!TAGS.includes(tag)) throw invalidArgument("The option block", "latest, safe or finalized", tag);
  if (maxAgeMs !== undefined) checkInteger("The option maxAgeMs", maxAgeMs, 0);
  const usersSlot = parseUsersSlot(options.usersSlot);
  const anchor = added
    ? { added }
    : quorum !== undefined
      ? { quorum }
      : pinned !== undefined
        ? { pinned }
        : lightClient
          ? "light-client"
          : "endpoint";
  // Auditors and sync committees sign finalized blocks. Without a storage proof, their block would support no answer.
  return { anchor, storageProof: storageProof || !!added, proveKey: added?.proveKey, tag, maxAgeMs, usersSlot };
}

/** @throws ArgumentError ARGUMENT_INVALID */
export function checkOnlyOne(options: Partial<VerifyOptions>, names: readonly (keyof VerifyOptions)[]): void {
  if (names.filter((name) => options[name]).length < 2) return;
  throw new ArgumentError("ARGUMENT_INVALID", `Give only one of the options ${names.join(", ")}.`);
}

/** @throws ArgumentError ARGUMENT_INVALID */
export function parseUsersSlot(usersSlot: number = USERS_SLOT): number {
  return checkInteger("The option usersSlot", usersSlot, 0);
}

/** @throws ArgumentError ARGUMENT_INVALID */
export function parseEndpoints({ rpc, quorum }: Pick<VerifyOptions, "rpc" | "quorum">): readonly Endpoint[] {
  // A copy: the caller may change the array during the verification.
  const endpoints = Array.isArray(rpc) ? [...(rpc as readonly Endpoint[])] : [rpc as Endpoint];
  if (quorum === undefined) {
    if (endpoints.length === 1) return endpoints;
    throw invalidArgument("The option rpc", "one endpoint, or several with the option quorum", rpc);
  }
  checkInteger("The option quorum", quorum, 1, endpoints.length);
  return endpoints;
}

/** @throws ArgumentError ARGUMENT_INVALID */
export function checkHash(what: string, hash: unknown): void {
  if (hash !== undefined) checkText(what, hash, "a hash, 0x and 64 lowercase hex digits", LOWERCASE_HASH);
}
