import { keccak256 } from "ethers";
import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import publicKeyRegistry from "../ignition/modules/PublicKeyRegistry.ts";
import { ArgumentError } from "../src/errors.ts";
import { decodeCode } from "../src/registry/calls.ts";
import { buildContracts } from "../src/stack/build.ts";
import { command } from "./command.ts";
import { Target, type TargetArgs } from "./target.ts";

interface Args extends Pick<TargetArgs, "rpc" | "chainId"> {
  owner: string | undefined;
  json: boolean;
}

/** `keyroot deploy`: a new registry, by Ignition, which goes on where it was interrupted. */
export default command(async (args: Args, hre) => {
  const { owner } = args;
  if (owner !== undefined && !/^0x[0-9a-f]{40}$/i.test(owner)) {
    throw new ArgumentError("ARGUMENT_INVALID", `--owner must be 0x and 40 hex digits, it is ${owner}.`);
  }
  const target = await Target.resolve(args, hre);
  const chainId = await target.checkChainId();
  await buildContracts(hre);
  const { ignition } = await connect(hre, target);
  const { publicKeyRegistry: registry } = await ignition.deploy(publicKeyRegistry, {
    deploymentId: await deploymentId(target, chainId),
    ...(owner !== undefined && { parameters: { PublicKeyRegistry: { initialOwner: owner } } }),
  });
  const contract = await registry.getAddress();
  const codeHash = keccak256(`0x${decodeCode(await target.call("eth_getCode", [contract, "latest"]))}`);
  return {
    json: { contract, chainId, codeHash },
    text: [`PublicKeyRegistry is at ${contract} on chain ${chainId}.`, `  hash of its code  ${codeHash}`].join("\n"),
  };
});

function connect(hre: HardhatRuntimeEnvironment, { rpc }: Target) {
  return typeof rpc === "string"
    ? hre.network.create({ network: "localhost", override: { url: rpc } })
    : hre.network.create();
}

/**
 * Ignition keeps a record of each deployment. Throw-away chains share their chain id, so the genesis block tells them
 * apart: on a fresh chain an old record would name an address without code.
 */
async function deploymentId({ call }: Target, chainId: number): Promise<string> {
  const genesis = (await call("eth_getBlockByNumber", ["0x0", false])) as { hash?: unknown } | null;
  return `chain-${chainId}-${String(genesis?.hash).slice(2, 10)}`;
}
