import { getAddress } from "ethers";
import { EMPTY_CODE_HASH, fetchCodeHash } from "keyroot/ethereum";
import { VerificationError } from "keyroot/errors";
import { fetchBlockNumber, fetchOwner, fetchUserCount, ZERO_ROOT } from "keyroot/registry";
import { command } from "./command.ts";
import { Target, type TargetArgs } from "./target.ts";

/** `keyroot status`: what a registry says of itself. */
export default command(async (args: Omit<TargetArgs, "merkleUrl"> & { json: boolean }, hre) => {
  const target = await Target.resolve(args, hre);
  const { call, contract } = target;
  const chainId = await target.checkChainId();
  const codeHash = await fetchCodeHash(call, contract, "latest");
  if (codeHash === EMPTY_CODE_HASH) {
    const message = `There is no contract at ${contract} on chain ${chainId}.`;
    throw new VerificationError("root", "NO_CONTRACT", message, { actual: "0x" });
  }
  const owner = getAddress(await fetchOwner(call, contract));
  const userCount = await fetchUserCount(call, contract);
  const deploymentBlock = await fetchBlockNumber(call, contract, ZERO_ROOT);
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
