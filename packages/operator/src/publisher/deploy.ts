import { publicKeyRegistryBytecode, publicKeyRegistryCodeHash } from "@keyroot/contracts";
import { AbiCoder, encodeBytes32String, Interface } from "ethers/abi";
import { getAddress, getCreate2Address, getCreateAddress } from "ethers/address";
import { keccak256 } from "ethers/crypto";
import { concat } from "ethers/utils";
import { readFile } from "node:fs/promises";
import { ADDRESS, EMPTY_CODE_HASH, fetchCodeHash } from "keyroot/internal/ethereum";
import { parseJson, ShapeChecker } from "keyroot/internal/input";
import { unreadableInput } from "../disk/fileErrors.ts";
import { ifExists } from "../disk/ifExists.ts";
import { writeFileAtomic } from "../disk/writeFileAtomic.ts";
import { ArgumentError, VerificationError } from "../errors.ts";
import type { Chain } from "./chain/chain.ts";
import { refuseTestAccount } from "./signers/testAccounts.ts";
import { sendCall, type SendCallOptions } from "./transactions/sendCall.ts";

/** Options of `deploy`, in addition to the options of `sendCall`. */
export interface DeployOptions extends Omit<SendCallOptions, "nonce"> {
  /** The account or Safe that may add roots: 0x and 40 hex digits. Default: the deploying account. */
  owner: string | undefined;
  /** Deploys through CreateX. The address then depends only on the bytecode, the owner and the salt. */
  deterministic: boolean;
  /**
   * The path of the file that records the deployments on this chain, one per owner. With this record, a repeated call
   * does not deploy a second registry for the same owner.
   */
  record: string;
}

/** A registry that `deploy` deployed or found. Addresses have a checksum (EIP-55). */
export interface DeployedRegistry {
  contract: string;
  /** The registry's owner at deployment. The registry may have a different owner now. */
  initialOwner: string;
  /** Keccak-256 of the contract's code: 0x and 64 lowercase hex digits. */
  codeHash: string;
  /** True if the registry was deployed before this call. */
  existed: boolean;
}

/** The factory contract CreateX, which has the same address on every chain (https://github.com/pcaversaccio/createx). */
const CREATE_X = "0xba5Ed099633D3B313e4D5F7bdc1305d3c28ba5Ed";
const CREATE_X_ABI = new Interface(["function deployCreate2(bytes32 salt, bytes initCode)"]);
/** The salt of deterministic deployments. The salt determines the registry's address, so the salt must not change. */
const SALT = encodeBytes32String("keyroot.PublicKeyRegistry");

/** Returns the ABI-encoded arguments of the constructor: 0x and 64 hex digits. @param owner 0x and 40 hex digits */
export function constructorArguments(owner: string): string {
  return AbiCoder.defaultAbiCoder().encode(["address"], [owner]);
}

/** Returns the code that deploys a registry with this owner: 0x and hex digits. @param owner 0x and 40 hex digits */
export function creationCodeOf(owner: string): string {
  return concat([publicKeyRegistryBytecode, constructorArguments(owner)]);
}

/**
 * Deploys a registry with the bytecode of `@keyroot/contracts`. If an earlier call has deployed the registry, this call
 * sends nothing. You can stop the call at any time and repeat it.
 * @throws ArgumentError ARGUMENT_INVALID, TEST_KEY_REFUSED; VerificationError CODE_HASH_MISMATCH; and the errors of
 * `sendCall`
 */
export async function deploy(chain: Chain, options: DeployOptions): Promise<DeployedRegistry> {
  const { signer, chainId, deterministic } = options;
  const from = signer?.address ?? (await firstAccountOf(chain));
  const owner = getAddress(options.owner ?? from);
  refuseTestAccount(owner, chainId);
  const deployment = { chain, from, owner, options };
  return deterministic ? deployDeterministically(deployment) : deployByNonce(deployment);
}

interface Deployment {
  chain: Chain;
  from: string;
  owner: string;
  options: DeployOptions;
}

async function deployDeterministically({ chain, from, owner, options }: Deployment): Promise<DeployedRegistry> {
  const initCode = creationCodeOf(owner);
  // CreateX hashes a salt that contains neither the sender nor a chain id, and uses the hash as the salt.
  const contract = getCreate2Address(CREATE_X, keccak256(SALT), keccak256(initCode));
  if (await isRegistry(chain, contract)) return registryAt(contract, owner, true);
  if ((await codeHashAt(chain, CREATE_X)) === EMPTY_CODE_HASH) {
    const message = `--deterministic needs the factory CreateX, but chain ${options.chainId} has no code at ${CREATE_X}. Deploy CreateX there first (https://createx.rocks), or deploy without --deterministic.`;
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
  const data = CREATE_X_ABI.encodeFunctionData("deployCreate2", [SALT, initCode]);
  await sendCall({ chain, contract }, { from, to: CREATE_X, data }, options);
  return checkDeployed(chain, contract, owner);
}

/** Deploys at an address that depends on the sender and the nonce. Records both before the transaction is sent. */
async function deployByNonce({ chain, from, owner, options }: Deployment): Promise<DeployedRegistry> {
  const records = await readRecords(options.record);
  const recorded = records.find((one) => one.owner === owner);
  if (recorded !== undefined && (await isRegistry(chain, recorded.contract)))
    return registryAt(recorded.contract, owner, true);
  const [used, next] = [await chain.transactionCount(from, "latest"), await chain.transactionCount(from, "pending")];
  // The recorded transaction may be pending. Use the recorded nonce again, because only one transaction with this nonce
  // can deploy a registry.
  const mayBePending = recorded?.from === from && recorded.nonce >= used && recorded.nonce <= next;
  const nonce = mayBePending ? recorded.nonce : next;
  const contract = getCreateAddress({ from, nonce });
  // A failed deployment for another owner may have recorded the same nonce, and therefore the same address.
  const others = records.filter((one) => one.owner !== owner && one.contract !== contract);
  await writeFileAtomic(options.record, `${JSON.stringify([...others, { owner, contract, from, nonce }])}\n`, 0o600);
  await sendCall({ chain, contract }, { from, data: creationCodeOf(owner) }, { ...options, nonce });
  return checkDeployed(chain, contract, owner);
}

async function checkDeployed(chain: Chain, contract: string, owner: string): Promise<DeployedRegistry> {
  if (await isRegistry(chain, contract)) return registryAt(contract, owner, false);
  const message = `The deployment succeeded, but there is no code at ${contract}. Run the same command again.`;
  throw new VerificationError("root", "NO_CONTRACT", message, { actual: "0x" });
}

/**
 * Returns true if the address has the registry's code, or false if the address has no code.
 * @throws VerificationError CODE_HASH_MISMATCH if the address has different code
 */
async function isRegistry(chain: Chain, contract: string): Promise<boolean> {
  const [expected, actual] = [publicKeyRegistryCodeHash, await codeHashAt(chain, contract)];
  if (actual === EMPTY_CODE_HASH) return false;
  if (actual === expected) return true;
  const message = `The code at ${contract} is not the code of this registry. Its hash is ${actual} instead of ${expected}.`;
  throw new VerificationError("root", "CODE_HASH_MISMATCH", message, { expected, actual });
}

function registryAt(contract: string, owner: string, existed: boolean): DeployedRegistry {
  return { contract, initialOwner: owner, codeHash: publicKeyRegistryCodeHash, existed };
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
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

interface DeploymentRecord {
  owner: string;
  contract: string;
  from: string;
  nonce: number;
}

async function readRecords(path: string): Promise<DeploymentRecord[]> {
  const text = await ifExists(readFile(path, "utf8")).catch((cause: unknown) => {
    throw unreadableInput(path, cause);
  });
  if (text === undefined) return [];
  const shape = new ShapeChecker(
    (message) => new ArgumentError("STATE_INVALID", `${path}: ${message} Delete the file.`),
  );
  return shape.array("The deployments", parseJson(text, 2)).map((item) => {
    const { owner, contract, from, nonce } = shape.object("A deployment", item, ["owner", "contract", "from", "nonce"]);
    return {
      owner: shape.text("owner", owner, ADDRESS),
      contract: shape.text("contract", contract, ADDRESS),
      from: shape.text("from", from, ADDRESS),
      nonce: shape.count("nonce", nonce),
    };
  });
}
