import type { UserID } from "../identity/userID.ts";
import { decodeBlockNumber, decodeCode, encodeGetBlockNumber, encodeGetMerkleTreeRoot } from "../registry/calls.ts";
import { fetchMerkleFile } from "../transport/fetchMerkleFile.ts";
import { checkUrl, type RpcCall, rpcCaller } from "../transport/jsonRpc.ts";
import type { Demand } from "./askAnchored.ts";
import type { Evidence } from "./evidence.ts";
import { hashCode } from "./hashCode.ts";
import { judgeFile, type JudgedRecord, judgeRoot, type Question } from "./judgement.ts";
import { parseDemand, parseEndpoints, parseLimits, parseQuestion, type VerifyOptions } from "./options.ts";

/** A public key that is published, where, and what that rests on. */
export interface VerifiedKey extends JudgedRecord {
  /** The root that the contract keeps for the user: 64 hex digits in lower case. */
  root: string;
  /** The block in which the root was added. It is an endpoint's word, whatever the evidence for the root. */
  blockNumber: number;
  contract: string;
  chainId: number;
  evidence: Evidence;
}

/**
 * Verifies a user's public key against the root that the contract keeps for that user (specification, "Public-key
 * verification procedure"): reads the root, fetches the root's file, rebuilds its tree, and insists on the one record
 * of this user. Returns only when everything holds; a key must not be used otherwise.
 *
 * What the root rests on is said in `evidence`, and never less than what the options ask for. Where they ask for
 * nothing, it is the word of one endpoint: take one that neither the key's server nor the file host runs.
 * @param userID 32 characters of zBase32 in lower case
 * @throws VerificationError where the key is not verified; `step`, `code`, `expected` and `actual` say why
 * @throws TransportError where endpoint or file host did not answer; nothing is known then
 * @throws ArgumentError where the options are unusable; nothing was asked then
 */
export async function verifyPublicKey(userID: UserID, options: VerifyOptions): Promise<VerifiedKey> {
  const question = parseQuestion(userID, options);
  const demand = parseDemand(options);
  const { fileBytes, rpcBytes, timeoutMs } = parseLimits(options.limits);
  const { contract, chainId } = question;
  const ended = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, ended.signal]) : ended.signal;
  const via = { fetch: options.fetch, signal, timeoutMs };
  const calls = parseEndpoints(options).map((rpc) => rpcCaller(rpc, { ...via, maxBytes: rpcBytes }));
  const merkleUrl = checkUrl("merkleUrl", options.merkleUrl);
  try {
    const { answers, evidence, call, at } = isPlain(demand)
      ? await askPlainly(question, calls)
      : await (await import("./askAnchored.ts")).askAnchored(question, demand, calls, options.now ?? Date.now);
    const root = judgeRoot(question, answers, evidence);
    const [bytes, blockNumber] = await Promise.all([
      fetchMerkleFile(merkleUrl, root, { ...via, maxBytes: fileBytes }),
      call("eth_call", [{ to: contract, data: encodeGetBlockNumber(root) }, at]),
    ]);
    const judged = judgeFile(question, root, bytes);
    return { ...judged, root, blockNumber: decodeBlockNumber(blockNumber), contract, chainId, evidence };
  } finally {
    // Where one of several requests failed, the others are still under way.
    ended.abort();
  }
}

/** One endpoint's word for its latest block, asked as the specification has it. */
async function askPlainly({ userID, contract, codeHash }: Question, [call]: readonly RpcCall[]) {
  if (call === undefined) throw new RangeError("There is no endpoint to ask.");
  const [chainId, root, code] = await Promise.all([
    call("eth_chainId", []),
    call("eth_call", [{ to: contract, data: encodeGetMerkleTreeRoot(userID) }, "latest"]),
    codeHash === undefined ? undefined : call("eth_getCode", [contract, "latest"]),
  ]);
  const answers = { chainId, root, codeHash: codeHash === undefined ? undefined : await hashCode(decodeCode(code)) };
  return { answers, evidence: { anchor: "endpoint", storageProof: false } as Evidence, call, at: "latest" };
}

/** Whether the word of one endpoint is all that was asked for. */
function isPlain({ anchor, storageProof, tag, maxAgeMs }: Demand): boolean {
  return anchor === "endpoint" && !storageProof && tag === "latest" && maxAgeMs === undefined;
}
