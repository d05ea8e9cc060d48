import { pinnedBlock, type Trust } from "keyroot";
import { auditors } from "keyroot/auditors";
import { parseAccountFile } from "keyroot/account";
import { argumentInvalid } from "../errors.ts";
import { type ProvenBlock, verifyBlockProof } from "keyroot/light-client";
import type { Evidence } from "keyroot/internal/verifier";
import { ANY_KEY, type KeyTypeName } from "keyroot/internal/identity";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { type Bundle, parseBundle, verifyBundle } from "keyroot/bundle";
import { type AccountArguments, readAccountOptions } from "./accountOptions.ts";
import { readStackFile } from "./stackFile.ts";
import type { Host, Outcome } from "./host.ts";
import { auditorsOf, checkpointOf, type TrustArguments, trustOf } from "./trust.ts";
import { readInput } from "./inputFiles.ts";
import { style } from "./output.ts";
import { checkAddress } from "./hexOptions.ts";

/** The arguments of `verify` that concern a bundle. */
interface Args extends TrustArguments, AccountArguments {
  keyType: KeyTypeName;
  userID: string | undefined;
  bundle: string;
  blockProof: string | undefined;
  expectedPublicKey: string | undefined;
  codeHash: string | undefined;
  contract: string | undefined;
  chainId: number | undefined;
}

export async function verifyBundleFile(args: Args, host: Host): Promise<Outcome> {
  const { codeHash } = args;
  const trusted = await trustedContract(args, host);
  const keyType = await loadKeyType(args.keyType);
  const { bundle, record: own } = parseBundle(await readInput(args.bundle), keyType);
  const { choice } = await readAccountOptions({ accounts: args.accounts || bundle.account !== undefined });
  const ownID = bundle.account === undefined ? own.userID : parseAccountFile(bundle.account.file).account.userID;
  const userID = args.userID ?? ownID;
  if (trusted.chainId === undefined && args.trust === "auditors") {
    // The same contract address can exist on another chain, where the auditors also sign statements.
    throw argumentInvalid("The trusted chain is missing. A forged bundle could be from another chain. Set --chain-id.");
  }
  const chainId = trusted.chainId ?? bundle.chainId;
  const expectedPublicKey = args.expectedPublicKey ?? ANY_KEY;
  const proven = await provenBlockOf(args, chainId);
  const trust = proven === undefined ? await offlineTrustOf(args, bundle) : pinnedBlock(proven.blockHash);
  const place = { userID, chainId, contract: trusted.contract, codeHash, keyType };
  const query = { ...place, expectedPublicKey, trust, ...choice };
  const verified = await verifyBundle(bundle, query);
  const { record, root, contract, uniqueness, account } = verified;
  const evidence: Evidence =
    proven === undefined
      ? verified.evidence
      : { ...verified.evidence, source: "light-client", details: proven.details };
  const { hash, number, timestamp = 0 } = evidence.block ?? {};
  return {
    json: {
      ...{ verified: true, record, root, contract, chainId, codeHash: verified.codeHash, evidence, uniqueness },
      ...(account && { account }),
    },
    text: [
      `The public key of ${userID} is ${style("success", "verified")} as of block ${number}.`,
      `  public key  ${record.pubKey}`,
      `  key id      ${record.keyID}`,
      ...(account ? [`  number      ${account.number} of the account, and the newest one at this block`] : []),
      `  root        ${root}`,
      `  contract    ${contract} on chain ${chainId}`,
      `  block       ${hash}, ${new Date(timestamp * 1000).toISOString()}`,
      "A bundle cannot show whether the root also covers a second record of this user. Only the whole file can show this.",
    ].join("\n"),
  };
}

/**
 * Returns the block that `--block-proof` proves, starting from the checkpoint in `--checkpoint`. With `--trust
 * light-client`, both options are required.
 * @throws ArgumentError ARGUMENT_INVALID, and the errors of `verifyBlockProof`
 */
async function provenBlockOf(args: Args, chainId: number): Promise<ProvenBlock | undefined> {
  if (args.blockProof === undefined) return undefined;
  return verifyBlockProof(await readInput(args.blockProof), { chainId, checkpoint: checkpointOf(args) });
}

/**
 * Returns the choice of `--trust` for a bundle. Its auditors need no folders.
 * @throws ArgumentError ARGUMENT_INVALID if the choice needs a network, and as `trustOf`
 */
async function offlineTrustOf(args: Args, { header }: Bundle): Promise<Trust> {
  if (args.trust === "auditors") return auditors(await auditorsOf(args, false));
  const trust = await trustOf(args);
  if (trust.name === "pinned-block") return trust;
  throw argumentInvalid(
    `A bundle is verified without a network, which --trust ${args.trust} would need. Get the hash of block ${Number(header["number"])} from a source that the bundle's sender does not control, and set --trust pinned-block:HASH. With a block proof or a signed statement, you can set --trust light-client or --trust auditors instead.`,
  );
}

/**
 * Returns the contract that the bundle must be about. It never comes from the bundle, because a forger could deploy a
 * contract with any roots and name it there.
 */
async function trustedContract(
  { contract, chainId }: Args,
  host: Host,
): Promise<{ contract: string; chainId: number | undefined }> {
  if (contract !== undefined) return { contract: checkAddress("--contract", contract), chainId };
  const stack = await readStackFile(host.root);
  if (stack !== undefined) return { contract: stack.contract, chainId: chainId ?? stack.chainId };
  const message = "The trusted contract is missing. A forged bundle could contain another contract. Set --contract.";
  throw argumentInvalid(message);
}
