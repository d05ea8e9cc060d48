import type { UserID } from "../identity/userID.ts";
import { parseMerkleFile } from "../merkle/file.ts";
import { makeProof } from "../merkle/proof.ts";
import { extractHeader } from "../ethereum/header.ts";
import { extractProof } from "../ethereum/storageProof.ts";
import { fetchMerkleFile } from "../transport/fetchMerkleFile.ts";
import { checkUrl, type RpcCall, rpcCaller } from "../transport/jsonRpc.ts";
import { readRootWithEvidence } from "./readRoot.ts";
import { type Bundle, verifyBundle, type VerifiedBundle } from "./bundle.ts";
import { verifyRoot } from "./verdict.ts";
import { type Endpoint, parseEvidencePolicy, parseLimits, parseKeyQuery, type VerifyOptions } from "./options.ts";

/** Where to look, and which block to take: that of `blockHash`, or else the endpoint's newest. */
export type MakeBundleOptions = { rpc: Endpoint } & Pick<
  VerifyOptions,
  "chainId" | "contract" | "codeHash" | "usersSlot" | "merkleUrl" | "blockHash" | "limits" | "signal" | "fetch"
>;

/** A bundle, and what it shows to whoever trusts its block. */
export interface MadeBundle {
  bundle: Bundle;
  verified: VerifiedBundle;
}

/**
 * Makes a user's bundle: has the contract's answer proven at one block, takes the user's record out of the root's whole
 * file, and judges what it made as any reader will. The block is the endpoint's word unless `blockHash` names it.
 * @param userID 32 characters of zBase32 in lower case
 * @throws VerificationError, TransportError, ArgumentError as `verifyPublicKey`
 */
export async function makeBundle(userID: UserID, options: MakeBundleOptions): Promise<MadeBundle> {
  const question = parseKeyQuery(userID, options);
  const demand = parseEvidencePolicy({ ...options, storageProof: true });
  const { fileBytes, rpcBytes, timeoutMs } = parseLimits(options.limits);
  const merkleUrl = checkUrl("merkleUrl", options.merkleUrl);
  const via = { fetch: options.fetch, signal: options.signal, timeoutMs };

  const heard = listenTo(rpcCaller(options.rpc, { ...via, maxBytes: rpcBytes }));
  const { answers, evidence } = await readRootWithEvidence(question, demand, [heard.call], Date.now);
  const root = verifyRoot(question, answers, evidence);
  const file = parseMerkleFile(await fetchMerkleFile(merkleUrl, root, { ...via, maxBytes: fileBytes }), root);

  const bundle: Bundle = {
    format: "keyroot-bundle-v1",
    chainId: question.chainId,
    contract: question.contract.toLowerCase(),
    codeHash: String(answers.codeHash),
    usersSlot: demand.usersSlot,
    proof: makeProof(file, userID),
    header: lowerCase(extractHeader(heard.last("eth_getBlockByHash") ?? heard.last("eth_getBlockByNumber"))),
    ...lowerCase(extractProof(heard.last("eth_getProof"))),
  };
  const blockHash = evidence.block?.hash;
  return { bundle, verified: await verifyBundle(bundle, { ...options, userID }, { blockHash }) };
}

/** Remembers the last answer to each method: what `readRootWithEvidence` has checked is what a bundle is made of. */
function listenTo(ask: RpcCall) {
  const answers = new Map<string, unknown>();
  const call: RpcCall = async (method, params) => {
    const answer = await ask(method, params);
    answers.set(method, answer);
    return answer;
  };
  return { call, last: (method: string) => answers.get(method) };
}

/** Hex may come in any case; a bundle has it in lower case. */
function lowerCase<T extends object>(parts: T): T {
  const revive = (_: string, value: unknown) => (typeof value === "string" ? value.toLowerCase() : value);
  return JSON.parse(JSON.stringify(parts), revive) as T;
}
