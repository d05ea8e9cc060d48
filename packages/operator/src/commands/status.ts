import { getAddress } from "ethers/address";
import { EMPTY_CODE_HASH, fetchCodeHash } from "keyroot/ethereum";
import { VerificationError } from "keyroot/errors";
import { fetchBlockNumber, fetchOwner, fetchUserCount, ZERO_ROOT } from "keyroot/registry";
import type { RpcCall } from "keyroot/transport";
import type { ArgsOf } from "./help.ts";
import type { Host, Outcome } from "./host.ts";
import { Target } from "./target.ts";

/** `keyroot status`: a registry's owner, user count, code hash and deployment block. */
export default async function status(args: ArgsOf<"status">, host: Host): Promise<Outcome> {
  const target = await Target.resolve(args, host);
  const { call, contract } = target;
  // A person waits for the answer.
  const chainId = await target.checkChainId({ retries: 0, initialDelayMs: 0 });
  const codeHash = await fetchCodeHash(call, contract, "latest");
  if (codeHash === EMPTY_CODE_HASH) {
    const message = `There is no contract at ${contract} on chain ${chainId}.`;
    throw new VerificationError("root", "NO_CONTRACT", message, { actual: "0x" });
  }
  const owner = getAddress(await fetchOwner(call, contract));
  const userCount = await userCountOf(call, contract);
  const deploymentBlock = await fetchBlockNumber(call, contract, ZERO_ROOT);
  return {
    json: { contract, chainId, codeHash, owner, userCount, deploymentBlock },
    text: [
      `${userCount === null ? "Contract" : "PublicKeyRegistry"} at ${contract} on chain ${chainId}, deployed in block ${deploymentBlock}`,
      `  published users   ${userCount ?? "unknown: the contract has no userCount(), as the predecessor PubKeyTrust"}`,
      `  owner             ${owner}`,
      `  code hash         ${codeHash}`,
    ].join("\n"),
  };
}

/** Returns null if the contract does not count its users. */
async function userCountOf(call: RpcCall, contract: string): Promise<number | null> {
  try {
    return await fetchUserCount(call, contract);
  } catch (error) {
    if (error instanceof VerificationError && error.code === "NO_USER_COUNT") return null;
    throw error;
  }
}
