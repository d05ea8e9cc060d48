/** Quorums of a tuple of endpoints. TypeScript 5.0 infers no tuples here, so it accepts all of them. It is compiled, never run. */
import { ANY_KEY, createVerifier, verifyMany, verifyPublicKey } from "keyroot";

const options = { chainId: 1, contract: "", merkleUrl: "" };
createVerifier({ ...options, rpc: ["", ""], quorum: 2 });
// @ts-expect-error -- a quorum above the number of endpoints
createVerifier({ ...options, rpc: ["", ""], quorum: 3 });
// @ts-expect-error -- a quorum above the number of endpoints
export const fewerEndpoints = verifyPublicKey("", { ...options, rpc: [""], quorum: 2, expectedPublicKey: ANY_KEY });
// @ts-expect-error -- a quorum above the number of endpoints
export const fewerForMany = verifyMany([], { ...options, rpc: ["", ""], quorum: 3 });
