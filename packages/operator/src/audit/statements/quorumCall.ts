import { Quorum } from "keyroot/internal/auditors";
import { extractHeader, extractProof, parseLogs } from "keyroot/internal/ethereum";
import type { RpcCall } from "keyroot/internal/transport";

/**
 * For each method, a function that extracts the parts of a response on which all honest nodes agree. Responses to other
 * methods are compared as a whole.
 */
const PARTS: Readonly<Record<string, (answer: unknown) => unknown>> = {
  eth_getBlockByNumber: blockParts,
  eth_getBlockByHash: blockParts,
  eth_getLogs: parseLogs,
  eth_getProof: extractProof,
};

/**
 * Creates a function that sends each call to all endpoints, and returns a response only if enough endpoints agree on
 * it.
 * @throws VerificationError, TransportError QUORUM_NOT_REACHED
 */
export function quorumCall(calls: readonly RpcCall[], quorum: number): RpcCall {
  return async (method, params) => {
    const parts = PARTS[method] ?? ((answer) => answer);
    const votes = await new Quorum(calls, quorum).agree(
      async (call) => {
        const answer = await call(method, params);
        // Reject a response with an unexpected format before it is counted as an answer.
        return { answer, key: JSON.stringify(answer === null ? null : parts(answer)).toLowerCase() };
      },
      ({ key }) => key,
    );
    return votes[0].answer.answer;
  };
}

function blockParts(block: unknown): unknown {
  return { ...extractHeader(block), hash: (block as { hash?: unknown }).hash };
}
