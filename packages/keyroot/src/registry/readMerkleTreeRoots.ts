import pMap from "p-map";
import { TransportError } from "../errors.ts";
import type { BlockParameter } from "../ethereum/blocks.ts";
import { isData } from "../ethereum/data.ts";
import { invalidAnswer } from "../ethereum/invalidAnswer.ts";
import { packUserIDs, type UserID } from "../identity/userID.ts";
import { checkNames } from "../input/names.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import { ZERO_ROOT } from "./calldata.ts";
import { encodeBytes, encodeUint, WORD_DIGITS } from "./words.ts";

/** The number of users in one call. The reader contract can answer up to 722. */
const USERS_PER_CALL = 700;
const CONCURRENT_CALLS = 4;
/** The hex digits of a number of users in the answer. */
const USERS_DIGITS = 4;
const RUN_DIGITS = USERS_DIGITS + WORD_DIGITS;

/** The creation code of contracts/MerkleTreeRootsReader.sol. A test compares it with the compiler's output. */
export const ROOTS_READER_CODE =
  "0x608080604052346101c75761024a803803809161001c82856101f7565b83398101906040818303126101c75780516001600160a01b03811691908290036101c7576020810151906001600160401b0382116101c7570182601f820112156101c75780519061006c8261022e565b9361007a60405195866101f7565b828552602083830101116101c7575f5b8281106101e257505060205f91840101526014825104602281029080820460221490151715610166576100d56100bf8261022e565b916100cd60405193846101f7565b80835261022e565b602082019390601f19013685375f905f905f905f5b81518110156101de57602081830181015160405163ee94c79760e01b81526001600160601b031990911660048201529490856024818b5afa9485156101d3575f9561019c575b5080158015610192575b61017a575b5f19811461016657600101938587018560f01b6001198201525260148101809111156100ea575b634e487b7160e01b5f52601160045260245ffd5b5091509260228101809111610166579282915f61013f565b508385141561013a565b9094506020813d82116101cb575b816101b7602093836101f7565b810103126101c75751935f610130565b5f80fd5b3d91506101aa565b6040513d5f823e3d90fd5b8488f35b8060208092840101518282880101520161008a565b601f909101601f19168101906001600160401b0382119082101761021a57604052565b634e487b7160e01b5f52604160045260245ffd5b6001600160401b03811161021a57601f01601f19166020019056fe";

export interface ReadRootsOptions {
  /** The block to read at. Default "latest". */
  block?: BlockParameter;
  /** Called after each call with the number of users whose roots are known. */
  onRead?: (count: number) => void;
}

/**
 * Reads the roots of many users, about 700 per call. Each call contains the code of a reader contract, which the node runs
 * and which asks the registry for each user. If the node rejects a call as too large, it is split.
 * @param contract the registry's address, or the address of any contract with `getMerkleTreeRoot(bytes20)`
 * @returns the roots in the order of the users: 64 lowercase hex digits, or undefined for a user without a root
 * @throws TransportError RPC_ERROR, also if there is no such contract; RPC_ANSWER_INVALID, and as the call
 * @throws ArgumentError USER_ID_INVALID
 */
export async function readMerkleTreeRoots(
  call: RpcCall,
  contract: string,
  userIDs: readonly UserID[],
  options: ReadRootsOptions = {},
): Promise<(string | undefined)[]> {
  const { block = "latest", onRead } = checkNames("The options", options, ["block", "onRead"]);
  const roots = new Array<string | undefined>(userIDs.length);
  let usersPerCall = USERS_PER_CALL;
  let known = 0;

  const read = async ({ start, end }: UserRange): Promise<void> => {
    const count = end - start;
    try {
      const data = encodeRead(contract, userIDs.slice(start, end));
      const answer = decodeRoots(await call("eth_call", [{ data }, block]), count);
      answer.forEach((root, i) => (roots[start + i] = root));
      onRead?.((known += count));
    } catch (error) {
      const rejected = error instanceof TransportError && error.code === "RPC_ERROR";
      if (!rejected || count === 1) throw error;
      usersPerCall = Math.min(usersPerCall, Math.ceil(count / 2));
      const middle = start + usersPerCall;
      await read({ start, end: middle });
      await read({ start: middle, end });
    }
  };
  await pMap(
    splitUsers(userIDs.length, () => usersPerCall),
    read,
    { concurrency: CONCURRENT_CALLS },
  );
  return roots;
}

/** A range of users, without the user at `end`. */
interface UserRange {
  start: number;
  end: number;
}

/** Splits the users into ranges. Reads the size of each range when it is needed. */
function* splitUsers(count: number, size: () => number): Generator<UserRange> {
  for (let start = 0; start < count;) {
    const end = Math.min(start + size(), count);
    yield { start, end };
    start = end;
  }
}

/** The reader's creation code and its constructor's arguments: the registry, and the ids as `bytes`. */
function encodeRead(contract: string, userIDs: readonly UserID[]): string {
  const registry = contract.slice(2).padStart(WORD_DIGITS, "0");
  return ROOTS_READER_CODE + registry + encodeUint(64) + encodeBytes(packUserIDs(userIDs));
}

/** Decodes the reader's answer: for users in a row with the same root, their number in 2 bytes, and the root. */
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
