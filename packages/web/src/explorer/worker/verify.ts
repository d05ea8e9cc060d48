import { ANY_KEY, createVerifier, type Trust } from "keyroot";
import { loadKeyType } from "keyroot/internal/keyTypes";
import type { TrustChoice, VerificationOutcome } from "./messages.ts";
import { observeFetch } from "./observeFetch.ts";
import { type Handler, toFailure } from "./serveCalls.ts";
import { pathInFile, pathInRejectedFile } from "./treePath.ts";
import { simpleTrust } from "./trust.ts";

/** Makes the handler that verifies a user's key with a verifier, as apps do, and then prepares the drawing. */
export function verifyWith(trustOf: (choice: TrustChoice) => Trust): Handler<"verify"> {
  return async ({ userID, options }, report, signal): Promise<VerificationOutcome> => {
    const { expectedPublicKey = ANY_KEY, trust, keyType: typeName = "curve41417" } = options;
    const { rpc, chainId, contract, codeHash, merkleUrl, allowHttp } = options;
    const registry = { rpc, chainId, contract, codeHash, merkleUrl, allowHttp };
    const keyType = await loadKeyType(typeName);
    const observed = observeFetch(report);
    try {
      const verifier = createVerifier({ ...registry, keyType, trust: trustOf(trust), fetch: observed.fetch });
      const verified = await verifier.verify(userID, { expectedPublicKey, signal });
      const { record, root, blockNumber, evidence } = verified;
      const { path, proof } = pathInFile(observed.file() ?? new Uint8Array(), root, userID, keyType);
      return { verified: { record, root, blockNumber, evidence, uniqueness: "checked", path, proof } };
    } catch (error) {
      const failure = toFailure(error);
      // A hint may have loaded the file before the block was trusted. Then neither the file nor the root is evidence.
      if (failure.step === "anchor") return { failure, path: undefined, root: undefined };
      // Errors of servers have no step. No such error comes after the file.
      const bytes = failure.step === undefined ? undefined : observed.file();
      const path = bytes && pathInRejectedFile(bytes, userID, keyType, failure);
      return { failure, path, root: observed.root() };
    }
  };
}

/** Verifies a user's key with a source that needs no additional code. */
export const verify = verifyWith(simpleTrust);
