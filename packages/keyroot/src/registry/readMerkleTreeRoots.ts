import { describeValue } from "../input/describeValue.ts";
import { TransportError } from "../errors.ts";
import { type UserID, userIDToHex } from "../identity/userID.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";

/** How many users one call asks for; the reader could answer 765. */
const USERS_PER_CALL = 700;
const CALLS_AT_ONCE = 4;
const WORD = 64;
const NO_ROOT = "0".repeat(WORD);

/** The creation code of contracts/MerkleTreeRootsReader.sol; a test compares it with what the compiler makes. */
export const ROOTS_READER_CODE =
  "0x6080806040523461015957610262803803809161001c82856101eb565b833981016040828203126101595781516001600160a01b0381169290839003610159576020810151906001600160401b03821161015957019080601f830112156101595781519061006c82610222565b9261007a60405194856101eb565b82845260208085019360051b82010191821161015957602001915b8183106101ca5750505080516100c36100ad82610222565b916100bb60405193846101eb565b808352610222565b602082019290601f19013684375f5b8151811015610170576001600160601b03196100ee8284610239565b5160405163ee94c79760e01b81529116600482015290602082602481895afa8015610165575f9061012f575b600192506101288286610239565b52016100d2565b506020823d821161015d575b81610148602093836101eb565b81010312610159576001915161011a565b5f80fd5b3d915061013b565b6040513d5f823e3d90fd5b838360405190816020810193604082019260208652518093526060820190925f5b8181106101b15750506101ad925003601f1981018352826101eb565b5190f35b8451835260209485019486945090920191600101610191565b82516001600160601b03198116810361015957815260209283019201610095565b601f909101601f19168101906001600160401b0382119082101761020e57604052565b634e487b7160e01b5f52604160045260245ffd5b6001600160401b03811161020e5760051b60200190565b805182101561024d5760209160051b010190565b634e487b7160e01b5f52603260045260245ffdfe";

export interface ReadRootsOptions {
  /** The block to read at, as `eth_call` takes it (EIP-1898): a tag, a number in hex, or a hash. Default "latest". */
  block?: string | { blockHash: string };
  /** Is told after each call how many users are known. */
  onRead?: (count: number) => void;
}

/**
 * Reads many users' roots, some 700 a call: the calls name no contract but carry code, which the node runs and which
 * asks the registry for each user. Where a node refuses so much work, it is halved.
 * @param contract the registry's address, or that of any contract with `getMerkleTreeRoot(bytes20)`
 * @returns in the users' order: 64 hex digits in lower case, or undefined for a user without a root
 * @throws TransportError RPC_ERROR, also where there is no such contract; RPC_ANSWER_INVALID, and as the call
 */
export async function readMerkleTreeRoots(
  call: RpcCall,
  contract: string,
  userIDs: readonly UserID[],
  { block = "latest", onRead }: ReadRootsOptions = {},
): Promise<(string | undefined)[]> {
  const roots = new Array<string | undefined>(userIDs.length);
  let perCall = USERS_PER_CALL;
  let next = 0;
  let known = 0;

  const readSome = async (start: number, end: number): Promise<void> => {
    try {
      const data = encodeRead(contract, userIDs.slice(start, end));
      const some = decodeRoots(await call("eth_call", [{ data }, block]), end - start);
      some.forEach((root, i) => (roots[start + i] = root));
      onRead?.((known += some.length));
    } catch (error) {
      const refused = error instanceof TransportError && error.code === "RPC_ERROR";
      if (!refused || end - start === 1) throw error;
      perCall = Math.min(perCall, Math.ceil((end - start) / 2));
      const middle = start + perCall;
      await readSome(start, middle);
      await readSome(middle, end);
    }
  };
  const work = async (): Promise<void> => {
    while (next < userIDs.length) {
      const start = next;
      next = Math.min(next + perCall, userIDs.length);
      await readSome(start, next);
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, work));
  return roots;
}

/** Creation code and its constructor's arguments: the registry, and a list of `bytes20` in a word each. */
function encodeRead(contract: string, userIDs: readonly UserID[]): string {
  const words = [contract.slice(2).padStart(WORD, "0"), toWord(2 * 32), toWord(userIDs.length)];
  return ROOTS_READER_CODE + words.join("") + userIDs.map((userID) => userIDToHex(userID).padEnd(WORD, "0")).join("");
}

/** The ABI encoding of a `bytes32[]`: where it begins, its length, its words. */
function decodeRoots(answer: unknown, count: number): (string | undefined)[] {
  const head = `0x${toWord(32)}${toWord(count)}`;
  if (
    typeof answer !== "string" ||
    answer.length !== head.length + count * WORD ||
    !/^0x[0-9a-f]*$/i.test(answer) ||
    !answer.startsWith(head)
  ) {
    const message = `The endpoint's answer is not the list of ${count} roots that was asked for: ${describeValue(answer)}.`;
    throw new TransportError("RPC_ANSWER_INVALID", message, { actual: describeValue(answer) });
  }
  const words = answer.slice(head.length).toLowerCase();
  return Array.from({ length: count }, (_, i) => {
    const root = words.slice(i * WORD, (i + 1) * WORD);
    return root === NO_ROOT ? undefined : root;
  });
}

function toWord(number: number): string {
  return number.toString(16).padStart(WORD, "0");
}
