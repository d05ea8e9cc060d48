import { HardhatError } from "@nomicfoundation/hardhat-errors";
import { AbiCoder, concat, encodeBytes32String, getCreate2Address, keccak256 } from "ethers";
import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import type { NetworkConnection } from "hardhat/types/network";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { checkAddress, messageOf, type Outcome, Target } from "@keyroot/operator/commands";
import type { HardhatHost } from "@keyroot/operator/hardhat";
import { buildContracts } from "@keyroot/service/stack";
import { ArgumentError, TransportError, VerificationError } from "keyroot/errors";
import { EMPTY_CODE_HASH, fetchCodeHash, fetchGenesisHash } from "keyroot/ethereum";
import { isObject } from "keyroot/input";
import publicKeyRegistry from "../ignition/modules/PublicKeyRegistry.ts";
import type { DeployArgs } from "./deployCommand.ts";

/** The chain, owner and options of a deployment. */
interface Deployment {
  hre: HardhatRuntimeEnvironment;
  target: Target;
  chainId: number;
  /** The initial owner; the deploying account if undefined. */
  owner: string | undefined;
}

interface Deployed {
  contract: string;
  codeHash: string;
  /** True if it was deployed before this command ran. */
  existed: boolean;
}

/** The factory CreateX, which has the same address on every chain (https://github.com/pcaversaccio/createx). */
const CREATE_X = "0xba5Ed099633D3B313e4D5F7bdc1305d3c28ba5Ed";

/** Salt of deterministic deployments. It determines the registry's address, so it must not change. */
const SALT = encodeBytes32String("keyroot.PublicKeyRegistry");

/** Ignition deploys CreateX itself on chains with this id only, which is that of Hardhat's and Anvil's local chains. */
const LOCAL_CHAIN_ID = 31337;

/** Ignition's name of the contract in its records. */
const FUTURE_ID = "PublicKeyRegistry#PublicKeyRegistry";

/** `keyroot deploy`: deploys a registry with Ignition. After an interruption, the same command resumes. */
export default async function runDeploy(args: DeployArgs, host: HardhatHost): Promise<Outcome> {
  const { owner, deterministic } = args;
  const { hre } = host;
  if (owner !== undefined) checkAddress("--owner", owner);
  if (deterministic && owner === undefined) {
    const message = "--deterministic needs --owner, because the registry's address depends on the owner.";
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
  const target = await Target.resolve(args, host);
  const chainId = await target.checkChainId();
  await buildContracts(hre);
  const place = { hre, target, chainId };
  const deployed =
    deterministic && owner !== undefined
      ? await deployDeterministically({ ...place, owner })
      : await deploy({ ...place, owner });
  return outcomeOf({ ...deployed, chainId });
}

function outcomeOf({ contract, chainId, codeHash, existed }: Deployed & { chainId: number }): Outcome {
  const place = `${contract} on chain ${chainId}`;
  const text = existed
    ? `PublicKeyRegistry already exists at ${place}. Nothing was sent.`
    : `PublicKeyRegistry is at ${place}.`;
  return { json: { contract, chainId, codeHash, existed }, text: `${text}\n  code hash  ${codeHash}` };
}

/** Deploys at an address that depends on the sender's nonce. Each owner gets one registry per chain. */
async function deploy(deployment: Deployment): Promise<Deployed> {
  const record = await recordOf(deployment);
  const existed = await isDeployed(record);
  return { ...(await deployWithIgnition(deployment, record)), existed };
}

/**
 * Deploys through CreateX at an address that depends only on the bytecode, the owner and the salt, so it is the same on every
 * chain and for every sender. If the registry exists there, nothing is sent.
 *
 * @throws ArgumentError ARGUMENT_INVALID The chain has no CreateX.
 * @throws VerificationError CODE_HASH_MISMATCH The code at the address is not the registry's.
 */
async function deployDeterministically(deployment: Deployment & { owner: string }): Promise<Deployed> {
  const { hre, target, chainId, owner } = deployment;
  const { bytecode, deployedBytecode } = await hre.artifacts.readArtifact("PublicKeyRegistry");
  const creationCode = concat([bytecode, AbiCoder.defaultAbiCoder().encode(["address"], [owner])]);
  // CreateX hashes a salt that contains neither the sender nor a chain id.
  const contract = getCreate2Address(CREATE_X, keccak256(SALT), keccak256(creationCode));

  const [expected, actual] = [keccak256(deployedBytecode), await codeHashAt(target, contract)];
  if (actual === expected) return { contract, codeHash: actual, existed: true };
  if (actual !== EMPTY_CODE_HASH) {
    const message = `The code at ${contract} is not that of this registry: its hash is ${actual} instead of ${expected}.`;
    throw new VerificationError("root", "CODE_HASH_MISMATCH", message, { expected, actual });
  }
  if (chainId !== LOCAL_CHAIN_ID && (await codeHashAt(target, CREATE_X)) === EMPTY_CODE_HASH) {
    const message = `--deterministic needs the factory CreateX, but chain ${chainId} has no code at ${CREATE_X}. Deploy CreateX there first (https://createx.rocks), or deploy without --deterministic.`;
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
  const record = await recordOf(deployment, "-create2");
  const strategy = { strategy: "create2", strategyConfig: { salt: SALT } } as const;
  return { ...(await deployWithIgnition(deployment, record, strategy)), existed: false };
}

/**
 * Deploys, or resumes a recorded deployment.
 *
 * @param record The folder of Ignition's record.
 */
async function deployWithIgnition(
  { hre, target, chainId, owner }: Deployment,
  record: string,
  strategy: { strategy?: "create2"; strategyConfig?: { salt: string } } = {},
): Promise<Omit<Deployed, "existed">> {
  const parameters = owner === undefined ? {} : { PublicKeyRegistry: { initialOwner: owner } };
  const { ignition } = await connect(hre, target);
  let contract: string;
  try {
    const options = { deploymentId: basename(record), parameters, ...strategy };
    const { publicKeyRegistry: registry } = await ignition.deploy(publicKeyRegistry, options);
    contract = await registry.getAddress();
  } catch (cause) {
    // Ignition's own errors contain their remedy. All others come from the endpoint.
    if (HardhatError.isHardhatError(cause) && cause.pluginId === "hardhat-ignition") throw cause;
    const message = `The registry is not deployed yet. Run the same command again to resume. The reason: ${messageOf(cause)}`;
    throw new TransportError("RPC_ERROR", message, { cause });
  }
  const codeHash = await codeHashAt(target, contract);
  if (codeHash !== EMPTY_CODE_HASH) return { contract, codeHash };
  const message = `Ignition recorded a registry at ${contract}, but chain ${chainId} has no code there. The record belongs to another chain, or a reorganization removed the registry. Delete ${record} and run the same command again.`;
  throw new VerificationError("root", "NO_CONTRACT", message, { actual: "0x" });
}

function connect(hre: HardhatRuntimeEnvironment, { rpc }: Target): Promise<NetworkConnection> {
  return typeof rpc === "string"
    ? hre.network.create({ network: "localhost", override: { url: rpc } })
    : hre.network.create();
}

/**
 * The folder in which Ignition records the deployment. Its name contains the start of the genesis block's hash, because local
 * chains share their chain id.
 */
async function recordOf({ hre, target, chainId, owner = "" }: Deployment, suffix = ""): Promise<string> {
  const hash = await fetchGenesisHash(target.call);
  const name = `chain-${chainId}-${hash.slice(2, 10)}${owner && `-${owner.toLowerCase()}`}${suffix}`;
  return join(hre.config.paths.ignition, "deployments", name);
}

/** True if Ignition's record contains the registry's address. */
async function isDeployed(record: string): Promise<boolean> {
  try {
    const addresses: unknown = JSON.parse(await readFile(join(record, "deployed_addresses.json"), "utf8"));
    return isObject(addresses) && Object.hasOwn(addresses, FUTURE_ID);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

function codeHashAt({ call }: Target, address: string): Promise<string> {
  return fetchCodeHash(call, address, "latest");
}
