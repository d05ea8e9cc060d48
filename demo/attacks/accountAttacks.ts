import { userIDToHex } from "keyroot/internal/identity";
import { ZERO_ROOT } from "keyroot/internal/registry";
import { type Attack, type AttackContext, type Call, replaceRoot, type Target } from "./attack.ts";

/** Attacks on users who can change their keys. */
export const ACCOUNT_ATTACKS: readonly Attack[] = [
  {
    name: "stripped-account",
    attacker: "The server",
    description: "the servers leave out the account, and send a key",
    expectedCode: "ACCOUNT_MISSING",
    target: sends("changed", 0),
  },
  {
    name: "other-account",
    attacker: "The server",
    description: "the account and the key are another user's",
    expectedCode: "ACCOUNT_MISMATCH",
    target: (context) => ({ ...sends("overtaken", 0)(context), userID: context.accounts.changed.userID }),
    accountFile: ({ overtaken }) => overtaken.files[0],
  },
  {
    name: "other-registry",
    attacker: "The server",
    description: "the account is one of another registry",
    expectedCode: "ACCOUNT_MISMATCH",
    target: sends("elsewhere", 0),
    accountFile: ({ elsewhere }) => elsewhere.files[0],
  },
  {
    name: "other-number",
    attacker: "The server",
    description: "the owner's statement gets another number",
    expectedCode: "KEY_STATEMENT_INVALID",
    target: sends("changed", 1),
    accountFile: ({ forged }) => forged.otherNumber,
  },
  {
    name: "below-threshold",
    attacker: "A thief with one of two recovery keys",
    description: "the thief alone signs a statement for a new key",
    expectedCode: "KEY_STATEMENT_INVALID",
    target: sends("overtaken", 1, "changed"),
    accountFile: ({ forged }) => forged.belowThreshold,
  },
  {
    name: "old-statement",
    attacker: "The file host",
    description: "the host shows the statement before the change",
    expectedCode: "SUCCESSOR_UNPROVEN",
    target: sends("changed", 0),
    accountFile: ({ changed }) => changed.files[0],
  },
  {
    name: "own-successor",
    attacker: "The operator",
    description: "the operator publishes its own key as the next one",
    expectedCode: "SUCCESSOR_UNPROVEN",
    target: sends("overtaken", 1),
    accountFile: ({ overtaken }) => overtaken.files[0],
  },
  {
    name: "squatted-slot",
    attacker: "Another partner",
    description: "the partner's own user takes the id of the next key",
    expectedCode: "SUCCESSOR_UNPROVEN",
    target: sends("overtaken", 0),
    accountFile: ({ overtaken }) => overtaken.files[0],
  },
  {
    name: "hidden-change",
    attacker: "Several servers together",
    description: "file host and endpoint hide the change, for the old key",
    expectedCode: "PROOF_INVALID",
    foolsOneEndpoint: true,
    target: sends("changed", 0),
    accountFile: ({ changed }) => changed.files[0],
    call: askForUnusedSlot,
    rpc: (call, result) => replaceRoot(call, result, ZERO_ROOT),
  },
];

type Victim = "changed" | "overtaken" | "elsewhere";

/**
 * Returns the target of an attack in which the server sends a key of a user.
 * @param of the user whose id is sent. Default: the key's user
 */
function sends(user: Victim, number: number, of: Victim = user) {
  return ({ accounts }: AttackContext): Target => ({
    userID: accounts[of].userID,
    sentKey: accounts[user].keys[number] ?? "",
    contract: accounts.contract,
  });
}

/** Asks the chain for a slot that nobody uses, instead of the one with the user's newest key. */
function askForUnusedSlot({ method, params }: Call, { accounts: { changed, elsewhere } }: AttackContext): Call {
  const [used, unused] = [changed.slotIDs[1], elsewhere.userID].map((id = "") => userIDToHex(id)) as [string, string];
  return { method, params: JSON.parse(JSON.stringify(params).replaceAll(used, unused)) as unknown[] };
}
