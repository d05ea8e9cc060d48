import { KeyrootError, TransportError, VerificationError } from "../errors.ts";
import { decodeChainId, decodeCode, encodeGetMerkleTreeRoot } from "../registry/calls.ts";
import { type Block, hashHeader, pickHeader } from "../registry/header.ts";
import { pickProof, proveSlot, slotOfUser } from "../registry/storageProof.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import type { Evidence } from "./evidence.ts";
import { hashCode } from "./hashCode.ts";
import type { ChainAnswers, Question } from "./judgement.ts";

/** What the answer must rest on. */
export interface Demand {
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

/** What was answered, what that rests on, and how to ask on at the same block. */
export interface AnchoredAnswers {
  answers: ChainAnswers;
  evidence: Evidence;
  call: RpcCall;
  /** The block parameter of further calls (EIP-1898). */
  at: { blockHash: string };
}

/**
 * Asks for a user's root at one certain block: finds the block as the demand has it, recomputes its hash from its
 * header, and asks the contract there, or has the answer proven.
 * @param calls the endpoints; more than one for a quorum only
 * @throws VerificationError HEADER_INVALID, HEADER_MISMATCH, STALE_BLOCK, QUORUM_NOT_REACHED, step "anchor";
 * PROOF_INVALID, step "root"
 * @throws TransportError as the endpoints
 */
export async function askAnchored(
  question: Question,
  demand: Demand,
  calls: readonly RpcCall[],
  now: () => number,
): Promise<AnchoredAnswers> {
  const { anchor } = demand;
  if (typeof anchor === "object" && "quorum" in anchor) return askQuorum(question, demand, calls, anchor.quorum, now);
  const [call] = calls;
  if (call === undefined) throw new RangeError("There is no endpoint to ask.");
  const pinned = typeof anchor === "object" ? anchor.blockHash : undefined;
  const block = pinned === undefined ? await blockAt(call, demand.tag) : await pinnedBlock(call, pinned);
  checkAge(block, demand, now);
  const answers = await askAt(question, demand, block, call);
  const name = typeof anchor === "object" ? "pinned" : anchor;
  return toAnswers(answers, { anchor: name, storageProof: demand.storageProof }, block, call);
}

/** Endpoints agree where as many of them as asked for name the same hash, and at that block the same answer. */
async function askQuorum(
  question: Question,
  demand: Demand,
  calls: readonly RpcCall[],
  quorum: number,
  now: () => number,
): Promise<AnchoredAnswers> {
  const reasons: string[] = [];
  /** What each endpoint says; one that cannot be asked, or errs, has no vote. */
  const votes = async <T>(voters: readonly RpcCall[], ask: (call: RpcCall) => Promise<T>) => {
    const settled = await Promise.all(
      voters.map(async (call) => {
        try {
          return [{ call, vote: await ask(call) }];
        } catch (error) {
          if (!(error instanceof KeyrootError)) throw error;
          if (error.code === "ABORTED") throw error;
          reasons.push(`${error.code}: ${error.message}`);
          return [];
        }
      }),
    );
    return settled.flat();
  };

  const heads = await votes(calls, async (call) => {
    await checkChainId(question, call);
    return (await blockAt(call, demand.tag)).number;
  });
  // The highest block that enough endpoints claim to have: too few liars move it neither up nor down.
  const number = heads.map(({ vote }) => vote).sort((a, b) => b - a)[quorum - 1];
  if (number === undefined) throw notReached(`${heads.length} answer`, quorum, reasons);

  const blocks = await votes(
    heads.map(({ call }) => call),
    (call) => blockAt(call, number),
  );
  const agreed = agreeing(blocks, ({ hash }) => hash, quorum);
  if (agreed === undefined) throw notReached(`they name different blocks ${number}`, quorum, reasons);
  const block = agreed.vote;
  checkAge(block, demand, now);

  const answers = await votes(agreed.calls, (call) => askAt(question, demand, block, call));
  // A proof speaks for itself: one is enough.
  const enough = demand.storageProof ? 1 : quorum;
  const answered = agreeing(answers, (vote) => JSON.stringify(vote).toLowerCase(), enough);
  if (answered === undefined) throw notReached(`they answer differently at block ${number}`, quorum, reasons);
  const [call] = answered.calls as [RpcCall];
  const { length } = demand.storageProof ? agreed.calls : answered.calls;
  const evidence = { anchor: "quorum", storageProof: demand.storageProof, agreeing: length } as const;
  return toAnswers(answered.vote, evidence, block, call);
}

/** The one vote that enough voters share; none where two different ones have enough. */
function agreeing<T>(votes: readonly { call: RpcCall; vote: T }[], keyOf: (vote: T) => string, enough: number) {
  const groups = Map.groupBy(votes, ({ vote }) => keyOf(vote));
  const winners = [...groups.values()].filter((group) => group.length >= enough);
  const [winner] = winners;
  if (winner?.[0] === undefined || winners.length > 1) return undefined;
  return { vote: winner[0].vote, calls: winner.map(({ call }) => call) };
}

async function askAt(question: Question, demand: Demand, block: Block, call: RpcCall): Promise<ChainAnswers> {
  const { userID, contract, codeHash } = question;
  const chainId = await call("eth_chainId", []);
  if (demand.storageProof) {
    const slot = slotOfUser(userID, demand.usersSlot);
    const proof = pickProof(await call("eth_getProof", [contract, [slot], `0x${block.number.toString(16)}`]));
    const proven = await proveSlot(block.stateRoot, contract, slot, proof);
    return { chainId, root: proven?.value ?? "0x", codeHash: proven?.codeHash };
  }
  const at = { blockHash: block.hash };
  const [root, code] = await Promise.all([
    call("eth_call", [{ to: contract, data: encodeGetMerkleTreeRoot(userID) }, at]),
    codeHash === undefined ? undefined : call("eth_getCode", [contract, at]),
  ]);
  return { chainId, root, codeHash: codeHash === undefined ? undefined : await hashCode(decodeCode(code)) };
}

async function checkChainId(question: Question, call: RpcCall): Promise<void> {
  const chainId = decodeChainId(await call("eth_chainId", []));
  if (chainId === question.chainId) return;
  const message = `The endpoint speaks for the chain ${chainId}, not for ${question.chainId}.`;
  throw new VerificationError("root", "CHAIN_ID_MISMATCH", message, { expected: question.chainId, actual: chainId });
}

async function blockAt(call: RpcCall, tag: string | number): Promise<Block> {
  const at = typeof tag === "number" ? `0x${tag.toString(16)}` : tag;
  const answer = await call("eth_getBlockByNumber", [at, false]);
  if (answer === null) throw new TransportError("RPC_ANSWER_INVALID", `The endpoint has no block ${tag}.`);
  const block = hashHeader(pickHeader(answer));
  const named = String((answer as { hash?: unknown }).hash).toLowerCase();
  if (named !== block.hash) throw headerMismatch(named, block.hash);
  if (typeof tag !== "number" || block.number === tag) return block;
  const message = `The endpoint answers with block ${block.number} instead of ${tag}.`;
  throw new TransportError("RPC_ANSWER_INVALID", message, { expected: tag, actual: block.number });
}

async function pinnedBlock(call: RpcCall, hash: string): Promise<Block> {
  const answer = await call("eth_getBlockByHash", [hash, false]);
  if (answer === null) throw new TransportError("RPC_ANSWER_INVALID", `The endpoint does not know the block ${hash}.`);
  const block = hashHeader(pickHeader(answer));
  if (block.hash !== hash) throw headerMismatch(hash, block.hash);
  return block;
}

function checkAge(block: Block, { maxAgeMs }: Demand, now: () => number): void {
  const age = now() - block.timestamp * 1000;
  if (maxAgeMs === undefined || age <= maxAgeMs) return;
  const message = `The block ${block.number} is ${Math.round(age / 1000)} s old, at most ${maxAgeMs / 1000} s were asked for.`;
  throw new VerificationError("anchor", "STALE_BLOCK", message, { expected: maxAgeMs, actual: age });
}

function toAnswers(answers: ChainAnswers, evidence: Evidence, block: Block, call: RpcCall): AnchoredAnswers {
  const { hash, number, timestamp } = block;
  return { answers, evidence: { ...evidence, block: { hash, number, timestamp } }, call, at: { blockHash: hash } };
}

function headerMismatch(expected: string, actual: string): VerificationError {
  const message = `The header that the endpoint gives has the hash ${actual}, its block should have ${expected}.`;
  return new VerificationError("anchor", "HEADER_MISMATCH", message, { expected, actual });
}

function notReached(what: string, expected: number, reasons: readonly string[]): VerificationError {
  const message = `Fewer than ${expected} endpoints agree: ${[what, ...reasons].join("; ")}.`;
  return new VerificationError("anchor", "QUORUM_NOT_REACHED", message, { expected, actual: reasons });
}
