import { getAddress } from "ethers";
import { EMPTY_CODE_HASH, fetchCodeHash } from "keyroot/ethereum";
import { VerificationError } from "keyroot/errors";
import { fetchBlockNumber, fetchOwner, fetchUserCount, ZERO_ROOT } from "keyroot/registry";
import type { ArgsOf } from "./definitions.ts";
import type { Host, Outcome } from "./host.ts";
import { Target } from "./target.ts";

/** `keyroot status`: what a registry reports about itself. */
export default async function status(args: ArgsOf<"status">, host: Host): Promise<Outcome> {
  const target = await Target.resolve(args, host);
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
      `  code hash         ${codeHash}`,
    ].join("\n"),
  };
}
