/** Quorums that TypeScript 5.0 accepts, because it infers no tuples and no literal numbers here. It is compiled, never run. */
import { ANY_KEY, createVerifier, verifyMany, verifyPublicKey } from "keyroot";

const options = { chainId: 1, contract: "", merkleUrl: "" };
createVerifier({ ...options, rpc: ["", ""], quorum: 2 });
// @ts-expect-error -- a quorum above the number of endpoints
createVerifier({ ...options, rpc: ["", ""], quorum: 3 });
// @ts-expect-error -- a quorum of two from one endpoint
createVerifier({ ...options, rpc: "", quorum: 2 });
// @ts-expect-error -- a quorum above the number of endpoints
export const fewerEndpoints = verifyPublicKey("", { ...options, rpc: [""], quorum: 2, expectedPublicKey: ANY_KEY });
// @ts-expect-error -- a quorum above the number of endpoints
export const fewerForMany = verifyMany([], { ...options, rpc: ["", ""], quorum: 3 });
