import { ANY_KEY, createVerifier, type Trust } from "keyroot";
import { loadKeyType } from "keyroot/internal/keyTypes";
import type { AccountCode } from "./accounts.ts";
import type { TrustChoice, VerificationOutcome } from "./messages.ts";
import { observeFetch } from "./observeFetch.ts";
import { type Handler, toFailure } from "./serveCalls.ts";
import { pathInFile, pathInRejectedFile } from "./treePath.ts";

/**
 * Returns the handler that verifies a user's key with a verifier, as apps do, and then prepares the drawing.
 * @param code undefined in workers for registries without accounts
 */
export function verifyWith(trustOf: (choice: TrustChoice) => Trust, code?: AccountCode): Handler<"verify"> {
  return async ({ userID, options }, report, signal): Promise<VerificationOutcome> => {
    const { expectedPublicKey = ANY_KEY, trust, keyType: typeName = "curve41417" } = options;
    const { rpc, chainId, contract, codeHash, merkleUrl, allowHttp } = options;
    const accounts = options.accounts === true ? code?.accounts() : undefined;
    const registry = { rpc, chainId, contract, codeHash, merkleUrl, allowHttp, ...(accounts && { accounts }) };
    const keyType = await loadKeyType(typeName);
    const observed = observeFetch(report);
    try {
      const verifier = createVerifier({ ...registry, keyType, trust: trustOf(trust), fetch: observed.fetch });
      const verified = await verifier.verify(userID, { expectedPublicKey, signal });
      const { record, root, blockNumber, evidence } = verified;
      const { path, proof } = pathInFile(observed.file() ?? new Uint8Array(), root, record.userID, keyType);
      const account = accounts && code?.historyOf(observed.accountFile(), userID, options);
      return { verified: { record, root, blockNumber, evidence, uniqueness: "checked", path, proof, account } };
    } catch (error) {
      const failure = toFailure(error);
      // A hint may have loaded the file before the block was trusted. The file and the root are then no evidence, so
      // omit them.
      if (failure.step === "anchor") return { failure, path: undefined, root: undefined };
      // Errors of servers have no step. No such error comes after the file.
      const bytes = failure.step === undefined ? undefined : observed.file();
      const recordID = (accounts && code?.slotOf(observed.accountFile(), userID, options)) ?? userID;
      const path = bytes && pathInRejectedFile(bytes, recordID, keyType, failure);
      return { failure, path, root: observed.root() };
    }
  };
}
