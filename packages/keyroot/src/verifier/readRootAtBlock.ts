import type { BlockSource } from "../trust/blockSource.ts";
import { Quorum, type Votes } from "../trust/quorum.ts";
import { checkBlockAge } from "../ethereum/blockAge.ts";
import { fetchBlockByHash } from "../ethereum/blocks.ts";
import { checkHeaderHash } from "../ethereum/header.ts";
import type { Evidence } from "../evidence.ts";
import { encodeGetMerkleTreeRoot } from "../registry/calldata.ts";
import { usersSlotOf } from "../registry/slots.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import type { RootQuery } from "./options.ts";
import { callContract } from "./callContract.ts";
import { readRootByCall, type RootAnswers } from "./rootByCall.ts";
import { confirmEmptySlot, readRootByStorageProof } from "./rootByStorageProof.ts";
import type { VerifierServers } from "./servers.ts";
import { verifyChainId } from "./verdict.ts";

/** The answers about a user's root, with their evidence. */
export interface RootReading {
  answers: RootAnswers;
  evidence: Evidence;
  /**
   * The indexes of the endpoints that agreed on the block, and the indexes of the endpoints that agreed on the answer.
   */
  agreed: readonly (readonly number[])[];
  /** Calls the contract at the same block with this calldata: 0x and hex. No storage proof confirms the answer. */
  callContract: (data: string) => Promise<unknown>;
  /** The file of the statement, if auditors signed the block. */
  statement?: string | undefined;
}

/**
 * Reads a user's root at a block that the source finds. For every source, the function then checks the header's hash and
 * the block's age, and reads the contract's answer at this block, with a storage proof if the source requires one.
 * @param servers the endpoints and the options of other requests. Only a source with `required` has more than one
 * endpoint.
 * @throws VerificationError HEADER_INVALID, HEADER_MISMATCH, STALE_BLOCK, FUTURE_BLOCK, step "anchor", and the errors
 * of the source; PROOF_INVALID, CHAIN_ID_MISMATCH, step "root"
 * @throws TransportError as the endpoints; QUORUM_NOT_REACHED if too few endpoints respond and no response is false
 */
export async function readRootAtBlock(
  query: RootQuery,
  source: BlockSource,
  { calls, http }: Pick<VerifierServers, "calls" | "http">,
  now: () => number,
): Promise<RootReading> {
  const { name, required, storageProof, tag, maxAgeMs } = source;
  const quorum = required === undefined ? undefined : new Quorum(calls, required);
  const endpoints = quorum ?? only(calls);
  const usersSlot = usersSlotOf(query);
  const found = await source.findBlock({ calls, quorum, tag, http, now });
  const block = found.header ?? (await endpoints.first((call) => fetchBlockByHash(call, found.hash)))[0].answer;
  checkHeaderHash("The endpoint's header", block, found.hash, found.number);
  checkBlockAge(block, maxAgeMs, now());

  const { hash, number, timestamp } = block;
  const request = async (call: RpcCall) => {
    const answers = storageProof
      ? await readRootByStorageProof(query, call, block, usersSlot)
      : await readRootByCall(query, call, { blockHash: hash });
    // An endpoint on a different chain has no vote.
    verifyChainId(query, answers);
    return answers;
  };
  const agreeOnCall = async (data: string) => {
    const votes = await endpoints.agree(
      (call) => callContract(call, query.contract, data, { blockHash: hash }),
      String,
    );
    return votes[0].answer;
  };
  // A storage proof is verified, so a valid proof from one endpoint is enough.
  const votes = storageProof
    ? await endpoints.first(request)
    : await endpoints.agree(request, ({ root, nextRoot, codeHash }) => [root, nextRoot, codeHash].join(" "));
  const [{ answer: answers }] = votes;
  if (storageProof) {
    const callForRoot = () => agreeOnCall(encodeGetMerkleTreeRoot(query.userID));
    await confirmEmptySlot(query, usersSlot, answers.root, callForRoot);
  }
  const agreed = [found.endpoints, ...(storageProof ? [] : [votes.map(({ endpoint }) => endpoint)])];
  const agreeing = quorum && { agreeing: votes.length };
  const details = quorum || found.details ? { details: { ...found.details, ...agreeing } } : {};
  const evidence: Evidence = { source: name, ...details, block: { hash, number, timestamp }, storageProof };
  await found.checkRoot?.(query, answers.root, evidence);
  return { answers, evidence, agreed, callContract: agreeOnCall, statement: found.statement };
}

type Endpoints = Pick<Quorum, "agree" | "first">;

/** Uses a single endpoint, and throws the endpoint's errors immediately. */
function only([call]: readonly RpcCall[]): Endpoints {
  if (call === undefined) throw new RangeError("There is no endpoint to call.");
  const first = async <T>(request: (call: RpcCall) => Promise<T>): Promise<Votes<T>> => [
    { endpoint: 0, answer: await request(call) },
  ];
  return { first, agree: first };
}
