import { codeHashOf } from "keyroot/ethereum";
import { VerificationError } from "keyroot/errors";
import { readRegistry } from "../publisher/chain/registryAbi.ts";
import { decodeCode } from "keyroot/registry";
import { command } from "./command.ts";
import { Target, type TargetArgs } from "./target.ts";

/** `keyroot status`: what a registry says of itself. */
export default command(async (args: Omit<TargetArgs, "merkleUrl"> & { json: boolean }, hre) => {
  const target = await Target.resolve(args, hre);
  const { call, contract } = target;
  const chainId = await target.checkChainId();
  const code = decodeCode(await call("eth_getCode", [contract, "latest"]));
  if (code === "") {
    const message = `There is no contract at ${contract} on chain ${chainId}.`;
    throw new VerificationError("root", "NO_CONTRACT", message, { actual: "0x" });
  }
  const codeHash = await codeHashOf(code);
  const owner = String(await readRegistry(call, contract, "owner"));
  const userCount = Number(await readRegistry(call, contract, "userCount"));
  // The zero root's block is the deployment's.
  const deploymentBlock = Number(await readRegistry(call, contract, "getBlockNumber", `0x${"00".repeat(32)}`));
  return {
    json: { contract, chainId, codeHash, owner, userCount, deploymentBlock },
    text: [
      `PublicKeyRegistry at ${contract} on chain ${chainId}, deployed in block ${deploymentBlock}`,
      `  published users   ${userCount}`,
      `  owner             ${owner}`,
      `  hash of its code  ${codeHash}`,
    ].join("\n"),
  };
});
