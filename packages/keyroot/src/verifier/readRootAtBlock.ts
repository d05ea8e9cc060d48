import type { BlockSource } from "../trust/blockSource.ts";
import { Quorum, type Votes } from "../trust/quorum.ts";
import { checkBlockAge } from "../ethereum/blockAge.ts";
import { fetchBlockByHash } from "../ethereum/blocks.ts";
import { checkHeaderHash } from "../ethereum/header.ts";
import type { Evidence } from "../evidence.ts";
import { encodeGetBlockNumber, encodeGetMerkleTreeRoot } from "../registry/calldata.ts";
import { usersSlotOf } from "../registry/slots.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import { type HintedFile, startDownload } from "./hint.ts";
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
  /** Two lists of endpoint indexes: those that agreed on the block, and those that agreed on the answer. */
  agreed: readonly (readonly number[])[];
  /** Calls the contract at the same block with this calldata: 0x and hex. No storage proof confirms the answer. */
  callContract: (data: string) => Promise<unknown>;
  /** The file of the statement, if auditors signed the block. */
  statement?: string | undefined;
  /** The download of the root's file, if it has already begun. */
  file?: Promise<Uint8Array> | undefined;
}

/**
 * Reads a user's root at a block that the source finds. The header's hash and the block's age are checked for every
 * source. The contract's answer is read with a storage proof if the source requires one.
 * @param servers the endpoints and the options of other requests. Only a source with `required` has more than one
 * endpoint.
 * @param fetchFile fetches the file of a root. If it is set, the download begins while the evidence is requested.
 * @throws VerificationError HEADER_INVALID, HEADER_MISMATCH, STALE_BLOCK, FUTURE_BLOCK, or an error of the source, step
 * "anchor"; PROOF_INVALID, CHAIN_ID_MISMATCH, step "root"
 * @throws TransportError QUORUM_NOT_REACHED if too few endpoints respond and no response is false, or an error of an
 * endpoint
 */
export async function readRootAtBlock(
  query: RootQuery,
  source: BlockSource,
  { calls, http }: Pick<VerifierServers, "calls" | "http">,
  now: () => number,
  fetchFile?: VerifierServers["fetchFile"],
): Promise<RootReading> {
  const { name, required, storageProof, tag, maxAgeMs } = source;
  const quorum = required === undefined ? undefined : new Quorum(calls, required);
  const endpoints = quorum ?? only(calls);
  const usersSlot = usersSlotOf(query);
  const hint = fetchFile && startDownload(query, calls, fetchFile);
  let hinted: HintedFile | undefined;
  const found = await source.findBlock({ calls, quorum, tag, http, now });
  const { hash } = found;
  const header = found.header ?? endpoints.first((call) => fetchBlockByHash(call, hash)).then(([{ answer }]) => answer);
  const request = async (call: RpcCall) => {
    const answers = storageProof
      ? await readRootByStorageProof(query, call, hash, header, usersSlot)
      : await readRootByCall(query, call, { blockHash: hash });
    // An endpoint on a different chain has no vote.
    verifyChainId(query, answers);
    return answers;
  };
  const results = new Map<string, Promise<string>>();
  const agreeOnCall = (data: string) => {
    const send = (call: RpcCall) => callContract(call, query.contract, data, { blockHash: hash });
    const result = results.get(data) ?? endpoints.agree(send, String).then(([{ answer }]) => answer);
    results.set(data, result);
    return result;
  };
  void hint?.then((started) => {
    hinted = started;
    if (started) agreeOnCall(encodeGetBlockNumber(started.root)).catch(() => undefined);
  });
  // A storage proof is verified, so one endpoint with a valid proof is enough.
  const voting = storageProof
    ? endpoints.first(request)
    : endpoints.agree(request, ({ root, nextRoot, codeHash }) => [root, nextRoot, codeHash].join(" "));
  // The header and the answers are requested together, but an error of the header takes precedence.
  voting.catch(() => undefined);
  const block = await header;
  checkHeaderHash("The endpoint's header", block, hash, found.number);
  checkBlockAge(block, maxAgeMs, now());
  const { number, timestamp } = block;
  const votes = await voting;
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
  // The verification does not wait for the hint.
  const file = answers.root === `0x${hinted?.root}` ? hinted?.file : undefined;
  return { answers, evidence, agreed, callContract: agreeOnCall, statement: found.statement, file };
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
