import { type ExpectedBytes, type ExpectedKey, parseExpectedKey } from "../identity/compareKey.ts";
import { checkKeyType, type KeyType } from "../identity/keyTypes/keyType.ts";
import { parseUserID, type UserID } from "../identity/userID.ts";
import { checkBuiltins } from "../input/builtins.ts";
import { checkInteger, checkNames, checkText, invalidArgument } from "../input/options.ts";
import { ADDRESS, LOWERCASE_HASH } from "../ethereum/rpcValues.ts";
import type { Limits } from "../transport/limits.ts";
import type { Eip1193Provider } from "../transport/jsonRpc.ts";
import type { Accounts } from "../account/choice.ts";
import type { Store } from "../store/store.ts";
import type { Trust } from "../trust/trust.ts";

/**
 * The options of a verifier, which apply to all its calls: the contract, the file host, the trust, the limits and
 * others.
 */
export interface VerifierOptions {
  /**
   * An EIP-1193 provider, or the URL of a JSON-RPC endpoint of the chain: https, or http with `allowHttp`. If `trust`
   * is the result of `endpoints`, pass a list of endpoints.
   */
  rpc: Endpoint | readonly Endpoint[];
  /** The id of the contract's chain (EIP-155), such as 1 for Ethereum's mainnet. It must be less than 2^53. */
  chainId: number | bigint;
  /** The address of the `PublicKeyRegistry` contract: 0x and 40 hex digits. */
  contract: string;
  /** The URL of the folder with the Merkle-tree files: https, or http with `allowHttp`. */
  merkleUrl: string;
  /**
   * The app's choice of whom it trusts to name the block at which the contract is read. Pass the result of
   * `oneEndpoint`, `endpoints`, `ownNode`, `pinnedBlock`, `lightClient` (from `keyroot/light-client`) or `auditors`
   * (from `keyroot/auditors`).
   */
  trust: Trust;
  /**
   * The required Keccak-256 of the contract's deployed code (EIP-1052): 0x and 64 lowercase hex digits. Default: any
   * code.
   */
  codeHash?: string | undefined;
  /**
   * The type of the registry's keys: a value of `keyroot/key-types`, such as `x25519`. The app sets the type itself. It
   * is never read from data, because a server could then choose it. Default: `curve41417`.
   */
  keyType?: KeyType | undefined;
  /** Maximum time from a user's registration to the publication of the key in ms. Default: 2 days. */
  publicationMs?: number | undefined;
  /**
   * The result of `accounts` from `keyroot/account`. Set this option if the registry's user ids are account ids, which
   * lets users change their keys. Either all ids of a registry are account ids, or none of them are. Default: no
   * accounts, so a user's key never changes.
   */
  accounts?: Accounts | undefined;
  /**
   * The store in which the verifier keeps verified keys. With a store, the verifier can also return these keys while
   * the chain cannot be read (docs/cache.md). Default: no store, so each call reads the chain.
   */
  cache?: Store | undefined;
  /**
   * Maximum age in ms of a key from `cache` while the chain cannot be read. Default: any age, because a published key
   * never changes. With `accounts`, users can change their keys, so without this option, no key is accepted while the
   * chain cannot be read.
   */
  maxOfflineMs?: number | undefined;
  limits?: Partial<Limits> | undefined;
  /**
   * True to allow http to other machines. Default: false, because attackers in the network can change unencrypted
   * responses.
   */
  allowHttp?: boolean | undefined;
  /**
   * A function that replaces the global `fetch` for files and RPC. It must support `signal` and `redirect: "manual"`.
   */
  fetch?: typeof globalThis.fetch | undefined;
}

/** The options of a single verification. */
export interface KeyOptions {
  /** The key that a server returned for this user, as bytes or in base64. `ANY_KEY` accepts any published key. */
  expectedPublicKey: ExpectedKey;
  /**
   * The user's account file, for example from the server that returned the key or from the app's store. You do not have
   * to trust the source of the file. If the file is missing or out of date, the verifier fetches the newest one from
   * the file host. Only for verifiers with the `accounts` option.
   */
  account?: string | Uint8Array | undefined;
  /**
   * The time at which the app first stored this user, in ms since 1970. Until `publicationMs` have passed since this
   * time, the user's key may still be unpublished, and the advice of the error NOT_PUBLISHED is `wait`. After that, it
   * is `warn`.
   *
   * Default: a verifier with `cache` uses the time at which it first found no key of this user. A verifier without
   * `cache` treats the user as new. The default also applies to null, which databases may return.
   */
  knownSince?: number | null | undefined;
  /** A signal that aborts the verification. The verification then throws TransportError ABORTED. */
  signal?: AbortSignal | undefined;
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
  /** The type of the registry's keys. Undefined for `curve41417`. */
  keyType?: KeyType | undefined;
}

/** A user, and the contract from which to read the user's root. */
export interface RootQuery extends RegistryReference {
  userID: UserID;
  /** A second id, whose root is read at the same block: the slot after an account's newest one. */
  nextSlotID?: UserID | undefined;
}

/** A user, and the contract in which the user's key must be published. */
export interface KeyQuery extends RootQuery {
  /** The bytes of the public key that a server returned for this user, or `ANY_KEY` for no comparison. */
  expectedPublicKey: ExpectedBytes;
}

/** Returns the contract in the options. Rejects options with other names, and replaced built-ins. */
export function parseRegistryReference(
  options: Pick<VerifierOptions, "chainId" | "contract" | "codeHash" | "keyType">,
  names: readonly string[],
): RegistryReference {
  checkBuiltins();
  const expected = "an object with chainId, contract and trust";
  const { chainId, contract, codeHash, keyType } = checkNames("The options", options, names, expected);
  if (codeHash !== undefined)
    checkText("The codeHash option", codeHash, "a hash, 0x and 64 lowercase hex digits", LOWERCASE_HASH);
  return {
    // Repeats the check of `checkChainId`, because importing it would enlarge the code that every app loads.
    chainId: checkInteger("The chainId option", typeof chainId === "bigint" ? Number(chainId) : chainId, 1),
    contract: checkText("The contract option", contract, "an address, 0x and 40 hex digits", ADDRESS),
    codeHash,
    keyType: keyType === undefined ? undefined : checkKeyType(keyType),
  };
}

export function parseKeyQuery(registry: RegistryReference, userID: UserID, expectedPublicKey: ExpectedKey): KeyQuery {
  const key = parseExpectedKey(expectedPublicKey, registry.keyType);
  return { ...registry, userID: parseUserID(userID), expectedPublicKey: key };
}

/**
 * Checks that `rpc` has as many endpoints as the trust needs, and returns them as a list.
 * @param required the number of endpoints that must agree, or undefined for exactly one endpoint
 */
export function parseEndpoints(rpc: VerifierOptions["rpc"], required: number | undefined): readonly Endpoint[] {
  // A copy, because the caller may change the list during the verification.
  const endpoints = Array.isArray(rpc) ? [...(rpc as readonly Endpoint[])] : [rpc as Endpoint];
  if (required === undefined ? endpoints.length === 1 : endpoints.length >= required) return endpoints;
  const expected =
    required === undefined ? "one endpoint, or several with trust: endpoints(…)" : `at least ${required} endpoints`;
  throw invalidArgument("The rpc option", expected, rpc);
}

/** Refuses an account file without the accounts option, which would not be used. @throws ArgumentError */
export function checkAccountOption(
  { verifyAccountFile }: { verifyAccountFile: unknown },
  account: KeyOptions["account"],
): void {
  if (verifyAccountFile === undefined && account !== undefined)
    throw invalidArgument("The account option", "undefined without the verifier's accounts option", account);
}
