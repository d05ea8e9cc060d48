import { ArgumentError } from "../errors.ts";
import { type ExpectedBytes, type ExpectedKey, parseExpectedKey } from "../identity/compareKey.ts";
import { parseUserID, type UserID } from "../identity/userID.ts";
import { checkNames, checkInteger, checkObject, checkText, invalidArgument } from "../input/options.ts";
import type { BeaconOptions } from "../blocks/beacon/options.ts";
import { ADDRESS, LOWERCASE_HASH } from "../ethereum/rpcValues.ts";
import type { Sha256 } from "../merkle/parseAnyFile.ts";
import { USERS_SLOT } from "../registry/slots.ts";
import type { Limits } from "../transport/limits.ts";
import type { Eip1193Provider } from "../transport/jsonRpc.ts";

/** The options of a verification: the contract, the file host, the required evidence and the limits. */
export interface VerifyOptions {
  /**
   * An EIP-1193 provider, or the URL of a JSON-RPC endpoint of the chain: https, or http with `allowHttp`. With
   * `quorum`, a list of endpoints.
   */
  rpc: Endpoint | readonly Endpoint[];
  /**
   * The id of the contract's chain (EIP-155), which is less than 2^53. For example, 1 is the id of Ethereum's mainnet.
   */
  chainId: number | bigint;
  /** The address of the `PublicKeyRegistry` contract: 0x and 40 hex digits. */
  contract: string;
  /** The URL of the folder with the Merkle-tree files: https, or http with `allowHttp`. */
  merkleUrl: string;
  /**
   * The key that a server returned for this user: 105 bytes, or the same bytes in base64. `ANY_KEY` accepts any
   * published key.
   */
  expectedPublicKey: ExpectedKey;
  /**
   * The required Keccak-256 of the contract's deployed code (EIP-1052): 0x and 64 lowercase hex digits. Default: any
   * code.
   */
  codeHash?: string | undefined;
  /**
   * The number of endpoints that must agree on a block and on the contract's answer at this block. Require more than
   * half of the endpoints. If the number is smaller, two groups with different answers can both be large enough.
   */
  quorum?: number | undefined;
  /** The hash of the block at which the contract must be read: 0x and 64 lowercase hex digits. */
  pinned?: string | undefined;
  /** True to declare that `rpc` is a light client, which verifies that blocks belong to the chain. */
  lightClient?: boolean | undefined;
  /**
   * The auditors who must have signed a statement about the block: `{ keys, threshold, urls, maxAgeMs }`. To use this
   * option, import `keyroot/auditors`. The `AuditorsOption` type of `keyroot/auditors` describes the fields. With this
   * option, the contract's answer also needs a storage proof.
   */
  auditors?: object | undefined;
  /**
   * The options of Ethereum's light client, which verifies the block. To use this option, import `keyroot/beacon`. With
   * this option, the contract's answer also needs a storage proof.
   */
  beacon?: BeaconOptions | undefined;
  /** True to require a storage proof (EIP-1186) of the contract's answer. */
  storageProof?: boolean | undefined;
  /** The block at which the contract is read, unless `pinned` is set. Default: `latest`. */
  block?: "latest" | "safe" | "finalized" | undefined;
  /** Maximum age of the block in ms. Older blocks mean that an endpoint has stopped or hides newer blocks. */
  maxAgeMs?: number | undefined;
  /**
   * The storage slot of the contract's mapping from users to roots, for storage proofs. Default: 2. The older contract
   * `PubKeyTrust` uses 1.
   */
  usersSlot?: number | undefined;
  /**
   * The time at which the app first stored this user, in ms since 1970. For `publicationMs` after this time, the advice
   * of a proven NOT_PUBLISHED error is `wait`.
   */
  knownSince?: number | undefined;
  /** Maximum time from a user's registration to the publication of the key in ms. Default: 2 days. */
  publicationMs?: number | undefined;
  /**
   * True if the app has already verified a key with these options. With `true`, the errors CHAIN_ID_MISMATCH and
   * NO_CONTRACT have the advice `warn` instead of `developer`.
   */
  verifiedBefore?: boolean | undefined;
  limits?: Partial<Limits> | undefined;
  /**
   * True to allow http to other machines. Default: false, because attackers in the network can change unencrypted
   * responses.
   */
  allowHttp?: boolean | undefined;
  /** A signal that aborts the verification. The verification then throws TransportError ABORTED. */
  signal?: AbortSignal | undefined;
  /**
   * A function that replaces the global `fetch` for files and RPC. The function must support `signal` and `redirect:
   * "manual"`.
   */
  fetch?: typeof globalThis.fetch | undefined;
  /**
   * A SHA-256 function in native code, for slow JavaScript engines. The function must return 32 bytes, not a promise.
   * The library computes the path from the user's record to the root again with the built-in function. Default: the
   * built-in function.
   */
  sha256?: Sha256 | undefined;
  /** Returns the current time in ms since 1970. Default: `Date.now`. */
  now?: (() => number) | undefined;
}

/** A JSON-RPC endpoint of the chain (http or https), or an EIP-1193 provider. */
export type Endpoint = string | Eip1193Provider;

/** The contract that the caller trusts. */
export interface RegistryReference {
  /** The id of the contract's chain (EIP-155). */
  chainId: number;
  /** The address of the contract: 0x and 40 hex digits. */
  contract: string;
  /** The required Keccak-256 of the contract's code (EIP-1052): 0x and 64 hex digits. Undefined to accept any code. */
  codeHash?: string | undefined;
}

/** A user, and the contract from which to read the user's root. */
export interface RootQuery extends RegistryReference {
  userID: UserID;
}

/** A user, and the contract in which the user's key must be published. */
export interface KeyQuery extends RootQuery {
  /** The 105 bytes of the public key that a server returned for this user, or `ANY_KEY` for no comparison. */
  expectedPublicKey: ExpectedBytes;
}

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
  "sha256",
  "now",
];

/**
 * Returns the contract in the options. Rejects options with other names.
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function parseRegistryReference(
  options: Pick<VerifyOptions, "chainId" | "contract" | "codeHash">,
  names: readonly string[],
): RegistryReference {
  const checked = checkObject("The options", options, "an object with chainId and contract");
  const { chainId, contract, codeHash } = checkNames("The options", checked, names);
  checkHash("The codeHash option", codeHash);
  return {
    // Repeats the check of `checkChainId`. An import of that function would enlarge the code that every app loads.
    chainId: checkInteger("The chainId option", typeof chainId === "bigint" ? Number(chainId) : chainId, 1),
    contract: checkText("The contract option", contract, "an address, 0x and 40 hex digits", ADDRESS),
    codeHash,
  };
}

export function parseKeyQuery(registry: RegistryReference, userID: UserID, expectedPublicKey: ExpectedKey): KeyQuery {
  return { ...registry, userID: parseUserID(userID), expectedPublicKey: parseExpectedKey(expectedPublicKey) };
}

/** Checks that at most one of these options is set. @throws ArgumentError ARGUMENT_INVALID */
export function checkOnlyOne(options: Partial<VerifyOptions>, names: readonly (keyof VerifyOptions)[]): void {
  if (names.filter((name) => options[name]).length < 2) return;
  throw new ArgumentError("ARGUMENT_INVALID", `Set only one of the options ${names.join(", ")}.`);
}

export function parseUsersSlot(usersSlot: number = USERS_SLOT): number {
  return checkInteger("The usersSlot option", usersSlot, 0);
}

export function parseEndpoints({ rpc, quorum }: Pick<VerifyOptions, "rpc" | "quorum">): readonly Endpoint[] {
  // A copy, because the caller may change the list during the verification.
  const endpoints = Array.isArray(rpc) ? [...(rpc as readonly Endpoint[])] : [rpc as Endpoint];
  if (quorum === undefined) {
    if (endpoints.length === 1) return endpoints;
    throw invalidArgument("The rpc option", "one endpoint, or several with the quorum option", rpc);
  }
  checkInteger("The quorum option", quorum, 1, endpoints.length);
  return endpoints;
}

export function checkHash(what: string, hash: unknown): void {
  if (hash !== undefined) checkText(what, hash, "a hash, 0x and 64 lowercase hex digits", LOWERCASE_HASH);
}
