import type { Evidence } from "keyroot";
import { argumentInvalid } from "../errors.ts";
import { accountOptions, readAccountOptions } from "./accountOptions.ts";
import { command, json, text } from "./defineCommand.ts";
import { describeSource } from "./describeSource.ts";
import {
  chainWithTrust,
  codeHash,
  FILES_OF_REGISTRY,
  keyType,
  maxAge,
  merkleUrl,
  trust,
  userIDForm,
} from "./options.ts";
import { style } from "./output.ts";

/** The retries of a whole verification. */
const VERIFY_RETRY = { retries: 3, initialDelayMs: 500 };

export const verify = command(
  {
    summary: "Verify a user's public key as an app does",
    argument: { name: "userID", description: `${userIDForm}. Optional with --bundle`, kind: "optional" },
    needs: ({ bundle, trust }) =>
      bundle === undefined
        ? ["userID", ...FILES_OF_REGISTRY, "chainId"]
        : trust === "light-client"
          ? ["blockProof", "checkpoint"]
          : [],
    options: {
      bundle: text(
        "file",
        "File with the user's bundle, which is verified without a network. Requires --trust pinned-block:HASH, auditors, or light-client with --block-proof",
        { excludes: ["statementUrls", "rpc", "merkleUrl", "beacon", "block", "maxAge", "allowHttp", "account"] },
      ),
      blockProof: text("file", "File with the proof of the bundle's block, which is verified against --checkpoint", {
        onlyWith: { bundle: true, trust: ["light-client"] },
      }),
      ...trust,
      maxAge: maxAge("Maximum age of the block, or of the auditors' signatures, in seconds"),
      expectedPublicKey: text(
        "base64",
        "Public key that your server returned for the user, in base64. If the published key is different, the command fails",
      ),
      ...accountOptions,
      codeHash,
      keyType,
      ...chainWithTrust,
      merkleUrl,
      json,
    },
  },
  async (args, host) => {
    const { userID, bundle, expectedPublicKey, codeHash } = args;
    if (bundle !== undefined) return (await import("./verifyBundle.ts")).verifyBundleFile({ ...args, bundle }, host);
    if (userID === undefined)
      throw argumentInvalid("The user id is missing. Add a user id to the command, or set --bundle to a bundle file.");
    const { createVerifier } = await import("keyroot");
    const { ANY_KEY } = await import("keyroot/internal/identity");
    const { loadKeyType } = await import("keyroot/internal/keyTypes");
    const { repeatRead } = await import("../rpc/repeatReads.ts");
    const { ChainAndFiles } = await import("./chainAndFiles.ts");
    const { endpointsOf, trustOf } = await import("./trust.ts");
    const endpoints = endpointsOf(args.rpc);
    using chainAndFiles = await ChainAndFiles.resolve({ ...args, rpc: endpoints }, host);
    const { contract, merkleUrl, chainId, allowHttp } = chainAndFiles;
    const { choice, file } = await readAccountOptions(args);
    const verifier = createVerifier({
      rpc: endpoints.length > 1 ? endpoints : chainAndFiles.rpc,
      ...{ contract, merkleUrl, chainId, codeHash, allowHttp },
      keyType: await loadKeyType(args.keyType),
      trust: await trustOf(args),
      ...choice,
    });
    const expected = { expectedPublicKey: expectedPublicKey ?? ANY_KEY, ...file };
    const verified = await repeatRead(() => verifier.verify(userID, expected), VERIFY_RETRY);
    const { record, root, index, blockNumber, evidence, account } = verified;
    return {
      json: {
        verified: true,
        record,
        root,
        index,
        blockNumber,
        contract,
        chainId,
        evidence,
        ...(account && { account }),
      },
      text: [
        `The public key of ${userID} is ${style("success", "verified")}.`,
        `  public key  ${record.pubKey}`,
        `  key id      ${record.keyID}`,
        ...(account ? [`  number      ${account.number} of the account, and the newest one`] : []),
        `  root        ${root}, value ${index}`,
        `  contract    ${contract} on chain ${chainId}, in block ${blockNumber} (not proven)`,
        `  evidence    ${describeEvidence(evidence)}`,
      ].join("\n"),
    };
  },
);

function describeEvidence(evidence: Evidence): string {
  const { storageProof, block } = evidence;
  const at = block === undefined ? "" : ` for block ${block.number}, ${block.hash}`;
  return `${describeSource(evidence)}${at}${storageProof ? ", and a storage proof under it" : ""}`;
}
