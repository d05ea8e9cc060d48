import { publicKeyRegistryBytecode, publicKeyRegistryCodeHash } from "@keyroot/contracts";
import { AbiCoder, encodeBytes32String, Interface } from "ethers/abi";
import { getAddress, getCreate2Address, getCreateAddress } from "ethers/address";
import { keccak256 } from "ethers/crypto";
import { concat } from "ethers/utils";
import { setTimeout as sleep } from "node:timers/promises";
import { EMPTY_CODE_HASH, fetchCodeHash } from "keyroot/internal/ethereum";
import type { KeyTypeName } from "keyroot/internal/identity";
import { fetchOwner, fetchUserCount } from "keyroot/internal/registry";
import { argumentInvalid, VerificationError } from "../errors.ts";
import type { Chain } from "./chain/chain.ts";
import { type DeploymentRecord, readDeployments, recordDeployment } from "./deploymentRecords.ts";
import { refuseTestAccount } from "./signers/testAccounts.ts";
import { type Call, sendCall, type SendCallOptions } from "./transactions/sendCall.ts";
import { noReceipt } from "./transactions/sendErrors.ts";

/** Options of `deploy`, in addition to the options of `sendCall`. */
export interface DeployOptions extends Omit<SendCallOptions, "earlier" | "reservedNonces" | "record" | "recordFile"> {
  /** The account or Safe that may add roots: 0x and 40 hex digits. Default: the deploying account. */
  owner: string | undefined;
  /** Deploys through CreateX. The address then depends only on the bytecode, the owner and the salt. */
  deterministic: boolean;
  /** The type of the registry's keys, for the record: the contract does not contain it. Default: none is recorded. */
  keyType?: KeyTypeName | undefined;
  /**
   * The path of the file that records the deployments on this chain. With this record, a repeated call does not deploy
   * a second registry for the same owner.
   */
  recordFile: string;
  /**
   * The address of a registry that the endpoint's first account already owns, as on a local stack: 0x and 40 hex
   * digits. For this account, no second registry is deployed. Default: none.
   */
  firstAccountsRegistry?: string | undefined;
}

/** A registry that `deploy` deployed or found. Addresses have a checksum (EIP-55). */
export interface DeployedRegistry {
  contract: string;
  /** The registry's owner at deployment. */
  initialOwner: string;
  /** The registry's owner now. */
  owner: string;
  /** Keccak-256 of the contract's code: 0x and 64 lowercase hex digits. */
  codeHash: string;
  /** True if the registry was deployed before this call. */
  existed: boolean;
}

/** The factory contract CreateX. It has the same address on every chain (https://github.com/pcaversaccio/createx). */
const CREATE_X = "0xba5Ed099633D3B313e4D5F7bdc1305d3c28ba5Ed";
const CREATE_X_ABI = new Interface(["function deployCreate2(bytes32 salt, bytes initCode)"]);
/** The salt of deterministic deployments. It determines the registry's address, so it must not change. */
const SALT = encodeBytes32String("keyroot.PublicKeyRegistry");

const POLL_MS = 250;

/** Returns the ABI-encoded arguments of the constructor: 0x and 64 hex digits. @param owner 0x and 40 hex digits */
export function constructorArguments(owner: string): string {
  return AbiCoder.defaultAbiCoder().encode(["address"], [owner]);
}

/**
 * Returns the code that deploys a registry with this owner: 0x and hex digits.
 * @param owner 0x and 40 hex digits
 */
export function creationCodeOf(owner: string): string {
  return concat([publicKeyRegistryBytecode, constructorArguments(owner)]);
}

/**
 * Deploys a registry with the bytecode of `@keyroot/contracts`, unless an earlier call has already deployed it.
 *
 * You can stop the call at any time and repeat it. The repeated call sends a recorded deployment again with the same
 * nonce. It uses another nonce only if the chain proves that the first one was used and deployed nothing.
 * @throws ArgumentError ARGUMENT_INVALID, TEST_KEY_REFUSED; VerificationError CODE_HASH_MISMATCH, NO_CONTRACT; and the
 *   errors of `sendCall`
 */
export async function deploy(chain: Chain, options: DeployOptions): Promise<DeployedRegistry> {
  const { signer, chainId, deterministic, keyType, recordFile, timeoutMs } = options;
  const end = performance.now() + timeoutMs;
  const from = signer?.address ?? (await firstAccountOf(chain));
  const owner = getAddress(options.owner ?? from);
  refuseTestAccount(owner, chainId);
  const initCode = creationCodeOf(owner);
  // CreateX does not use the salt itself. For a salt with neither the sender nor a chain id, it uses the hash of the
  // salt.
  const fixed = deterministic ? getCreate2Address(CREATE_X, keccak256(SALT), keccak256(initCode)) : undefined;
  const by = deterministic ? "create2" : "create";
  const records = await readDeployments(recordFile);
  const recorded = records.find((one) => one.owner === owner && one.by === by);
  const known = fixed ?? (await firstAccountsRegistryFor(chain, owner, options)) ?? recorded?.contract;
  if (known !== undefined && (await isRegistry(chain, known))) {
    if (recorded?.contract === known) await changeKeyType(chain, recorded, options);
    return registryAt(chain, known, owner, true, end);
  }
  if (fixed !== undefined) await requireCreateX(chain, chainId);

  const contractOf = (nonce: number) => fixed ?? getCreateAddress({ from, nonce });
  const { nonce, isSent } = await sendCall({ chain, contract: fixed ?? from }, callOf(from, initCode, deterministic), {
    ...options,
    earlier: await earlierOf(chain, recorded, from, options),
    reservedNonces: new Set(records.filter((one) => isReserved(one, from, options)).map((one) => one.nonce)),
    record: (sent) =>
      recordDeployment(recordFile, { owner, by, contract: contractOf(sent.nonce), from, keyType, ...sent }),
  });
  return registryAt(chain, contractOf(nonce), owner, !isSent, end);
}

/** Returns the registry that the options name for the endpoint's first account, if that account is the owner. */
async function firstAccountsRegistryFor(
  chain: Chain,
  owner: string,
  { firstAccountsRegistry: registry }: DeployOptions,
): Promise<string | undefined> {
  if (registry === undefined || owner !== (await firstAccountOf(chain))) return undefined;
  return (await isRegistry(chain, registry)) ? getAddress(registry) : undefined;
}

/** Records another key type for a registry, unless a record names one and users have keys of it. */
async function changeKeyType(
  chain: Chain,
  recorded: DeploymentRecord,
  { keyType, recordFile }: DeployOptions,
): Promise<void> {
  if (keyType === undefined || recorded.keyType === keyType) return;
  const { call } = chain;
  const users = await chain.withRetry(() => fetchUserCount(call, recorded.contract, "latest"));
  if (recorded.keyType === undefined || users === 0) await recordDeployment(recordFile, { ...recorded, keyType });
}

/** Returns the call that deploys a registry with this creation code, either through CreateX or directly. */
function callOf(from: string, initCode: string, deterministic: boolean): Call {
  if (!deterministic) return { from, data: initCode };
  return { from, to: CREATE_X, data: CREATE_X_ABI.encodeFunctionData("deployCreate2", [SALT, initCode]) };
}

async function requireCreateX(chain: Chain, chainId: number): Promise<void> {
  if ((await codeHashAt(chain, CREATE_X)) !== EMPTY_CODE_HASH) return;
  const message = `--deterministic needs the factory CreateX, but chain ${chainId} has no code at ${CREATE_X}. Deploy CreateX there first (https://createx.rocks), or deploy without --deterministic.`;
  throw argumentInvalid(message);
}

/**
 * Returns the recorded deployment that this run continues, if there is one. On a local chain, a recorded nonce above
 * the next nonce shows that the chain was reset. The deployment is then ignored.
 * @throws TransportError NO_RECEIPT if another account has sent a deployment for the same owner
 */
async function earlierOf(
  chain: Chain,
  recorded: DeploymentRecord | undefined,
  from: string,
  { limits, recordFile }: DeployOptions,
): Promise<DeploymentRecord | undefined> {
  if (recorded === undefined) return undefined;
  if (recorded.from === from) {
    const isReset = limits === "local" && recorded.nonce > (await chain.transactionCount(from, "pending"));
    return isReset ? undefined : recorded;
  }
  if (recorded.hashes.length === 0) return undefined;
  const sent = { hash: recorded.hashes.at(-1), nonce: recorded.nonce, from: recorded.from };
  const remedy = `deploy with the key of ${recorded.from}. If its transaction can no longer be included, delete ${recordFile}`;
  throw noReceipt(sent, "deploys a registry for the same owner, but the endpoint does not show this registry", remedy);
}

/** Returns true if a recorded nonce must not be used for another deployment, because its transaction may be pending. */
function isReserved({ from, hashes }: DeploymentRecord, sender: string, { limits }: DeployOptions): boolean {
  return limits !== "local" && from === sender && hashes.length > 0;
}

/**
 * Returns the deployed registry as soon as the endpoint shows it. Behind a load balancer, a node may not have the block
 * of the deployment at first.
 * @param end the value of `performance.now` at which the wait ends
 * @throws VerificationError NO_CONTRACT
 */
async function registryAt(
  chain: Chain,
  contract: string,
  initialOwner: string,
  existed: boolean,
  end: number,
): Promise<DeployedRegistry> {
  for (;;) {
    const owner = await ownerOf(chain, contract);
    if (owner !== undefined) return { contract, initialOwner, owner, codeHash: publicKeyRegistryCodeHash, existed };
    if (performance.now() > end) break;
    await sleep(POLL_MS);
  }
  const message = `The deployment succeeded, but the endpoint shows no code at ${contract}. Run the same command again.`;
  throw new VerificationError("root", "NO_CONTRACT", message, { actual: "0x" });
}

/**
 * Returns the owner of a registry: 0x and 40 hex digits with checksum. If the address has no code yet, it returns
 * undefined.
 */
async function ownerOf(chain: Chain, contract: string): Promise<string | undefined> {
  if (!(await isRegistry(chain, contract))) return undefined;
  try {
    return getAddress(await chain.withRetry(() => fetchOwner(chain.call, contract)));
  } catch (error) {
    if (error instanceof VerificationError && error.code === "NO_CONTRACT") return undefined;
    throw error;
  }
}

/**
 * Returns true if the address has the code of the registry, or false if it has no code.
 * @throws VerificationError CODE_HASH_MISMATCH if it has different code
 */
async function isRegistry(chain: Chain, contract: string): Promise<boolean> {
  const [expected, actual] = [publicKeyRegistryCodeHash, await codeHashAt(chain, contract)];
  if (actual === EMPTY_CODE_HASH) return false;
  if (actual === expected) return true;
  const message = `The code at ${contract} is not the code of this registry. Its hash is ${actual} instead of ${expected}.`;
  throw new VerificationError("root", "CODE_HASH_MISMATCH", message, { expected, actual });
}

function codeHashAt(chain: Chain, address: string): Promise<string> {
  return chain.withRetry(() => fetchCodeHash(chain.call, address, "latest"));
}

/** Returns the first account for which the endpoint signs. */
async function firstAccountOf(chain: Chain): Promise<string> {
  const [account] = await chain.request("eth_accounts", [], (answer) => (answer as string[]).map(getAddress));
  if (account !== undefined) return account;
  const message =
    "The endpoint signs for no account. Set KEYROOT_KEY_FILE or KEYROOT_SIGNER_URL. 'make-owner-key' makes a key file.";
  throw argumentInvalid(message);
}
