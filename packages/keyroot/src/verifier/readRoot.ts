import { loadModule } from "../engine/loadModule.ts";
import { decodeBlockNumber } from "../registry/answers.ts";
import { encodeGetBlockNumber } from "../registry/calldata.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import type { BlockSource } from "../trust/blockSource.ts";
import type { RootQuery } from "./options.ts";
import type { RootReading } from "./readRootAtBlock.ts";
import { callContract } from "./callContract.ts";
import { readRootByCall } from "./rootByCall.ts";
import type { VerifierServers } from "./servers.ts";

/**
 * Reads a user's root with the evidence that the source requires. If this evidence is not available, an error is
 * thrown. Weaker evidence is never used instead.
 * @param servers the endpoints and the options of other requests. Only a source with `required` has more than one
 * endpoint.
 * @param fetchFile as in `readRootAtBlock`
 * @throws VerificationError, TransportError as `readRootAtBlock`
 */
export async function readRoot(
  query: RootQuery,
  source: BlockSource,
  servers: Pick<VerifierServers, "calls" | "http">,
  now = Date.now,
  fetchFile?: VerifierServers["fetchFile"],
): Promise<RootReading> {
  const { name, storageProof, tag, maxAgeMs } = source;
  // The specification accepts the latest answer of a single endpoint.
  if (name === "one-endpoint" && !storageProof && tag === "latest" && maxAgeMs === undefined)
    return readLatestRoot(query, servers.calls);
  // This module is loaded on demand, because Keccak-256, RLP and the code for Ethereum's tries are large.
  const { readRootAtBlock } = await loadModule(() => import("./readRootAtBlock.ts"));
  return readRootAtBlock(query, source, servers, now, fetchFile);
}

async function readLatestRoot(query: RootQuery, [call]: readonly RpcCall[]): Promise<RootReading> {
  if (call === undefined) throw new RangeError("There is no endpoint to call.");
  return {
    answers: await readRootByCall(query, call, "latest"),
    evidence: { source: "one-endpoint", storageProof: false },
    agreed: [[0]],
    callContract: (data) => callContract(call, query.contract, data, "latest"),
  };
}

/**
 * Reads the number of the block in which a root was added. No proof confirms this number. It is only checked that it is
 * not higher than the number of the evidence's block.
 * @throws TransportError RPC_ANSWER_INVALID if the number is too high, or an error of the call
 */
export async function readBlockOfRoot(
  root: string,
  { evidence: { block }, callContract }: Pick<RootReading, "evidence" | "callContract">,
): Promise<number> {
  return decodeBlockNumber(await callContract(encodeGetBlockNumber(root)), block?.number);
}
