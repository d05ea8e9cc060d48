import { getAddress } from "ethers/address";
import { EMPTY_CODE_HASH, fetchCodeHash } from "keyroot/ethereum";
import { VerificationError } from "keyroot/errors";
import { fetchBlockNumber, fetchOwner, fetchUserCount, ZERO_ROOT } from "keyroot/registry";
import type { RpcCall } from "keyroot/transport";
import { readCounts } from "../audit/readCounts.ts";
import { blockSourceOf, type TrustedBlock } from "./blockSource.ts";
import type { ArgsOf } from "./help.ts";
import type { Host, Outcome } from "./host.ts";
import { Target } from "./target.ts";

/** `keyroot status`: a registry's owner, user count, code hash and deployment block. */
export default async function status(args: ArgsOf<"status">, host: Host): Promise<Outcome> {
  const target = await Target.resolve(args, host);
  const findBlock = await blockSourceOf(args, target);
  if (findBlock !== undefined) return provenStatus(target, await findBlock());
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
  const found = { contract, chainId, codeHash, owner, userCount, deploymentBlock };
  return { json: found, text: describe(found) };
}

/** The status at a block that does not rest on the endpoint, with storage proofs of what a slot has. */
async function provenStatus({ call, contract, chainId }: Target, at: TrustedBlock): Promise<Outcome> {
  const counts = await readCounts(call, { contract, chainId, at, storageProof: true }, undefined);
  const { userCount, deploymentBlock, codeHash = EMPTY_CODE_HASH, evidence } = counts;
  const owner = getAddress(await fetchOwner(call, contract, { blockHash: at.blockHash }));
  const found = { contract, chainId, codeHash, owner, userCount, deploymentBlock };
  const { number, hash } = evidence.block;
  const proven = `  proven            published users and code hash, in block ${number}, ${hash}`;
  return { json: { ...found, evidence }, text: `${describe(found)}\n${proven}` };
}

interface Found {
  contract: string;
  chainId: number;
  codeHash: string;
  owner: string;
  userCount: number | null;
  deploymentBlock: number;
}

function describe({ contract, chainId, codeHash, owner, userCount, deploymentBlock }: Found): string {
  return [
    `${userCount === null ? "Contract" : "PublicKeyRegistry"} at ${contract} on chain ${chainId}, deployed in block ${deploymentBlock}`,
    `  published users   ${userCount ?? "unknown: the contract has no userCount(), as the predecessor PubKeyTrust"}`,
    `  owner             ${owner}`,
    `  code hash         ${codeHash}`,
  ].join("\n");
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
