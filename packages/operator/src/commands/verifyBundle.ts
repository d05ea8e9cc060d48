import type { AuditorOptions } from "keyroot/auditors";
import { ArgumentError } from "keyroot/errors";
import { type ProvenBlock, verifyBlockProof } from "keyroot/beacon";
import type { Evidence } from "keyroot/verifier";
import { ANY_KEY } from "keyroot/identity";
import { parseBundle, verifyBundle } from "keyroot/bundle";
import { readStackFile } from "./stackFile.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import type { Host, Outcome } from "./host.ts";
import { lightClientOptionsOf } from "./blockSource.ts";
import { readInput, readLines } from "./inputFiles.ts";
import { style } from "./output.ts";
import { checkAddress } from "./hexOptions.ts";

type Args = ArgsOf<"verify"> & { bundle: string };

/** `keyroot verify [userID] --bundle FILE`: verifies a bundle without a network. */
export async function verifyBundleFile(args: Args, host: Host): Promise<Outcome> {
  const { codeHash, usersSlot } = args;
  const trusted = await trustedContract(args, host);
  const { bundle, record: own } = parseBundle(await readInput(args.bundle));
  const userID = args.userID ?? own.userID;
  const chainId = trusted.chainId ?? bundle.chainId;
  const proven = await provenBlockOf(args, chainId);
  const pinned = proven?.blockHash ?? args.pinned;
  const auditors = await auditorsOf(args);
  const expectedPublicKey = args.expectedPublicKey ?? ANY_KEY;
  const query = { userID, chainId, contract: trusted.contract, codeHash, usersSlot, expectedPublicKey };
  const verified = await verifyBundle(bundle, query, { pinned, auditors });
  const { record, root, contract, uniqueness } = verified;
  const evidence: Evidence =
    proven === undefined ? verified.evidence : { ...verified.evidence, anchor: "beacon", beacon: proven.evidence };
  const { hash, number, timestamp = 0 } = evidence.block ?? {};
  return {
    json: { verified: true, record, root, contract, chainId, codeHash: verified.codeHash, evidence, uniqueness },
    text: [
      `The public key of ${record.userID} is ${style("success", "verified")} as of block ${number}.`,
      `  public key  ${record.pubKey}`,
      `  key id      ${record.keyID}`,
      `  root        ${root}`,
      `  contract    ${contract} on chain ${chainId}`,
      `  block       ${hash}, ${new Date(timestamp * 1000).toISOString()}`,
      "A bundle cannot show whether the root also covers a second record of this user. Only the whole file can show this.",
    ].join("\n"),
  };
}

/**
 * Returns the block that `--block-proof` proves from `--checkpoint`.
 * @throws ArgumentError ARGUMENT_INVALID, and the errors of `verifyBlockProof`
 */
async function provenBlockOf(args: Args, chainId: number): Promise<ProvenBlock | undefined> {
  if (args.blockProof === undefined) return undefined;
  const { checkpoint, network, maxCheckpointAgeMs } = lightClientOptionsOf(args);
  return verifyBlockProof(await readInput(args.blockProof), { chainId, checkpoint, network, maxCheckpointAgeMs });
}

/** Returns the auditors who must have signed the bundle's statement. @throws ArgumentError ARGUMENT_INVALID, FILE_UNREADABLE */
async function auditorsOf({ auditors, threshold }: Args): Promise<AuditorOptions | undefined> {
  if (auditors === undefined && threshold === undefined) return undefined;
  if (auditors === undefined || threshold === undefined)
    throw new ArgumentError(
      "ARGUMENT_INVALID",
      "The auditors' keys and the threshold are needed together. Set --auditors FILE and --threshold N.",
    );
  await import("keyroot/auditors");
  return { keys: await readLines(auditors), threshold };
}

/**
 * Returns the contract that the bundle must name. Without this requirement, a forger could deploy another contract with
 * any roots.
 */
async function trustedContract(
  { contract, chainId }: Args,
  host: Host,
): Promise<{ contract: string; chainId: number | undefined }> {
  if (contract !== undefined) return { contract: checkAddress("--contract", contract), chainId };
  const stack = await readStackFile(host.root);
  if (stack !== undefined) return { contract: stack.contract, chainId: chainId ?? stack.chainId };
  const message = "The trusted contract is missing. A forged bundle could contain another contract. Set --contract.";
  throw new ArgumentError("ARGUMENT_INVALID", message);
}
