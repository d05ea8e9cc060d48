import { VerificationError } from "keyroot/internal/errors";
import type { RpcCall } from "keyroot/internal/transport";
import { plural } from "../plural.ts";
import type { ChainAndFiles } from "./chainAndFiles.ts";
import { command, json } from "./defineCommand.ts";
import { describeSource } from "./describeSource.ts";
import type { Outcome } from "./host.ts";
import { chainWithTrust, planFolder, REGISTRY, trust } from "./options.ts";
import type { TrustedBlock } from "./trust.ts";
import type { UnfinishedPlan } from "./unfinishedPlan.ts";

/** The retries of reads. The command ends soon if the endpoint is unavailable. */
const QUICK_RETRY = { retries: 2, initialDelayMs: 300 };

export const status = command(
  {
    summary: "Show the owner, user count and code hash of a registry",
    needs: () => REGISTRY,
    options: {
      plan: {
        ...planFolder("Folder with the plan of an unfinished publish, for one endpoint's latest block"),
        onlyWith: { trust: ["one-endpoint"] },
        excludes: ["block"],
      },
      ...trust,
      ...chainWithTrust,
      json,
    },
  },
  async (args, host) => {
    const { getAddress } = await import("ethers/address");
    const { EMPTY_CODE_HASH, fetchCodeHash } = await import("keyroot/internal/ethereum");
    const { fetchBlockNumber, fetchOwner, ZERO_ROOT } = await import("keyroot/internal/registry");
    const { fetchUserCountIfAny } = await import("../follow/index.ts");
    const { Registry } = await import("../publisher/chain/registry.ts");
    const { ChainAndFiles } = await import("./chainAndFiles.ts");
    const { endpointsOf, openTrustedChain } = await import("./trust.ts");
    const { findUnfinishedPlan } = await import("./unfinishedPlan.ts");
    using chainAndFiles = await ChainAndFiles.resolve({ ...args, rpc: endpointsOf(args.rpc) }, host, {
      retry: QUICK_RETRY,
    });
    const { source, call, findBlock } = await openTrustedChain(args, chainAndFiles);
    const isLatest = source.name === "one-endpoint" && source.tag === "latest";
    if (!isLatest) return await provenStatus(chainAndFiles, call, await findBlock(), source.storageProof);
    const { contract } = chainAndFiles;
    const chainId = await chainAndFiles.verifyChainId();
    const codeHash = await fetchCodeHash(call, contract, "latest");
    if (codeHash === EMPTY_CODE_HASH) {
      const message = `There is no contract at ${contract} on chain ${chainId}. Check the address and the endpoint.`;
      throw new VerificationError("root", "NO_CONTRACT", message, { actual: "0x" });
    }
    const owner = getAddress(await fetchOwner(call, contract));
    const userCount = (await fetchUserCountIfAny(call, contract)) ?? null;
    const unfinished = await findUnfinishedPlan(await Registry.connect(call, contract), host.root, args.plan);
    const deploymentBlock = await fetchBlockNumber(call, contract, ZERO_ROOT);
    const found = { contract, chainId, codeHash, owner, userCount, deploymentBlock };
    const plan = `  unfinished plan   ${describePlan(unfinished)}`;
    return { json: { ...found, plan: unfinished ?? null }, text: `${describe(found)}\n${plan}` };
  },
);

/**
 * Reads the registry's status at the block of the trusted source. With storage proofs, the endpoint cannot falsify the
 * number of users or the code hash.
 */
async function provenStatus(
  { contract, chainId }: ChainAndFiles,
  call: RpcCall,
  at: TrustedBlock,
  storageProof: boolean,
): Promise<Outcome> {
  const { getAddress } = await import("ethers/address");
  const { EMPTY_CODE_HASH } = await import("keyroot/internal/ethereum");
  const { fetchOwner } = await import("keyroot/internal/registry");
  const { readCounts } = await import("../follow/index.ts");
  const counts = await readCounts(call, { contract, chainId, at, storageProof }, undefined);
  const { userCount, deploymentBlock, codeHash = EMPTY_CODE_HASH, evidence } = counts;
  const owner = getAddress(await fetchOwner(call, contract, { blockHash: at.blockHash }));
  const found = { contract, chainId, codeHash, owner, userCount, deploymentBlock };
  const { number, hash } = evidence.block;
  const proven = storageProof
    ? `  proven            published users and code hash, in block ${number}, ${hash}`
    : `  block             ${number}, ${hash}, from ${describeSource(evidence)}`;
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
    `  published users   ${userCount ?? "unknown: the contract has no userCount(), like its predecessor PubKeyTrust"}`,
    `  owner             ${owner}`,
    `  code hash         ${codeHash}`,
  ].join("\n");
}

function describePlan(plan: UnfinishedPlan | undefined): string {
  if (plan === undefined) return "none";
  if (plan.isRunning) return `a running publisher uses the plan in ${plan.folder}`;
  const { plannedAt, added, roots, users, folder } = plan;
  return `of ${plannedAt ?? "an unknown date"}, ${added} of ${plural(roots, "root")} added, ${plural(users, "user")}, in ${folder}. 'publish' resumes it.`;
}
