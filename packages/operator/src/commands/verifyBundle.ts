import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import { ArgumentError } from "keyroot/errors";
import { readStackFile } from "../stack/stackFile.ts";
import { verifyBundle, parseBundle } from "keyroot/verifier";
import type { Outcome } from "./command.ts";
import { readInput } from "./readInput.ts";
import { checkAddress, type TargetArgs } from "./target.ts";

export interface VerifyBundleArgs extends TargetArgs {
  userId: string | undefined;
  bundle: string;
  blockHash: string | undefined;
  expectedPublicKey: string | undefined;
  codeHash: string | undefined;
  quorum: string | undefined;
  lightClient: boolean;
  block: string | undefined;
  maxAge: string | undefined;
  usersSlot: number;
}

/** `keyroot verify [userID] --bundle FILE --block-hash H`: a bundle by itself, without a network. */
export async function verifyBundleFile(args: VerifyBundleArgs, hre: HardhatRuntimeEnvironment): Promise<Outcome> {
  const { expectedPublicKey, codeHash, blockHash, usersSlot } = args;
  const { rpc, merkleUrl, quorum, block, maxAge, lightClient } = args;
  if (lightClient || [rpc, merkleUrl, quorum, block, maxAge].some((value) => value !== undefined)) {
    const message =
      "With --bundle nobody is asked, and --block-hash alone says which block: leave out --rpc, --merkle-url, --quorum, --light-client, --block and --max-age.";
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
  const trusted = await trustedPlace(args, hre);
  const { bundle, record: own } = parseBundle(await readInput(args.bundle));
  const userID = args.userId ?? own.userID;
  const chainId = trusted.chainId ?? bundle.chainId;
  const question = { userID, chainId, contract: trusted.contract, codeHash, usersSlot, expectedPublicKey };
  const verified = await verifyBundle(bundle, question, { blockHash });
  const { record, root, contract, evidence, uniqueness } = verified;
  const { hash, number, timestamp = 0 } = evidence.block ?? {};
  return {
    json: { verified: true, record, root, contract, chainId, codeHash: verified.codeHash, evidence, uniqueness },
    text: [
      `The public key of ${record.userID} is verified, as of block ${number}.`,
      `  public key  ${record.pubKey}`,
      `  key id      ${record.keyID}`,
      `  root        ${root}`,
      `  contract    ${contract} on chain ${chainId}`,
      `  block       ${hash}, ${new Date(timestamp * 1000).toISOString()}`,
      "Whether the same root is over a second record of this user, only the whole file shows.",
    ].join("\n"),
  };
}

/** What a bundle must speak of: a forger's own contract would keep whatever root he likes. */
async function trustedPlace(
  { contract, chainId }: VerifyBundleArgs,
  hre: HardhatRuntimeEnvironment,
): Promise<{ contract: string; chainId: number | undefined }> {
  const named = chainId === 0 ? undefined : chainId;
  if (contract !== undefined) return { contract: checkAddress("--contract", contract), chainId: named };
  const stack = await readStackFile(hre.config.paths.root);
  if (stack !== undefined) return { contract: stack.contract, chainId: named ?? stack.chainId };
  const message = "Name the contract that you trust: --contract. A forged bundle would bring one of its own.";
  throw new ArgumentError("ARGUMENT_INVALID", message);
}
