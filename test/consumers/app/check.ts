/** An app that uses the library in every consumer test. It imports only modules that all consumers have. */
import { ANY_KEY, createVerifier, KeyrootError, type VerifiedKey, verifyPublicKey, type VerifyOptions } from "keyroot";
import type { VerifiedBundle } from "keyroot/bundle";
import { UserClient } from "keyroot/user";

/** A user's published key, a different key, and the options of the verification. Both keys are in base64. */
export interface CheckInput {
  userID: string;
  published: string;
  swapped: string;
  options: Pick<VerifyOptions, "chainId" | "contract" | "merkleUrl"> & { rpc: string };
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
  /** The error codes if the other key is expected: online, by the verifier, in a list, and from the bundle. */
  swapped: string[];
  /** The code of the error for a malformed argument of the client of `keyroot/user`. */
  client: string;
}

export async function check({ userID, published, swapped, options }: CheckInput): Promise<Outcome> {
  const online: VerifiedKey = await verifyPublicKey(userID, { ...options, expectedPublicKey: published });
  const proven = await verifyPublicKey(userID, { ...options, storageProof: true, expectedPublicKey: ANY_KEY });
  const verifier = createVerifier(options);
  const created = await verifier.verify(userID, { expectedPublicKey: published });
  const inList = async (pubKey: string): Promise<string> => {
    const [outcome] = await verifier.verifyMany([{ userID, expectedPublicKey: pubKey }]);
    if (outcome === undefined) return "no outcome";
    return "error" in outcome ? outcome.error.code : outcome.verified.record.pubKey;
  };
  const { makeBundle, verifyBundle } = await import("keyroot/bundle");
  const { bundle, verified } = await makeBundle(userID, options);
  const { chainId, contract } = options;
  const verify = (expectedPublicKey: string): Promise<VerifiedBundle> =>
    verifyBundle(bundle, { userID, chainId, contract, expectedPublicKey }, { pinned: verified.evidence.block?.hash });
  return {
    verified: online.record.pubKey,
    proven: proven.evidence.storageProof ? proven.record.pubKey : "",
    created: [created.record.pubKey, await inList(published)],
    bundled: (await verify(published)).record.pubKey,
    swapped: [
      await codeOf(() => verifyPublicKey(userID, { ...options, expectedPublicKey: swapped })),
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
