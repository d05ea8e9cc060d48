import { describeValue } from "keyroot/input";
import { ArgumentError } from "keyroot/errors";
import type { Evidence } from "keyroot/verifier";
import type { VerifyOptions } from "keyroot/verifier";
import { verifyPublicKey } from "keyroot/verifier";
import { command } from "./command.ts";
import { Target, type TargetArgs } from "./target.ts";
import { verifyBundleFile } from "./verifyBundle.ts";

interface Args extends TargetArgs {
  userId: string | undefined;
  bundle: string | undefined;
  blockHash: string | undefined;
  expectedPublicKey: string | undefined;
  codeHash: string | undefined;
  quorum: string | undefined;
  lightClient: boolean;
  proof: boolean;
  block: string | undefined;
  maxAge: string | undefined;
  usersSlot: number;
  json: boolean;
}

/** `keyroot verify [userID]`: one user's key, as an app would verify it, or a bundle. */
export default command(async (args: Args, hre) => {
  const { userId, bundle, expectedPublicKey, codeHash } = args;
  if (bundle !== undefined) return verifyBundleFile({ ...args, bundle }, hre);
  if (userId === undefined) throw new ArgumentError("ARGUMENT_INVALID", "Name the user, or a bundle: --bundle FILE.");
  const endpoints = args.rpc?.split(",");
  const target = await Target.resolve({ ...args, rpc: endpoints?.[0] }, hre);
  const { contract, merkleUrl, chainId } = target;
  const verified = await verifyPublicKey(userId, {
    rpc: endpoints === undefined || endpoints.length === 1 ? target.rpc : endpoints,
    contract,
    merkleUrl,
    chainId,
    expectedPublicKey,
    codeHash,
    ...demandOf(args),
  });
  const { record, root, index, blockNumber, evidence } = verified;
  return {
    json: { verified: true, record, root, index, blockNumber, contract, chainId, evidence },
    text: [
      `The public key of ${record.userID} is verified.`,
      `  public key  ${record.pubKey}`,
      `  key id      ${record.keyID}`,
      `  root        ${root}, value ${index}`,
      `  contract    ${contract} on chain ${chainId}, in block ${blockNumber}`,
      `  rests on    ${describeEvidence(evidence)}`,
    ].join("\n"),
  };
});

function demandOf({ quorum, blockHash, lightClient, proof, block, maxAge, usersSlot }: Args) {
  const maxAgeSeconds = toCount("--max-age", maxAge);
  return {
    quorum: toCount("--quorum", quorum),
    blockHash,
    lightClient,
    storageProof: proof,
    block: block as VerifyOptions["block"],
    maxAgeMs: maxAgeSeconds === undefined ? undefined : maxAgeSeconds * 1000,
    usersSlot,
  };
}

/** A number that was asked for, 0 as well, or none: a demand that is not understood must not be dropped. */
function toCount(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  throw new ArgumentError("ARGUMENT_INVALID", `${option} must be a whole number: ${describeValue(text)}.`);
}

function describeEvidence({ anchor, storageProof, block, agreeing }: Evidence): string {
  const source = {
    endpoint: "the word of one endpoint",
    quorum: `${agreeing} endpoints that agree`,
    pinned: "the hash that you named",
    "light-client": "the light client",
  }[anchor];
  const at = block === undefined ? "" : ` for block ${block.number}, ${block.hash}`;
  return `${source}${at}${storageProof ? ", and a storage proof under it" : ""}`;
}
