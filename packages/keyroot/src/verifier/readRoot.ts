import type { RpcCall } from "../transport/jsonRpc.ts";
import type { EvidencePolicy, KeyQuery } from "./options.ts";
import { requestAnswers, type RootReading } from "./rootReading.ts";

/**
 * Reads a user's root with the evidence that the policy requires.
 * @param calls the endpoints; several only for a quorum
 * @throws VerificationError, TransportError as `readRootAtBlock`
 */
export async function readRoot(
  query: KeyQuery,
  policy: EvidencePolicy,
  calls: readonly RpcCall[],
  now = Date.now,
): Promise<RootReading> {
  if (acceptsLatestAnswer(policy)) return readLatestRoot(query, calls);
  // Loaded only when needed: it brings Keccak-256, RLP and the walk through Ethereum's tries.
  const { readRootAtBlock } = await import("./readRootAtBlock.ts");
  return readRootAtBlock(query, policy, calls, now);
}

/** Whether the policy accepts one endpoint's answer at its latest block, as the specification does. */
function acceptsLatestAnswer({ anchor, storageProof, tag, maxAgeMs }: EvidencePolicy): boolean {
  return anchor === "endpoint" && !storageProof && tag === "latest" && maxAgeMs === undefined;
}

async function readLatestRoot(query: KeyQuery, [call]: readonly RpcCall[]): Promise<RootReading> {
  if (call === undefined) throw new RangeError("There is no endpoint to call.");
  const callContract = (data: string) => call("eth_call", [{ to: query.contract, data }, "latest"]);
  const answers = await requestAnswers(query, call, callContract, "latest");
  return { answers, evidence: { anchor: "endpoint", storageProof: false }, agreed: [[0]], callContract };
}
