import { ANY_KEY } from "../identity/compareKey.ts";
import type { UserID } from "../identity/userID.ts";
import { parseMerkleFile } from "../merkle/parseMerkleFile.ts";
import { makeMerkleProof } from "../merkle/proof.ts";
import { extractHeader } from "../ethereum/header.ts";
import { extractProof } from "../ethereum/storageProof.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import { type Bundle, verifyBundle, type VerifiedBundle } from "./bundle.ts";
import { parseEvidencePolicy } from "./evidencePolicy.ts";
import { type Endpoint, parseKeyQuery, parseRegistryReference, type VerifyOptions } from "./options.ts";
import { readRootAtBlock } from "./readRootAtBlock.ts";
import { parseServers, type VerifierServers, withServers } from "./servers.ts";
import { verifyRoot } from "./verdict.ts";

/**
 * The options of `makeBundle`: the contract, the file host and the block. The block is `pinned`, the block in the
 * auditors' statement, or the endpoint's latest block.
 */
export type MakeBundleOptions = { rpc: Endpoint } & Pick<
  VerifyOptions,
  | "chainId"
  | "contract"
  | "codeHash"
  | "usersSlot"
  | "merkleUrl"
  | "pinned"
  | "auditors"
  | "limits"
  | "allowHttp"
  | "signal"
  | "fetch"
>;

const OPTIONS: (keyof MakeBundleOptions)[] = [
  ...(["rpc", "chainId", "contract", "codeHash", "usersSlot", "merkleUrl"] as const),
  ...(["pinned", "auditors", "limits", "allowHttp", "signal", "fetch"] as const),
];

/** A bundle, and the facts that the bundle proves to readers who trust the bundle's block. */
export interface MadeBundle {
  bundle: Bundle;
  verified: VerifiedBundle;
}

/**
 * Makes a user's bundle. Requests a storage proof of the contract's answer at a block, and reads the user's record from
 * the root's file. Verifies the bundle with `verifyBundle`, as a reader does. With `auditors`, the bundle contains the
 * auditors' statement. Without `auditors` and `pinned`, the block is the unproven answer of one endpoint.
 * @param userID 32 lowercase characters of zBase32
 * @throws VerificationError, TransportError, ArgumentError as `verifyPublicKey`
 * @example
 * const { bundle } = await makeBundle(userID, {
 *   rpc: "https://rpc.example",
 *   chainId: 1,
 *   contract: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
 *   merkleUrl: "https://files.example",
 * });
 * const text = JSON.stringify(bundle);
 */
export async function makeBundle(userID: UserID, options: MakeBundleOptions): Promise<MadeBundle> {
  const query = parseKeyQuery(parseRegistryReference(options, OPTIONS), userID, ANY_KEY);
  const { chainId, contract } = query;
  const policy = parseEvidencePolicy({ ...options, storageProof: true });
  const { anchor, usersSlot } = policy;
  const answers = new Map<string, unknown>();
  const make = async (servers: VerifierServers) => {
    const reading = await readRootAtBlock(query, policy, servers, Date.now);
    const root = verifyRoot(query, reading.answers, reading.evidence);
    const file = parseMerkleFile(await servers.fetchFile(root), root);
    const header = answers.get(anchor === "endpoint" ? "eth_getBlockByNumber" : "eth_getBlockByHash");
    const bundle: Bundle = {
      format: "keyroot-bundle-v1",
      chainId,
      contract: contract.toLowerCase(),
      codeHash: String(reading.answers.codeHash),
      usersSlot,
      proof: makeMerkleProof(file, userID),
      header: toLowerCase(extractHeader(header)),
      ...toLowerCase(extractProof(answers.get("eth_getProof"))),
      ...(reading.statement !== undefined && { statement: reading.statement }),
    };
    const { auditors } = options;
    const trusted = auditors === undefined ? { pinned: reading.evidence.block?.hash } : { auditors };
    return { bundle, verified: await verifyBundle(bundle, { ...query, usersSlot }, trusted) };
  };
  return withServers(parseServers(options), make, {
    signal: options.signal,
    wrap: (call) => recordAnswers(call, answers),
  });
}

/** Wraps a function that sends calls, and records the last answer to each RPC method. */
function recordAnswers(call: RpcCall, answers: Map<string, unknown>): RpcCall {
  return async (method, params) => {
    const answer = await call(method, params);
    answers.set(method, answer);
    return answer;
  };
}

/** Converts hex to lower case, which bundles require. Endpoints may also write uppercase letters. */
function toLowerCase<T extends object>(parts: T): T {
  const revive = (_: string, value: unknown) => (typeof value === "string" ? value.toLowerCase() : value);
  return JSON.parse(JSON.stringify(parts), revive) as T;
}
