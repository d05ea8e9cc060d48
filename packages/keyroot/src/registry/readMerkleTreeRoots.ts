import { forEachAtOnce } from "../engine/forEachAtOnce.ts";
import { TransportError } from "../errors.ts";
import type { BlockParameter } from "../ethereum/blocks.ts";
import { isData } from "../ethereum/rpcData.ts";
import { invalidAnswer } from "../ethereum/rpcValues.ts";
import type { UserID } from "../identity/userID.ts";
import { packUserIDs } from "../identity/userIDBytes.ts";
import { checkNames } from "../input/options.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import { ZERO_ROOT } from "./calldata.ts";
import { encodeBytes, encodeUint, WORD_DIGITS } from "./words.ts";

/** The number of users in each call. The reader contract supports at most 722 users. */
export const USERS_PER_CALL = 700;
const CONCURRENT_CALLS = 4;
/** The number of hex digits for a number of users in the result. */
const USERS_DIGITS = 4;
const RUN_DIGITS = USERS_DIGITS + WORD_DIGITS;

/** The creation code of MerkleTreeRootsReader.sol. A test compares it with the compiler's output. */
export const ROOTS_READER_CODE =
  "0x608080604052346101d057610253803803809161001c8285610200565b83398101906040818303126101d05780516001600160a01b03811691908290036101d0576020810151906001600160401b0382116101d0570182601f820112156101d05780519061006c82610237565b9361007a6040519586610200565b828552602083830101116101d0575f5b8281106101eb57505060205f9184010152601482510460228102908082046022149015171561016f576100d56100bf82610237565b916100cd6040519384610200565b808352610237565b602082019390601f19013685375f905f905f905f5b6014810180821161016f578251106101e757602081830181015160405163ee94c79760e01b81526001600160601b031990911660048201529490856024818b5afa9485156101dc575f956101a5575b508015801561019b575b610183575b5f19811461016f57600101938587018560f01b6001198201525260148101809111156100ea575b634e487b7160e01b5f52601160045260245ffd5b509150926022810180911161016f579282915f610148565b5083851415610143565b9094506020813d82116101d4575b816101c060209383610200565b810103126101d05751935f610139565b5f80fd5b3d91506101b3565b6040513d5f823e3d90fd5b8488f35b8060208092840101518282880101520161008a565b601f909101601f19168101906001600160401b0382119082101761022357604052565b634e487b7160e01b5f52604160045260245ffd5b6001600160401b03811161022357601f01601f19166020019056fe";

export interface ReadRootsOptions {
  /** The block at which the roots are read. Default: "latest". */
  block?: BlockParameter;
  /** Called after each call, with the number of users with known roots. */
  onRead?: (count: number) => void;
  /** Returns whether a call for fewer users may succeed after this error. Default: after RPC_ERROR. */
  canSplit?: (error: unknown) => boolean;
}

/**
 * Reads the roots of many users, up to 700 per call. Each call contains the code of a contract that calls the registry
 * for each user. The node runs this code without deploying it. If a call is rejected, it is split into smaller calls.
 * @param contract the address of the registry, or of any contract with `getMerkleTreeRoot(bytes20)`
 * @returns the roots in the order of the users, each with 64 lowercase hex digits, or undefined for a user without a
 * root
 * @throws TransportError RPC_ERROR, for example if the address has no such contract; RPC_ANSWER_INVALID, or an error of
 * the call
 * @throws ArgumentError USER_ID_INVALID
 */
export async function readMerkleTreeRoots(
  call: RpcCall,
  contract: string,
  userIDs: readonly UserID[],
  options: ReadRootsOptions = {},
): Promise<(string | undefined)[]> {
  const names = ["block", "onRead", "canSplit"] as const;
  const { block = "latest", onRead, canSplit = isRejected } = checkNames("The options", options, names);
  const roots = new Array<string | undefined>(userIDs.length);
  let usersPerCall = USERS_PER_CALL;
  let known = 0;

  const read = async ({ start, end }: UserRange): Promise<void> => {
    const count = end - start;
    try {
      const answer = await readInOneCall(call, contract, userIDs.slice(start, end), block);
      for (let i = 0; i < count; i++) roots[start + i] = answer[i];
      onRead?.((known += count));
    } catch (error) {
      if (count === 1 || !canSplit(error)) throw error;
      usersPerCall = Math.min(usersPerCall, Math.ceil(count / 2));
      const middle = start + usersPerCall;
      await read({ start, end: middle });
      await read({ start: middle, end });
    }
  };
  const ranges = splitUsers(userIDs.length, () => usersPerCall);
  await forEachAtOnce(CONCURRENT_CALLS, ranges, read);
  return roots;
}

function isRejected(error: unknown): boolean {
  return error instanceof TransportError && error.code === "RPC_ERROR";
}

/** Reads the roots of at most 700 users in one call, so that all answers are from the same block. */
export async function readInOneCall(
  call: RpcCall,
  contract: string,
  userIDs: readonly UserID[],
  block: BlockParameter,
): Promise<(string | undefined)[]> {
  const data = encodeRead(contract, userIDs);
  return decodeRoots(await call("eth_call", [{ data }, block]), userIDs.length);
}

interface UserRange {
  start: number;
  end: number;
}

/** Splits a list of users into ranges. `size` is called before each range, because the maximum size can change. */
function* splitUsers(count: number, size: () => number): Generator<UserRange> {
  for (let start = 0; start < count;) {
    const end = Math.min(start + size(), count);
    yield { start, end };
    start = end;
  }
}

/** Makes the data of a call: the reader's creation code, the registry, and the user ids as `bytes`. */
function encodeRead(contract: string, userIDs: readonly UserID[]): string {
  const registry = contract.slice(2).padStart(WORD_DIGITS, "0");
  return ROOTS_READER_CODE + registry + encodeUint(64) + encodeBytes(packUserIDs(userIDs));
}

/**
 * Decodes the result of the reader contract. Consecutive users with the same root share one entry, which consists of
 * the number of these users (2 bytes) and the root.
 */
function decodeRoots(answer: unknown, count: number): (string | undefined)[] {
  const roots: (string | undefined)[] = [];
  const hex = isData(answer) ? answer.slice(2).toLowerCase() : "";
  for (let i = 0; i < hex.length; i += RUN_DIGITS) {
    const users = parseInt(hex.slice(i, i + USERS_DIGITS), 16);
    const root = hex.slice(i + USERS_DIGITS, i + RUN_DIGITS);
    if (root.length < WORD_DIGITS || users === 0 || roots.length + users > count) break;
    for (let n = 0; n < users; n++) roots.push(root === ZERO_ROOT ? undefined : root);
    if (roots.length === count && i + RUN_DIGITS === hex.length) return roots;
  }
  throw invalidAnswer(`the roots of ${count} users`, answer);
}
