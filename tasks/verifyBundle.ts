import { readFile, stat } from "node:fs/promises";
import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import { ArgumentError } from "../src/errors.ts";
import { readStackFile } from "../src/stack/stackFile.ts";
import { judgeBundle, parseBundle } from "../src/verifier/bundle.ts";
import type { Outcome } from "./command.ts";
import { checkAddress, type TargetArgs } from "./target.ts";

export interface VerifyBundleArgs extends TargetArgs {
  userId: string | undefined;
  bundle: string;
  blockHash: string | undefined;
  expectedPublicKey: string | undefined;
  codeHash: string | undefined;
  quorum: number;
  lightClient: boolean;
}

/** `keyroot verify [userID] --bundle FILE --block-hash H`: a bundle by itself, without a network. */
export async function verifyBundle(args: VerifyBundleArgs, hre: HardhatRuntimeEnvironment): Promise<Outcome> {
  const { expectedPublicKey, codeHash, blockHash } = args;
  if (args.rpc !== undefined || args.merkleUrl !== undefined || args.quorum !== 0 || args.lightClient) {
    const message = "With --bundle nobody is asked: leave out --rpc, --merkle-url, --quorum and --light-client.";
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
  const trusted = await trustedPlace(args, hre);
  const { bundle, record: own } = parseBundle(await read(args.bundle));
  const userID = args.userId ?? own.userID;
  const chainId = trusted.chainId ?? bundle.chainId;
  const question = { userID, chainId, contract: trusted.contract, codeHash, expectedPublicKey };
  const verified = await judgeBundle(bundle, question, { blockHash });
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

async function read(path: string): Promise<Uint8Array> {
  try {
    if ((await stat(path)).isFile()) return await readFile(path);
  } catch (cause) {
    throw new ArgumentError("FILE_UNREADABLE", `${path} cannot be read: ${(cause as Error).message}.`, { cause });
  }
  throw new ArgumentError("FILE_UNREADABLE", `${path} is no file.`);
}
