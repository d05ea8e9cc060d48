import { decodeCode, encodeGetBlockNumber, encodeGetMerkleTreeRoot } from "../registry/calldata.ts";
import { fetchMerkleFile } from "../transport/fetchMerkleFile.ts";
import { checkUrl, type RpcCall, rpcCaller } from "../transport/jsonRpc.ts";
import type { EvidencePolicy } from "./readRoot.ts";
import type { Evidence } from "../evidence.ts";
import { codeHashOf } from "../ethereum/codeHash.ts";
import { verifyRoot, type KeyQuery } from "./verdict.ts";
import { parseEvidencePolicy, parseEndpoints, parseLimits, type VerifyOptions } from "./options.ts";

/** A user's root, and what that rests on. */
export interface FoundRoot {
  /** 64 hex digits in lower case. */
  root: string;
  evidence: Evidence;
  /** Asks for the block in which the root was added; the answer is still to be decoded. */
  askBlockNumber: () => Promise<unknown>;
}

/** The fetching edge of a verification: endpoints and file host, as the options have them. */
export interface VerifierSources {
  demand: EvidencePolicy;
  /** @throws as `verifyRoot` and `readRootWithEvidence` */
  findRoot(question: KeyQuery): Promise<FoundRoot>;
  /** @throws as `fetchMerkleFile` */
  fetchFile(root: string): Promise<Uint8Array>;
  /** Ends what is under way: where one of several requests failed, the others still are. */
  end(): void;
}

/**
 * @param wrap how each endpoint is asked
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function openSources(options: VerifyOptions, batchSize = 1, wrap = (call: RpcCall) => call): VerifierSources {
  const demand = parseEvidencePolicy(options);
  const { fileBytes, rpcBytes, timeoutMs } = parseLimits(options.limits);
  const ended = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, ended.signal]) : ended.signal;
  const via = { fetch: options.fetch, signal, timeoutMs };
  const calls = parseEndpoints(options).map((rpc) =>
    wrap(rpcCaller(rpc, { ...via, maxBytes: rpcBytes * batchSize, batchSize })),
  );
  const merkleUrl = checkUrl("merkleUrl", options.merkleUrl);
  return {
    demand,
    async findRoot(question) {
      const { answers, evidence, callContract } = isPlain(demand)
        ? await askPlainly(question, calls)
        : await (await import("./readRoot.ts")).readRootWithEvidence(question, demand, calls, options.now ?? Date.now);
      const root = verifyRoot(question, answers, evidence);
      return { root, evidence, askBlockNumber: () => callContract(encodeGetBlockNumber(root)) };
    },
    fetchFile: (root) => fetchMerkleFile(merkleUrl, root, { ...via, maxBytes: fileBytes }),
    end: () => {
      ended.abort();
    },
  };
}

/** One endpoint's word for its latest block, asked as the specification has it. */
async function askPlainly({ userID, contract, codeHash }: KeyQuery, [call]: readonly RpcCall[]) {
  if (call === undefined) throw new RangeError("There is no endpoint to ask.");
  const callContract = (data: string) => call("eth_call", [{ to: contract, data }, "latest"]);
  const [chainId, root, code] = await Promise.all([
    call("eth_chainId", []),
    callContract(encodeGetMerkleTreeRoot(userID)),
    codeHash === undefined ? undefined : call("eth_getCode", [contract, "latest"]),
  ]);
  const answers = { chainId, root, codeHash: codeHash === undefined ? undefined : await codeHashOf(decodeCode(code)) };
  return { answers, evidence: { anchor: "endpoint", storageProof: false } as Evidence, callContract };
}

/** Whether the word of one endpoint is all that was asked for. */
function isPlain({ anchor, storageProof, tag, maxAgeMs }: EvidencePolicy): boolean {
  return anchor === "endpoint" && !storageProof && tag === "latest" && maxAgeMs === undefined;
}
