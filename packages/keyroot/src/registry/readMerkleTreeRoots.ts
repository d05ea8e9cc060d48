import pMap from "p-map";
import { bytesToHex } from "../bytes/platform.ts";
import { TransportError } from "../errors.ts";
import type { BlockParameter } from "../ethereum/blocks.ts";
import { isData } from "../ethereum/data.ts";
import { invalidAnswer } from "../ethereum/invalidAnswer.ts";
import { packUserIDs, type UserID } from "../identity/userID.ts";
import { checkNames } from "../input/names.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import { ZERO_ROOT } from "./calldata.ts";
import { encodeUint, WORD_DIGITS } from "./words.ts";

/** The number of users in one call. The reader contract can answer up to 765. */
const USERS_PER_CALL = 700;
const CONCURRENT_CALLS = 4;

/** The creation code of contracts/MerkleTreeRootsReader.sol. A test compares it with the compiler's output. */
export const ROOTS_READER_CODE =
  "0x6080806040523461015957610262803803809161001c82856101eb565b833981016040828203126101595781516001600160a01b0381169290839003610159576020810151906001600160401b03821161015957019080601f830112156101595781519061006c82610222565b9261007a60405194856101eb565b82845260208085019360051b82010191821161015957602001915b8183106101ca5750505080516100c36100ad82610222565b916100bb60405193846101eb565b808352610222565b602082019290601f19013684375f5b8151811015610170576001600160601b03196100ee8284610239565b5160405163ee94c79760e01b81529116600482015290602082602481895afa8015610165575f9061012f575b600192506101288286610239565b52016100d2565b506020823d821161015d575b81610148602093836101eb565b81010312610159576001915161011a565b5f80fd5b3d915061013b565b6040513d5f823e3d90fd5b838360405190816020810193604082019260208652518093526060820190925f5b8181106101b15750506101ad925003601f1981018352826101eb565b5190f35b8451835260209485019486945090920191600101610191565b82516001600160601b03198116810361015957815260209283019201610095565b601f909101601f19168101906001600160401b0382119082101761020e57604052565b634e487b7160e01b5f52604160045260245ffd5b6001600160401b03811161020e5760051b60200190565b805182101561024d5760209160051b010190565b634e487b7160e01b5f52603260045260245ffdfe";

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

/** The reader's creation code and its constructor's arguments: the registry, and an array of `bytes20` in a word each. */
function encodeRead(contract: string, userIDs: readonly UserID[]): string {
  const registry = contract.slice(2).padStart(WORD_DIGITS, "0");
  const ids = bytesToHex(packUserIDs(userIDs)).replace(/.{40}/g, (id) => id.padEnd(WORD_DIGITS, "0"));
  return [ROOTS_READER_CODE, registry, encodeUint(64), encodeUint(userIDs.length), ids].join("");
}

/** Decodes a `bytes32[]`: its offset, its length and its words. */
function decodeRoots(answer: unknown, count: number): (string | undefined)[] {
  const head = `0x${encodeUint(32)}${encodeUint(count)}`;
  if (!isData(answer) || answer.length !== head.length + count * WORD_DIGITS || !answer.startsWith(head)) {
    throw invalidAnswer(`an array of ${count} roots`, answer);
  }
  const words = answer.slice(head.length).toLowerCase();
  return Array.from({ length: count }, (_, i) => {
    const root = words.slice(i * WORD_DIGITS, (i + 1) * WORD_DIGITS);
    return root === ZERO_ROOT ? undefined : root;
  });
}
