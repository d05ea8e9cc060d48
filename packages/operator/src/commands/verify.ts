import { ArgumentError } from "keyroot/internal/errors";
import { ANY_KEY } from "keyroot/internal/identity";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { createVerifier, type Evidence } from "keyroot";
import { endpointsOf, trustOf } from "./trust.ts";
import { describeSource } from "./describeSource.ts";
import { repeatRead } from "../rpc/repeatReads.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import type { Host, Outcome } from "./host.ts";
import { style } from "./output.ts";
import { ChainAndFiles } from "./chainAndFiles.ts";

/** The retries of a whole verification. */
const VERIFY_RETRY = { retries: 3, initialDelayMs: 500 };

/** `keyroot verify [userID]`: verifies a user's key as an app does. With `--bundle`, verifies a bundle. */
export default async function verify(args: ArgsOf<"verify">, host: Host): Promise<Outcome> {
  const { userID, bundle, expectedPublicKey, codeHash } = args;
  if (bundle !== undefined) return (await import("./verifyBundle.ts")).verifyBundleFile({ ...args, bundle }, host);
  if (userID === undefined)
    throw new ArgumentError(
      "ARGUMENT_INVALID",
      "The user id is missing. Add a user id to the command, or set --bundle to a bundle file.",
    );
  if (args.blockProof !== undefined)
    throw new ArgumentError("ARGUMENT_INVALID", "--block-proof proves the block of a bundle. Set --bundle.");
  const endpoints = endpointsOf(args.rpc);
  const chainAndFiles = await ChainAndFiles.resolve({ ...args, rpc: endpoints[0] }, host);
  const { contract, merkleUrl, chainId, allowHttp } = chainAndFiles;
  const verifier = createVerifier({
    rpc: endpoints.length > 1 ? endpoints : chainAndFiles.rpc,
    ...{ contract, merkleUrl, chainId, codeHash, allowHttp },
    keyType: await loadKeyType(args.keyType),
    trust: await trustOf(args),
  });
  const expected = { expectedPublicKey: expectedPublicKey ?? ANY_KEY };
  const verified = await repeatRead(() => verifier.verify(userID, expected), VERIFY_RETRY);
  const { record, root, index, blockNumber, evidence } = verified;
  return {
    json: { verified: true, record, root, index, blockNumber, contract, chainId, evidence },
    text: [
      `The public key of ${record.userID} is ${style("success", "verified")}.`,
      `  public key  ${record.pubKey}`,
      `  key id      ${record.keyID}`,
      `  root        ${root}, value ${index}`,
      `  contract    ${contract} on chain ${chainId}, in block ${blockNumber} (not proven)`,
      `  evidence    ${describeEvidence(evidence)}`,
    ].join("\n"),
  };
}

function describeEvidence(evidence: Evidence): string {
  const { storageProof, block } = evidence;
  const at = block === undefined ? "" : ` for block ${block.number}, ${block.hash}`;
  return `${describeSource(evidence)}${at}${storageProof ? ", and a storage proof under it" : ""}`;
}
