/** Uses the declarations of every entry as a strict program would. It is compiled, never run. */
import { ANY_KEY, createVerifier, verifyPublicKey, type VerifiedKey, type Verifier } from "keyroot";
import { type Bundle, parseBundle } from "keyroot/bundle";
import { type CreateUsersResult, PartnerClient, type ProvisionOutcome, type ShadowUser } from "keyroot/partner";
import { ServiceError, UserClient, type UserPublicKey } from "keyroot/user";

export const verified: Promise<VerifiedKey> = verifyPublicKey("", {
  ...{ rpc: "", chainId: 1, contract: "", merkleUrl: "" },
  expectedPublicKey: ANY_KEY,
});
// @ts-expect-error -- no key to compare
export const compared = verifyPublicKey("", { rpc: "", chainId: 1, contract: "", merkleUrl: "" });
const verifier: Verifier = createVerifier({ rpc: "", chainId: 1, contract: "", merkleUrl: "" });
export const again: Promise<VerifiedKey> = verifier.verify("", { expectedPublicKey: "" });
// @ts-expect-error -- no key to compare
export const uncompared = verifier.verify("", { expectedPublicKey: undefined });
const options = { chainId: 1n, contract: "", merkleUrl: "" };
const quorum = Number("2");
const [pinned, beacon] = ["", { urls: [""], checkpoint: "" }];
const auditors = { keys: [""], threshold: 1, urls: [""] };
createVerifier({ ...options, rpc: ["", ""], quorum: 2 });
createVerifier({ ...options, rpc: ["", ""], quorum });
createVerifier({ ...options, rpc: [""].concat(""), quorum: 3, block: "safe" });
createVerifier({ ...options, rpc: "", lightClient: true, block: "finalized" });
createVerifier({ ...options, rpc: "", pinned, storageProof: true });
createVerifier({ ...options, rpc: "", beacon });
createVerifier({ ...options, rpc: "", auditors });
createVerifier({ ...options, rpc: "", quorum: 1 });
createVerifier({ ...options, rpc: "", quorum });
// @ts-expect-error -- several endpoints without a quorum
createVerifier({ ...options, rpc: ["", ""] });
// @ts-expect-error -- two sources of the block
createVerifier({ ...options, rpc: "", pinned, beacon });
// @ts-expect-error -- two sources of the block
createVerifier({ ...options, rpc: "", auditors, beacon });
// @ts-expect-error -- two sources of the block
createVerifier({ ...options, rpc: "", lightClient: true, beacon });
// @ts-expect-error -- two sources of the block
createVerifier({ ...options, rpc: ["", ""], quorum: 2, pinned });
// @ts-expect-error -- two blocks
createVerifier({ ...options, rpc: "", pinned, block: "safe" });
// @ts-expect-error -- there is no such option
createVerifier({ ...options, rpc: "", quorom: 2 });
export const parsed: Bundle = parseBundle({}).bundle;
const partner = new PartnerClient({ serviceUrl: "", bizID: "", serverToken: "" });
export const created: Promise<ShadowUser & { status: 201 }> = partner.createUser("", "us-west-2", {});
// @ts-expect-error -- there is no such region
export const nowhere = partner.createUser("", "mars");
const users = [{ userID: "", region: "eu-west-1" as const, mine: 7 }];
export const inList: Promise<CreateUsersResult[]> = partner.createUsers(users, { idempotencyKey: "" });
const onProgress = (done: number, refused: number): number => done + refused;
export const outcomes: AsyncIterable<ProvisionOutcome<{ userID: string; region: "eu-west-1"; mine: number }>> =
  partner.provision(users, { runId: "", onProgress });
const user = new UserClient({ serviceUrl: "", bizID: "", refreshToken: "" });
export const key: Promise<VerifiedKey> = user.publicKeyOf("", verifier, { signal: AbortSignal.timeout(1) });
export const unverified: Promise<UserPublicKey> = user.unverifiedPublicKeyOf("");
export const requestID = (error: unknown): string | undefined =>
  error instanceof ServiceError && error.code === "RATE_LIMITED" ? error.requestID : undefined;
