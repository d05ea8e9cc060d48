import { chainOptions, command, flag, json, keyType, text } from "./defineCommand.ts";
import { transaction } from "./options.ts";
import { printWaiting } from "./output.ts";

export const deploy = command(
  {
    summary: "Deploy a registry, or print its address if it is deployed already",
    needs: ({ deterministic }) => [...(deterministic === true ? ["owner"] : []), "rpc", "chainId", "maxFee"],
    options: {
      owner: text("address", "Account or Safe that may add roots", { defaultText: "the deploying account" }),
      deterministic: flag(
        "Deploy with CREATE2, so that the registry has the same address on every chain for the same --owner",
      ),
      keyType,
      ...transaction,
      ...chainOptions,
      json,
    },
  },
  async (args, host) => {
    const { Chain } = await import("../publisher/chain/chain.ts");
    const { constructorArguments, deploy } = await import("../publisher/deploy.ts");
    const { deploymentsPath } = await import("../publisher/deploymentRecords.ts");
    const { openSigner } = await import("../publisher/signers/openSigner.ts");
    const { loadKeyType } = await import("keyroot/internal/keyTypes");
    const { ChainAndFiles } = await import("./chainAndFiles.ts");
    const { costLimitsOf } = await import("./costOptions.ts");
    const { checkAddress } = await import("./hexOptions.ts");
    const { deterministic, timeout, keyType } = args;
    const owner = args.owner === undefined ? undefined : checkAddress("--owner", args.owner);
    const chainAndFiles = await ChainAndFiles.resolve({ ...args, keyType: undefined }, host);
    const { call, chainId, allowHttp } = chainAndFiles;
    const { title } = await loadKeyType(keyType);
    const limits = costLimitsOf(args, chainAndFiles) ?? "local";
    await chainAndFiles.verifyChainId();
    const chain = new Chain(call);
    const signer = await openSigner(host.environment, allowHttp);
    const recordFile = await deploymentsPath(host.root, chain, chainId);
    const options = {
      ...{ chainId, limits, signer, timeoutMs: timeout * 1000, owner, deterministic, keyType, recordFile },
      firstAccountsRegistry: chainAndFiles.stackContract,
      onWaiting: printWaiting,
    };
    const { contract, owner: currentOwner, initialOwner, codeHash, existed } = await deploy(chain, options);
    await chainAndFiles.checkKeyType(keyType, contract);
    const argument = constructorArguments(initialOwner).slice(2);
    return {
      json: { contract, chainId, owner: currentOwner, codeHash, keyType, existed, constructorArguments: argument },
      text: [
        existed
          ? `PublicKeyRegistry already exists at ${contract} on chain ${chainId}. Nothing was sent.`
          : `PublicKeyRegistry is at ${contract} on chain ${chainId}.`,
        `  owner      ${currentOwner}`,
        `  code hash  ${codeHash}`,
        `  keys       ${title}`,
        "To show the source on block explorers (docs/contract.md), submit",
        "  input      verification/PublicKeyRegistry.json of the package @keyroot/contracts",
        `  arguments  ${argument}`,
      ].join("\n"),
    };
  },
);
