import type { RpcCall } from "../transport/jsonRpc.ts";
import type { EvidencePolicy } from "./evidencePolicy.ts";
import type { RootQuery } from "./options.ts";
import type { RootReading } from "./readRootAtBlock.ts";
import { callContract, readRootByCall } from "./rootByCall.ts";
import type { VerifierServers } from "./servers.ts";

/**
 * Reads a user's root with the evidence that the policy requires. There is no fallback to weaker evidence.
 * @param servers the endpoints and the options of other requests. Only a quorum has more than one endpoint.
 * @throws VerificationError, TransportError as `readRootAtBlock`
 */
export async function readRoot(
  query: RootQuery,
  policy: EvidencePolicy,
  servers: Pick<VerifierServers, "calls" | "http">,
  now = Date.now,
): Promise<RootReading> {
  if (acceptsLatestAnswer(policy)) return readLatestRoot(query, servers.calls);
  // This module is loaded on demand, because Keccak-256, RLP and the code for Ethereum's tries are large.
  const { readRootAtBlock } = await import("./readRootAtBlock.ts");
  return readRootAtBlock(query, policy, servers, now);
}

/** Checks whether the policy accepts a single endpoint's latest answer. The specification accepts such an answer. */
function acceptsLatestAnswer({ anchor, storageProof, tag, maxAgeMs }: EvidencePolicy): boolean {
  return anchor === "endpoint" && !storageProof && tag === "latest" && maxAgeMs === undefined;
}

async function readLatestRoot(query: RootQuery, [call]: readonly RpcCall[]): Promise<RootReading> {
  if (call === undefined) throw new RangeError("There is no endpoint to call.");
  return {
    answers: await readRootByCall(query, call, "latest"),
    evidence: { anchor: "endpoint", storageProof: false },
    agreed: [[0]],
    callContract: (data) => callContract(call, query.contract, data, "latest"),
  };
}
