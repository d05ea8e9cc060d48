import { extractHeader, extractProof, parseLogs } from "keyroot/ethereum";
import type { RpcCall } from "keyroot/transport";
import { Quorum } from "keyroot/verifier";

/** The parts of an answer that honest nodes return equally. All other answers are compared as they are. */
const PARTS: Readonly<Record<string, (answer: unknown) => unknown>> = {
  eth_getBlockByNumber: blockParts,
  eth_getBlockByHash: blockParts,
  eth_getLogs: parseLogs,
  eth_getProof: extractProof,
};

/**
 * Sends each call to all endpoints, and returns the answer on which enough of them agree.
 * @throws VerificationError, TransportError QUORUM_NOT_REACHED
 */
export function quorumCall(calls: readonly RpcCall[], quorum: number): RpcCall {
  return async (method, params) => {
    const parts = PARTS[method] ?? ((answer) => answer);
    const votes = await new Quorum(calls, quorum).agree(
      async (call) => {
        const answer = await call(method, params);
        // Refuses an answer with another form before it counts.
        return { answer, key: JSON.stringify(answer === null ? null : parts(answer)).toLowerCase() };
      },
      ({ key }) => key,
    );
    return votes[0].answer.answer;
  };
}

/**
 * The highest number that enough endpoints claim: fewer dishonest ones can move it neither up nor down.
 * @param heads one number of each endpoint that answered
 */
export function quorumHead(heads: readonly number[], quorum: number): number | undefined {
  return [...heads].sort((a, b) => b - a)[quorum - 1];
}

function blockParts(block: unknown): unknown {
  return { ...extractHeader(block), hash: (block as { hash?: unknown }).hash };
}
