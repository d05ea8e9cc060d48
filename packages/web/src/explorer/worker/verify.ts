import { ANY_KEY, verifyPublicKey } from "keyroot";
import type { VerificationOutcome } from "./messages.ts";
import { observeFetch } from "./observeFetch.ts";
import { type Handler, toFailure } from "./serveCalls.ts";
import { pathInFile, pathInRejectedFile } from "./treePath.ts";

/** Verifies a user's key with `verifyPublicKey`, as apps do, and then prepares the drawing. */
export const verify: Handler<"verify"> = async ({ userID, options }, report, signal): Promise<VerificationOutcome> => {
  const observed = observeFetch(report);
  try {
    const { expectedPublicKey = ANY_KEY } = options;
    const verified = await verifyPublicKey(userID, { ...options, expectedPublicKey, fetch: observed.fetch, signal });
    const { record, root, blockNumber, evidence } = verified;
    const { path, proof } = pathInFile(observed.file() ?? new Uint8Array(), root, userID);
    return { verified: { record, root, blockNumber, evidence, uniqueness: "checked", path, proof } };
  } catch (error) {
    const failure = toFailure(error);
    const bytes = observed.file();
    const path = bytes && pathInRejectedFile(bytes, userID, failure);
    return { failure, path, root: observed.root() };
  }
};
