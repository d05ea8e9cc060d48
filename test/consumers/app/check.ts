/** An app that uses the library in every consumer test. It imports only modules that all consumers have. */
import {
  ANY_KEY,
  createVerifier,
  KeyrootError,
  oneEndpoint,
  ownNode,
  type VerifiedKey,
  type VerifierOptions,
  pinnedBlock,
} from "keyroot";
import type { VerifiedBundle } from "keyroot/bundle";
import { UserClient } from "@keyroot/client/user";

/** A user's published key, a different key, and the options of the verification. Both keys are in base64. */
export interface CheckInput {
  userID: string;
  published: string;
  swapped: string;
  options: Pick<VerifierOptions, "chainId" | "contract" | "merkleUrl"> & { rpc: string };
}

export interface Outcome {
  /** The published key, verified online. */
  verified: string;
  /** The published key, verified with a storage proof. The code for storage proofs is loaded on demand. */
  proven: string;
  /** The published key, verified by `createVerifier` alone and in a list. The code for lists is loaded on demand. */
  created: string[];
  /** The published key, verified from a bundle without a request. */
  bundled: string;
  /** The error codes when a different key is expected: online, by the verifier, in a list, and from the bundle. */
  swapped: string[];
  /** The code of the error for a malformed argument of the client of `@keyroot/client/user`. */
  client: string;
}

export async function check({ userID, published, swapped, options }: CheckInput): Promise<Outcome> {
  const verifier = createVerifier({ ...options, trust: oneEndpoint() });
  const online: VerifiedKey = await verifier.verify(userID, { expectedPublicKey: ANY_KEY });
  const own = createVerifier({ ...options, trust: ownNode() });
  const proven = await own.verify(userID, { expectedPublicKey: ANY_KEY });
  const created = await verifier.verify(userID, { expectedPublicKey: published });
  const inList = async (pubKey: string): Promise<string> => {
    const [outcome] = await verifier.verifyMany([{ userID, expectedPublicKey: pubKey }]);
    if (outcome === undefined) return "no outcome";
    return "error" in outcome ? outcome.error.code : outcome.verified.record.pubKey;
  };
  const { makeBundle, verifyBundle } = await import("keyroot/bundle");
  const { bundle, verified } = await makeBundle(userID, { ...options, trust: oneEndpoint() });
  const { chainId, contract } = options;
  const trust = pinnedBlock(verified.evidence.block?.hash ?? "");
  const verify = (expectedPublicKey: string): Promise<VerifiedBundle> =>
    verifyBundle(bundle, { userID, chainId, contract, expectedPublicKey, trust });
  return {
    verified: online.record.pubKey,
    proven: proven.evidence.storageProof ? proven.record.pubKey : "",
    created: [created.record.pubKey, await inList(published)],
    bundled: (await verify(published)).record.pubKey,
    swapped: [
      await codeOf(() => own.verify(userID, { expectedPublicKey: swapped })),
      await codeOf(() => verifier.verify(userID, { expectedPublicKey: swapped })),
      await inList(swapped),
      await codeOf(() => verify(swapped)),
    ],
    client: await codeOf(() => new UserClient({ serviceUrl: "http://keyroot.test", bizID: "", refreshToken: "" })),
  };
}

/** The code of the error that an operation ends with. */
async function codeOf(operation: () => unknown): Promise<string> {
  try {
    await operation();
    return "accepted";
  } catch (error) {
    return error instanceof KeyrootError ? error.code : String(error);
  }
}
