import { HardhatError } from "@nomicfoundation/hardhat-errors";
import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import type { NetworkConnection } from "hardhat/types/network";
import publicKeyRegistry from "../ignition/modules/PublicKeyRegistry.ts";
import { TransportError } from "keyroot/errors";
import { fetchCodeHash, fetchGenesisHash } from "keyroot/ethereum";
import { buildContracts } from "@keyroot/operator/stack";
import { command, messageOf } from "@keyroot/operator/commands";
import { checkAddress, Target, type TargetArgs } from "@keyroot/operator/commands";

interface Args extends Pick<TargetArgs, "rpc" | "chainId"> {
  owner: string | undefined;
  json: boolean;
}

/** `keyroot deploy`: a new registry, by Ignition, which goes on where it was interrupted. */
export default command(async (args: Args, hre) => {
  const { owner } = args;
  if (owner !== undefined) checkAddress("--owner", owner);
  const target = await Target.resolve(args, hre);
  const chainId = await target.checkChainId();
  await buildContracts(hre);
  const id = await deploymentId(target, chainId, owner);
  const contract = await deploy(await connect(hre, target), id, owner);
  const codeHash = await fetchCodeHash(target.call, contract, "latest");
  return {
    json: { contract, chainId, codeHash },
    text: [`PublicKeyRegistry is at ${contract} on chain ${chainId}.`, `  hash of its code  ${codeHash}`].join("\n"),
  };
});

function connect(hre: HardhatRuntimeEnvironment, { rpc }: Target): Promise<NetworkConnection> {
  return typeof rpc === "string"
    ? hre.network.create({ network: "localhost", override: { url: rpc } })
    : hre.network.create();
}

async function deploy({ ignition }: NetworkConnection, deploymentId: string, owner?: string): Promise<string> {
  const parameters = owner === undefined ? {} : { PublicKeyRegistry: { initialOwner: owner } };
  try {
    const { publicKeyRegistry: registry } = await ignition.deploy(publicKeyRegistry, { deploymentId, parameters });
    return await registry.getAddress();
  } catch (cause) {
    // Ignition's own refusals explain themselves; all else comes from the endpoint.
    if (HardhatError.isHardhatError(cause) && cause.pluginId === "hardhat-ignition") throw cause;
    const message = `The registry is not deployed yet; to deploy again goes on from here. The reason: ${messageOf(cause)}`;
    throw new TransportError("RPC_ERROR", message, { cause });
  }
}

/**
 * Ignition keeps a record of each deployment. Throw-away chains share their chain id, so the genesis block tells them
 * apart: on a fresh chain an old record would name an address without code.
 */
async function deploymentId({ call }: Target, chainId: number, owner = ""): Promise<string> {
  const hash = await fetchGenesisHash(call);
  return `chain-${chainId}-${hash.slice(2, 10)}${owner && `-${owner.toLowerCase()}`}`;
}
