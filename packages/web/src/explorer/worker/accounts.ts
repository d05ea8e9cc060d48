import type { UserID } from "keyroot";
import { accounts, parseAccountFile, slotIDOf, verifyAccountFile } from "keyroot/account";
import { fetchBlock } from "keyroot/internal/ethereum";
import { fetchBlockNumber, readMerkleTreeRoots } from "keyroot/internal/registry";
import { RPC_LIMITS, rpcCaller } from "keyroot/internal/transport";
import type { AccountHistory, AccountSlot, Options, SlotFacts } from "./messages.ts";
import { type Handler, toFailure } from "./serveCalls.ts";

/** Maximum number of slots in a history. */
const MAX_SLOTS = 20;

type Place = Pick<Options, "chainId" | "contract">;

/** The code for accounts, for the functions that exist without and with accounts. Only the worker `complete` has it. */
export interface AccountCode {
  accounts: typeof accounts;
  /**
   * Returns the id of the slot whose record the verifier checks. Undefined if the file is not the user's account file.
   */
  slotOf: (file: Uint8Array | undefined, userID: UserID, place: Place) => UserID | undefined;
  /** Returns the account id of a file that is not verified yet. Undefined for other files. */
  accountIDOf: (file: Uint8Array) => UserID | undefined;
  /** Reads the history from the account file with which the verifier verified the user's key. */
  historyOf: (file: Uint8Array | undefined, userID: UserID, place: Place) => AccountHistory | undefined;
}

export const accountCode: AccountCode = {
  accounts,
  slotOf(file, userID, place) {
    try {
      return file && authorizedKey(file, userID, place).slotID;
    } catch {
      // Only the drawing of a rejected file needs the slot.
      return undefined;
    }
  },
  accountIDOf(file) {
    try {
      return parseAccountFile(file).account.userID;
    } catch {
      // The verification reports the malformed file.
      return undefined;
    }
  },
  historyOf(file, userID, place) {
    if (file === undefined) return undefined;
    const { number, nextNumber } = authorizedKey(file, userID, place);
    const { account, statements } = parseAccountFile(file);
    const { keys, threshold } = account;
    const slots: AccountSlot[] = [];
    for (let slot = Math.max(0, nextNumber - MAX_SLOTS); slot < nextNumber; slot++) {
      const found = statements.find(({ number }) => number === slot);
      const statement = found && {
        isVoid: found.publicKey === undefined,
        signers: found.signatures.flatMap(({ keyNumber }) => {
          const key = keys[keyNumber - 1];
          return key ? [{ keyNumber, type: key.type }] : [];
        }),
      };
      slots.push({ number: slot, userID: slotIDOf(account, slot), statement });
    }
    return { file: new TextDecoder().decode(file), number, keyCount: keys.length, threshold, slots };
  },
};

function authorizedKey(file: Uint8Array, userID: UserID, { chainId, contract }: Place) {
  return verifyAccountFile(file, userID, { chainId: Number(chainId), contract });
}

/** Asks one endpoint when the roots of an account's slots were added. */
export const readSlots: Handler<"readSlots"> = async ({ userIDs, options }, _, signal) => {
  const { rpc, contract, allowHttp } = options;
  const { maxBytes, timeoutMs } = RPC_LIMITS;
  const endpoint = typeof rpc === "string" ? rpc : (rpc[0] ?? "");
  const call = rpcCaller(endpoint, { maxBytes, timeoutMs, signal, allowHttp });
  const factsOf = async (root: string | undefined): Promise<SlotFacts | undefined> => {
    if (root === undefined) return undefined;
    const blockNumber = await fetchBlockNumber(call, contract, root);
    const { timestamp } = await fetchBlock(call, blockNumber);
    return { root, blockNumber, timestamp };
  };
  try {
    const roots = await readMerkleTreeRoots(call, contract, userIDs);
    return { facts: await Promise.all(roots.map(factsOf)) };
  } catch (error) {
    return { failure: toFailure(error) };
  }
};
