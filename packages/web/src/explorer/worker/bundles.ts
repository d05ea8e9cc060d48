import { makeBundle as makeBundleOf, parseBundle, verifyBundle as verifyBundleOf } from "keyroot/bundle";
import { ANY_KEY } from "keyroot";
import { type Handler, toFailure } from "./serveCalls.ts";
import { pathOfProof } from "./treePath.ts";

/** Makes a user's bundle at the block that the options select. */
export const makeBundle: Handler<"makeBundle"> = async ({ userID, options }, _, signal) => {
  const { chainId, contract, codeHash, usersSlot, merkleUrl, pinned, allowHttp } = options;
  const rpc = typeof options.rpc === "string" ? options.rpc : (options.rpc[0] ?? "");
  try {
    const place = { rpc, chainId, contract, codeHash, usersSlot, merkleUrl, pinned, allowHttp };
    const { bundle } = await makeBundleOf(userID, { ...place, signal });
    return { bundle };
  } catch (error) {
    return { failure: toFailure(error) };
  }
};

/** Verifies a bundle against a block's hash without sending any request. */
export const verifyBundle: Handler<"verifyBundle"> = async ({ bytes, query, pinned }) => {
  let parsed: ReturnType<typeof parseBundle>;
  try {
    parsed = parseBundle(bytes);
  } catch (error) {
    return { failure: toFailure(error), path: undefined, root: undefined, userID: undefined };
  }
  const { proof } = parsed.bundle;
  const { record } = parsed;
  const { userID } = record;
  const path = { nodes: pathOfProof(proof), index: undefined, leafCount: undefined, record };
  try {
    const { root, evidence, uniqueness } = await verifyBundleOf(
      bytes,
      { ...query, userID, expectedPublicKey: ANY_KEY },
      { pinned },
    );
    return { userID, verified: { record, root, blockNumber: undefined, evidence, uniqueness, path, proof } };
  } catch (error) {
    const failure = toFailure(error);
    const failedLevel = failure.code === "ROOT_MISMATCH" ? path.nodes.length - 1 : undefined;
    return { userID, failure, path: { ...path, failedLevel }, root: undefined };
  }
};
