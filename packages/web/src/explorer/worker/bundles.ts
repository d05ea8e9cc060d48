import { makeBundle as makeBundleOf, parseBundle, verifyBundle as verifyBundleOf } from "keyroot/bundle";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { ANY_KEY, oneEndpoint, pinnedBlock } from "keyroot";
import type { AccountCode } from "./accounts.ts";
import { type Handler, toFailure } from "./serveCalls.ts";
import { pathOfProof } from "./treePath.ts";

/**
 * Returns the handler that makes a user's bundle at the block that the options select.
 * @param code undefined in workers for registries without accounts
 */
export const makeBundleWith =
  (code?: AccountCode): Handler<"makeBundle"> =>
  async ({ userID, options }, _, signal) => {
    const { chainId, contract, codeHash, merkleUrl, allowHttp } = options;
    const keyType = await loadKeyType(options.keyType ?? "curve41417");
    const trust = options.trust.name === "pinned-block" ? pinnedBlock(options.trust.hash) : oneEndpoint();
    const rpc = typeof options.rpc === "string" ? options.rpc : (options.rpc[0] ?? "");
    try {
      const accounts = options.accounts === true ? code?.accounts() : undefined;
      const place = { rpc, chainId, contract, codeHash, keyType, merkleUrl, trust, allowHttp, accounts };
      const { bundle } = await makeBundleOf(userID, { ...place, signal });
      return { bundle };
    } catch (error) {
      return { failure: toFailure(error) };
    }
  };

/**
 * Returns the handler that verifies a bundle against a block's hash without any request.
 * @param code undefined in workers for registries without accounts
 */
export const verifyBundleWith =
  (code?: AccountCode): Handler<"verifyBundle"> =>
  async ({ bytes, query: given, pinned }) => {
    const { accounts: hasAccounts = false, ...query } = given;
    const keyType = await loadKeyType(query.keyType ?? "curve41417");
    let parsed: ReturnType<typeof parseBundle>;
    try {
      parsed = parseBundle(bytes, keyType);
    } catch (error) {
      return { failure: toFailure(error), path: undefined, root: undefined, userID: undefined };
    }
    const { proof, account: accountPart } = parsed.bundle;
    const { record } = parsed;
    const accountFile = hasAccounts && accountPart ? new TextEncoder().encode(accountPart.file) : undefined;
    const userID = (accountFile && code?.accountIDOf(accountFile)) ?? record.userID;
    const path = { nodes: pathOfProof(proof), index: undefined, leafCount: undefined, record };
    try {
      // Without a hash, the verification fails with the hash of the bundle's block.
      const trust = pinned === undefined ? oneEndpoint() : pinnedBlock(pinned);
      const accounts = hasAccounts ? code?.accounts() : undefined;
      const trusted = { ...query, keyType, userID, expectedPublicKey: ANY_KEY, trust, accounts };
      const { root, evidence, uniqueness } = await verifyBundleOf(bytes, trusted);
      const account = accounts && code?.historyOf(accountFile, userID, query);
      return { userID, verified: { record, root, blockNumber: undefined, evidence, uniqueness, path, proof, account } };
    } catch (error) {
      const failure = toFailure(error);
      const failedLevel = failure.code === "ROOT_MISMATCH" ? path.nodes.length - 1 : undefined;
      return { userID, failure, path: { ...path, failedLevel }, root: undefined };
    }
  };
