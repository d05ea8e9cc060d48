import { ArgumentError } from "keyroot/errors";
import { ANY_KEY } from "keyroot/identity";
import { type Evidence, verifyPublicKey } from "keyroot/verifier";
import { auditorsOptionOf, beaconOptionOf } from "./blockSource.ts";
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
  const endpoints = args.rpc?.split(",");
  checkQuorum(args.quorum, endpoints?.length ?? 1);
  const chainAndFiles = await ChainAndFiles.resolve({ ...args, rpc: endpoints?.[0] }, host);
  const { contract, merkleUrl, chainId } = chainAndFiles;
  const options = {
    rpc: endpoints === undefined || endpoints.length === 1 ? chainAndFiles.rpc : endpoints,
    contract,
    merkleUrl,
    chainId,
    expectedPublicKey: expectedPublicKey ?? ANY_KEY,
    codeHash,
    quorum: args.quorum,
    pinned: args.pinned,
    lightClient: args.lightClient,
    beacon: await beaconOptionOf(args),
    auditors: await auditorsOptionOf(args),
    storageProof: args.storageProof,
    block: args.block,
    maxAgeMs: args.maxAge === undefined ? undefined : args.maxAge * 1000,
    usersSlot: args.usersSlot,
    allowHttp: chainAndFiles.allowHttp,
  };
  const verified = await repeatRead(() => verifyPublicKey(userID, options), VERIFY_RETRY);
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

/** Checks that there are enough endpoints for the quorum. @throws ArgumentError ARGUMENT_INVALID */
function checkQuorum(quorum: number | undefined, endpoints: number): void {
  if (quorum === undefined || quorum <= endpoints) return;
  const message = `--quorum ${quorum} needs at least ${quorum} endpoints, separated by commas in --rpc, but there ${endpoints === 1 ? "is 1" : `are ${endpoints}`}.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

function describeEvidence(evidence: Evidence): string {
  const { storageProof, block } = evidence;
  const at = block === undefined ? "" : ` for block ${block.number}, ${block.hash}`;
  return `${describeSource(evidence)}${at}${storageProof ? ", and a storage proof under it" : ""}`;
}
