import { join } from "node:path";
import { Chain } from "../publisher/chain/chain.ts";
import { chainKeyOf } from "../follow/index.ts";
import { constructorArguments, deploy } from "../publisher/deploy.ts";
import { printWaiting } from "./output.ts";
import { openSigner } from "../publisher/signers/openSigner.ts";
import { costLimitsOf } from "./costOptions.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import type { Host, Outcome } from "./host.ts";
import { ChainAndFiles } from "./chainAndFiles.ts";
import { checkAddress } from "./hexOptions.ts";

/** `keyroot deploy`: deploys a registry. After an interruption, the same command resumes the deployment. */
export default async function runDeploy(args: ArgsOf<"deploy">, host: Host): Promise<Outcome> {
  const { deterministic, timeout } = args;
  const owner = args.owner === undefined ? undefined : checkAddress("--owner", args.owner);
  const chainAndFiles = await ChainAndFiles.resolve(args, host);
  const { call, chainId, allowHttp } = chainAndFiles;
  const limits = costLimitsOf(args, chainAndFiles) ?? "local";
  await chainAndFiles.verifyChainId();
  const chain = new Chain(call);
  const signer = await openSigner(host.environment, allowHttp);
  const name = chainKeyOf(chainId, await chain.genesisHash(chainId));
  const recordFile = join(host.root, ".keyroot", "deployments", `chain-${name}.json`);
  const options = {
    ...{ chainId, limits, signer, timeoutMs: timeout * 1000, owner, deterministic, recordFile },
    firstAccountsRegistry: chainAndFiles.stackContract,
    onWaiting: printWaiting,
  };
  const { contract, owner: currentOwner, initialOwner, codeHash, existed } = await deploy(chain, options);
  const argument = constructorArguments(initialOwner).slice(2);
  return {
    json: { contract, chainId, owner: currentOwner, codeHash, existed, constructorArguments: argument },
    text: [
      existed
        ? `PublicKeyRegistry already exists at ${contract} on chain ${chainId}. Nothing was sent.`
        : `PublicKeyRegistry is at ${contract} on chain ${chainId}.`,
      `  owner      ${currentOwner}`,
      `  code hash  ${codeHash}`,
      "To show the source on block explorers (docs/contract.md), submit",
      "  input      verification/PublicKeyRegistry.json of the package @keyroot/contracts",
      `  arguments  ${argument}`,
    ].join("\n"),
  };
}
