import { describeValue } from "../input/describeValue.ts";
import { KeyrootError, TransportError, VerificationError } from "../errors.ts";
import { fetchBlock, fetchBlockByHash } from "../ethereum/blocks.ts";
import { decodeCode, encodeGetMerkleTreeRoot } from "../registry/calldata.ts";
import type { BlockHeader } from "../ethereum/header.ts";
import { extractProof, verifyStorageProof, slotOfUser } from "../ethereum/storageProof.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import type { Evidence } from "../evidence.ts";
import { codeHashOf } from "../ethereum/codeHash.ts";
import { type ChainAnswers, verifyChainId, type KeyQuery } from "./verdict.ts";

/** What the answer must rest on. */
export interface EvidencePolicy {
  /** Where the block's hash comes from: a number is how many endpoints must agree, a text the pinned hash. */
  anchor: "endpoint" | "light-client" | { quorum: number } | { blockHash: string };
  storageProof: boolean;
  /** The block to ask at, where none is pinned. */
  tag: "latest" | "safe" | "finalized";
  /** How old the block may be, in milliseconds. */
  maxAgeMs: number | undefined;
  /** The slot of the contract's mapping from users to roots. */
  usersSlot: number;
}

/** What was answered, what that rests on, and how to ask the contract on at the same block. */
export interface RootReading {
  answers: ChainAnswers;
  evidence: Evidence;
  /** What the contract answers to a call, by the word of the endpoint, or of the endpoints of the quorum. */
  callContract: (data: string) => Promise<unknown>;
}

/**
 * Asks for a user's root at one certain block: finds the block as the demand has it, recomputes its hash from its
 * header, and asks the contract there, or has the answer proven.
 * @param calls the endpoints; more than one for a quorum only
 * @throws VerificationError HEADER_INVALID, HEADER_MISMATCH, STALE_BLOCK, QUORUM_NOT_REACHED, step "anchor";
 * PROOF_INVALID, step "root"
 * @throws TransportError as the endpoints; QUORUM_NOT_REACHED where too few of them answer, and none of them falsely
 */
export async function readRootWithEvidence(
  question: KeyQuery,
  demand: EvidencePolicy,
  calls: readonly RpcCall[],
  now: () => number,
): Promise<RootReading> {
  const { anchor } = demand;
  if (typeof anchor === "object" && "quorum" in anchor) return askQuorum(question, demand, calls, anchor.quorum, now);
  const [call] = calls;
  if (call === undefined) throw new RangeError("There is no endpoint to ask.");
  const pinned = typeof anchor === "object" ? anchor.blockHash : undefined;
  const block = pinned === undefined ? await fetchBlock(call, demand.tag) : await fetchBlockByHash(call, pinned);
  checkAge(block, demand, now);
  const answers = await askAt(question, demand, block, call);
  const name = typeof anchor === "object" ? "pinned" : anchor;
  const callContract = (data: string) => callAt(block, call, question.contract, data);
  return toAnswers(answers, { anchor: name, storageProof: demand.storageProof }, block, callContract);
}

/**
 * Endpoints agree where as many of them as asked for name the same hash, and at that block the same answer. While that
 * many are honest, fewer liars can neither change the verdict nor prevent it.
 */
async function askQuorum(
  question: KeyQuery,
  demand: EvidencePolicy,
  calls: readonly RpcCall[],
  quorum: number,
  now: () => number,
): Promise<RootReading> {
  const errors: KeyrootError[] = [];
  let contradicted = false;

  /** Those who say the same, where they are enough and no others can be. */
  const agree = <T>(ask: (call: RpcCall) => Promise<T>, keyOf: (vote: T) => string) =>
    poll(calls, ask, errors, (votes, left) => {
      const groups = [...Map.groupBy(votes, keyOf).values()];
      const [most = [], next = []] = groups.sort((a, b) => b.length - a.length);
      contradicted ||= next.length > 0;
      return most.length >= quorum && next.length + left < quorum ? most : undefined;
    });
  const notReached = () => {
    const claim = `Fewer than ${quorum} of ${calls.length} endpoints agree${contradicted ? ", they contradict each other" : ""}.`;
    const message = [claim, ...new Set(errors.map(({ message }) => message))].join(" ");
    const details = { expected: quorum, actual: errors.map(({ code }) => code) };
    return contradicted || errors.some((error) => error instanceof VerificationError)
      ? new VerificationError("anchor", "QUORUM_NOT_REACHED", message, details)
      : new TransportError("QUORUM_NOT_REACHED", message, details);
  };

  const heads: number[] = [];
  const askHead = async (call: RpcCall) => {
    heads.push((await fetchBlock(call, demand.tag)).number);
    heads.sort((a, b) => b - a);
  };
  // The highest block that enough endpoints claim to have: fewer liars can move it neither up nor down. Each endpoint
  // that is still to answer could raise it by one place.
  const isKnown = (left: number) => heads.length >= quorum && heads[quorum - 1] === heads[quorum - 1 - left];
  await poll(calls, askHead, errors, (_, left) => isKnown(left) || undefined);

  let blocks: BlockHeader[] | undefined;
  for (let below = Infinity; blocks === undefined;) {
    // Where some do not have what they claimed, those who are a little behind are met at the next block claimed.
    const number = heads.slice(quorum - 1).find((head) => head < below);
    if (number === undefined) throw notReached();
    blocks = await agree(
      (call) => fetchBlock(call, number),
      ({ hash }) => hash,
    );
    below = number;
  }
  const [block] = blocks as [BlockHeader];
  checkAge(block, demand, now);

  const ask = async (call: RpcCall) => {
    const answers = await askAt(question, demand, block, call);
    verifyChainId(question, answers);
    return answers;
  };
  // A proof speaks for itself: one is enough.
  const answered = demand.storageProof
    ? await poll(calls, ask, errors, (proven) => (proven.length > 0 ? proven : undefined))
    : await agree(ask, ({ root, codeHash }) => `${String(root)} ${codeHash}`);
  if (answered === undefined) throw notReached();
  const [answers] = answered as [ChainAnswers];
  const agreeing = demand.storageProof ? blocks.length : answered.length;
  const callContract = async (data: string) => {
    const agreed = await agree((call) => callAt(block, call, question.contract, data), String);
    if (agreed === undefined) throw notReached();
    return agreed[0];
  };
  return toAnswers(answers, { anchor: "quorum", storageProof: demand.storageProof, agreeing }, block, callContract);
}

/**
 * Asks all endpoints at once, and ends as soon as the votes so far decide: nobody who is late holds the others up. One
 * that cannot be asked, or errs, has no vote.
 * @param decide makes the outcome of the votes so far, knowing how many are left; undefined while it is open
 * @returns undefined where all have answered and it still is
 */
function poll<T, R>(
  calls: readonly RpcCall[],
  ask: (call: RpcCall) => Promise<T>,
  errors: KeyrootError[],
  decide: (votes: T[], left: number) => R | undefined,
): Promise<R | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<R | undefined>();
  const votes: T[] = [];
  let left = calls.length;
  for (const call of calls) {
    ask(call)
      .then(
        (vote) => votes.push(vote),
        (error: unknown) => {
          if (!(error instanceof KeyrootError) || error.code === "ABORTED") throw error;
          errors.push(error);
        },
      )
      .then(() => {
        left--;
        const outcome = decide(votes, left);
        if (outcome !== undefined || left === 0) resolve(outcome);
      })
      .catch(reject);
  }
  return promise;
}

/** The root, and the code's hash where it is asked for, at a block. */
async function askAt(
  question: KeyQuery,
  demand: EvidencePolicy,
  block: BlockHeader,
  call: RpcCall,
): Promise<ChainAnswers> {
  const { userID, contract, codeHash } = question;
  const at = { blockHash: block.hash };
  if (demand.storageProof) {
    const slot = slotOfUser(userID, demand.usersSlot);
    const [chainId, answer] = await Promise.all([
      call("eth_chainId", []),
      call("eth_getProof", [contract, [slot], at]),
    ]);
    const proven = verifyStorageProof(block.stateRoot, contract, slot, extractProof(answer));
    return { chainId, root: proven?.value ?? "0x", codeHash: proven?.codeHash };
  }
  const [chainId, root, code] = await Promise.all([
    call("eth_chainId", []),
    callAt(block, call, contract, encodeGetMerkleTreeRoot(userID)),
    codeHash === undefined ? undefined : call("eth_getCode", [contract, at]),
  ]);
  return { chainId, root, codeHash: codeHash === undefined ? undefined : await codeHashOf(decodeCode(code)) };
}

/** What the contract answers to a call at a block, in lower case: endpoints that agree then say so in the same words. */
async function callAt({ hash }: BlockHeader, call: RpcCall, contract: string, data: string): Promise<string> {
  const answer = await call("eth_call", [{ to: contract, data }, { blockHash: hash }]);
  if (typeof answer === "string") return answer.toLowerCase();
  const message = `The endpoint answers a call with ${describeValue(answer)} instead of text.`;
  throw new TransportError("RPC_ANSWER_INVALID", message, { actual: describeValue(answer) });
}

function checkAge(block: BlockHeader, { maxAgeMs }: EvidencePolicy, now: () => number): void {
  const age = now() - block.timestamp * 1000;
  if (maxAgeMs === undefined || age <= maxAgeMs) return;
  const message = `The block ${block.number} is ${Math.round(age / 1000)} s old, at most ${maxAgeMs / 1000} s were asked for.`;
  throw new VerificationError("anchor", "STALE_BLOCK", message, { expected: maxAgeMs, actual: age });
}

function toAnswers(
  answers: ChainAnswers,
  evidence: Evidence,
  { hash, number, timestamp }: BlockHeader,
  callContract: RootReading["callContract"],
): RootReading {
  return {
    answers,
    evidence: { ...evidence, block: { hash, number, timestamp } },
    callContract,
  };
}
