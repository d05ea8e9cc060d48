/** Uses the declarations of every entry as a strict program would. It is compiled, never run. */
import {
  ANY_KEY,
  createVerifier,
  endpoints,
  oneEndpoint,
  ownNode,
  pinnedBlock,
  type VerifiedKey,
  type Verifier,
} from "keyroot";
import { auditors } from "keyroot/auditors";
import { lightClient } from "keyroot/light-client";
import { type Bundle, parseBundle } from "keyroot/bundle";
import {
  type CreateUsersResult,
  PartnerClient,
  type ProvisionOutcome,
  type CreatedUser,
} from "@keyroot/client/partner";
import { ServiceError, UserClient, type UserKey } from "@keyroot/client/user";

const options = { chainId: 1n, contract: "", merkleUrl: "" };
const verifier: Verifier = createVerifier({ ...options, rpc: "", trust: oneEndpoint() });
export const verified: Promise<VerifiedKey> = verifier.verify("", { expectedPublicKey: ANY_KEY });
export const again: Promise<VerifiedKey> = verifier.verify("", { expectedPublicKey: "" });
// @ts-expect-error -- no key to compare
export const uncompared = verifier.verify("", { expectedPublicKey: undefined });
createVerifier({ ...options, rpc: ["", ""], trust: endpoints({ required: 2 }) });
createVerifier({ ...options, rpc: [""].concat(""), trust: endpoints({ required: 3, block: "safe" }) });
createVerifier({ ...options, rpc: "", trust: ownNode({ block: "finalized", maxAgeMs: 1 }) });
createVerifier({ ...options, rpc: "", trust: pinnedBlock("") });
createVerifier({ ...options, rpc: "", trust: lightClient({ urls: [""], checkpoint: "" }) });
createVerifier({ ...options, rpc: "", trust: auditors({ keys: [""], threshold: 1, urls: [""] }) });
// @ts-expect-error -- no trust
createVerifier({ ...options, rpc: "" });
// @ts-expect-error -- no trust
createVerifier({ ...options, rpc: "", trust: undefined });
// @ts-expect-error -- the name of a choice instead of the choice
createVerifier({ ...options, rpc: "", trust: "one-endpoint" });
// @ts-expect-error -- no number of endpoints
createVerifier({ ...options, rpc: "", trust: endpoints({}) });
// @ts-expect-error -- there is no such option
createVerifier({ ...options, rpc: "", trust: oneEndpoint(), quorum: 2 });
/** The provider of MetaMask (`MetaMaskInpageProvider`), and one with the same generic function as viem's. */
declare const metamask: {
  request<T>(args: { method: string; params?: unknown[] | Record<string, unknown> }): Promise<Partial<T>>;
};
declare const generic: {
  request: <T extends { method: "eth_chainId"; params?: undefined } | { method: "eth_call"; params: [object] }>(
    args: T,
    options?: { retryCount?: number },
  ) => Promise<T extends { method: "eth_chainId" } ? `0x${string}` : unknown>;
};
for (const rpc of [metamask, generic]) createVerifier({ ...options, rpc, trust: oneEndpoint() });
export const digest = async (): Promise<ArrayBuffer> => crypto.subtle.digest("SHA-256", (await verified).publicKey);
export const parsed: Bundle = parseBundle({}).bundle;
const partner = new PartnerClient({ serviceUrl: "", bizID: "", serverToken: "" });
export const created: Promise<CreatedUser> = partner.createUser("", "us-west-2", {});
// @ts-expect-error -- there is no such region
export const nowhere = partner.createUser("", "mars");
const users = [{ userID: "", region: "eu-west-1" as const, mine: 7 }];
export const inList: Promise<CreateUsersResult[]> = partner.createUsers(users, { idempotencyKey: "" });
const onProgress = (done: number, refused: number): number => done + refused;
export const outcomes: AsyncIterable<ProvisionOutcome<{ userID: string; region: "eu-west-1"; mine: number }>> =
  partner.provision(users, { runId: "", onProgress });
const user = new UserClient({ serviceUrl: "", bizID: "", refreshToken: "" });
export const key: Promise<VerifiedKey> = user.publicKeyOf("", verifier, { signal: AbortSignal.timeout(1) });
export const unverified: Promise<UserKey> = user.unverifiedPublicKeyOf("");
export const requestID = (error: unknown): string | undefined =>
  error instanceof ServiceError && error.code === "RATE_LIMITED" ? error.requestID : undefined;
