import { z } from "zod";
import { userIDToHex } from "keyroot/internal/identity";
import { answerFrom } from "../api/answerFrom.ts";
import { ServiceError } from "../api/base/errors.ts";
import type { ApiContext } from "../api/context.ts";
import { operationsWith } from "../api/defineOperation.ts";
import { eitherUserID, empty, named, strict, timestamp, userID, userIDOf } from "../api/fields.ts";
import { challenge, changedKeyID, keyNumber, response, toChallengeResponse } from "../keys/fields.ts";
import { VOID } from "../keys/tables.ts";
import { serviceOf } from "../keys/serviceOf.ts";
import { callingUser, requireUser } from "../users/operations.ts";
import type { User } from "../users/newUser.ts";
import type { UserStore } from "../users/users.ts";
import { accountFilesOf } from "./accountFiles.ts";
import type { AccountStore } from "./accountStore.ts";
import { approveChange, objectToChange, objectWithKey } from "./decideChange.ts";
import { STATEMENT_STATES, type StoredStatement } from "./statements.ts";
import { type SubmitOptions, submitStatement } from "./submitStatement.ts";

/** Maximum length of account texts, statements and objections, in characters. With 16 keys, they have at most 1,900. */
const MAX_LENGTH = 4096;
const sent = (description: string) => z.string().max(MAX_LENGTH).meta({ description });

const statement = named("AccountStatement", "A statement of an account.", {
  number: keyNumber,
  key_id: changedKeyID,
  slot_id: userID.meta({ description: "The id under which the key is published. For number 0, it is the user's id." }),
  state: z.enum(STATEMENT_STATES).meta({
    description:
      "`pending`: the statement is in its hold period, or waits for a publisher after it. `submitted`: a publisher has taken the key. `published`: the key is on the chain, or the void statement is in the account file. `objected`: there was an objection, so the statement is not published. `taken`: the slot holds another key, so sign a statement with the next number. `withdrawn`: the first key was removed.",
  }),
  submitted: timestamp,
  hold_ends_at: timestamp.nullable().meta({ description: "The end of a pending statement's hold period." }),
  objected: timestamp.nullable(),
  approved: timestamp.nullable(),
  published: timestamp.nullable().meta({ description: "The time when the key was confirmed on the chain." }),
  statement: z.string().meta({ description: "The signed statement." }),
});
const account = named("UserAccount", "A user's account with its statements.", {
  user_id: userID,
  account: z.string().meta({ description: "The account text." }),
  account_file: z.string().nullable().meta({
    description: "The account file of the current key, for contacts. Null while the user has no key.",
  }),
  next_account_file: z.string().nullable().meta({
    description: "The account file of the key that is being published. Null if there is none.",
  }),
  file_name: z.string().meta({ description: "The name of the account file at the file host." }),
  number: keyNumber.nullable(),
  statements: z.array(statement).meta({ description: "All statements that the service received, in order." }),
});
const change = named("KeyChange", "A statement of a user's account.", { user_id: userID, ...statement.shape });
const ofChange = strict({ ...eitherUserID, number: keyNumber, key_id: changedKeyID });

export interface AccountContext
  extends ApiContext, Pick<SubmitOptions, "publicKeys" | "registration" | "keyType" | "holdPeriodMs"> {
  users: UserStore;
  /** Undefined if users have no accounts. */
  accounts: AccountStore | undefined;
}

const defineOperation = operationsWith<AccountContext>();

export const accountOperations = [
  defineOperation({
    path: "/v1/authdUser/account/store",
    callers: ["user"],
    summary: "Store the user's account text",
    description:
      "Available only in services with accounts. The user's id must be the account id, which is the hash of the text. Repeating the request has no effect.",
    body: strict({ account: sent('The account text (docs/formats.md, "Account").') }),
    answer: account,
    errors: [404, 409],
    async handle({ account: text }, { context, principal, author }) {
      const accounts = requireAccounts(context);
      const user = await callingUser(context, principal);
      await accounts.store(user, text, context.now(), author);
      return toAccount(user, await accounts.get(user));
    },
  }),

  defineOperation({
    path: "/v1/authdUser/account/get",
    callers: ["user"],
    duringSuspension: true,
    summary: "Get the user's own account, with all its statements",
    body: empty,
    answer: account,
    errors: [404, 409],
    async handle(_body, { context, principal }) {
      const accounts = requireAccounts(context);
      const user = await callingUser(context, principal);
      return toAccount(user, await accounts.get(user));
    },
  }),

  defineOperation({
    path: "/v1/authdUser/account/submit",
    callers: ["user"],
    summary: "Submit a statement that the account's recovery keys signed",
    description:
      "Number 0 registers the user's first key. The next number changes the key after the hold period. Except for `void` and for hashes of documents, the request must contain the response to a challenge for the new key, which publicKey/challenge returns. Sign a statement only if the slot before its number has a root on the chain. Repeating the request has no effect.",
    body: strict({
      statement: sent('The signed statement (docs/formats.md, "Key statement").'),
      challenge: challenge.optional(),
      response: response.optional(),
    }),
    answer: change,
    errors: [404, 409],
    async handle({ statement, challenge, response }, { context, principal, author, request }) {
      const accounts = requireAccounts(context);
      context.registration.requireAttempt(principal.userID);
      const user = await callingUser(context, principal);
      const answer = toChallengeResponse(challenge, response);
      const sent = { statement, answer, service: serviceOf(context, request) };
      return toChange(user, await submitStatement({ ...context, accounts }, user, sent, author));
    },
  }),

  defineOperation({
    path: "/v1/authdUser/account/object",
    callers: ["user"],
    duringSuspension: true,
    summary: "Object to a pending change of the user's key",
    description:
      "One of the account's recovery keys must have signed the objection. The service then does not publish the key, unless the partner approves the change. Repeating the request has no effect.",
    body: strict({ objection: sent('The signed objection (docs/formats.md, "Objection").') }),
    answer: change,
    errors: [404, 409],
    async handle({ objection }, { context, principal, author }) {
      const accounts = requireAccounts(context);
      const user = await callingUser(context, principal);
      return toChange(user, await objectWithKey({ ...context, accounts }, user, objection, author));
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/accounts/get",
    callers: ["partner", "partnerStaff"],
    reads: true,
    summary: "Get a user's account, with all its statements",
    body: strict(eitherUserID),
    answer: account,
    errors: [404, 409],
    async handle(id, { context, principal }) {
      const accounts = requireAccounts(context);
      const user = await requireUser(context, principal.bizID, userIDOf(id));
      return toAccount(user, await accounts.get(user));
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/accounts/object",
    callers: ["partner", "partnerStaff"],
    duringSuspension: true,
    summary: "Object to a pending change of a user's key",
    description: "After the objection, the service does not publish the key. Repeating the request has no effect.",
    body: ofChange,
    answer: change,
    errors: [404, 409],
    async handle({ number, key_id: keyID, ...id }, { context, principal, author }) {
      const accounts = requireAccounts(context);
      const user = await requireUser(context, principal.bizID, userIDOf(id));
      return toChange(user, await objectToChange({ ...context, accounts }, user, { number, keyID }, author));
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/accounts/approve",
    callers: ["partner", "partnerStaff"],
    summary: "Approve a change of a user's key to which a recovery key objected",
    description:
      "Before you approve a change, find out who the owner of the account is. An approved change or void statement is published without a further hold period, and only the partner can still object to it. Repeating the request has no effect.",
    body: ofChange,
    answer: change,
    errors: [404, 409],
    async handle({ number, key_id: keyID, ...id }, { context, principal, author }) {
      const accounts = requireAccounts(context);
      const user = await requireUser(context, principal.bizID, userIDOf(id));
      return toChange(user, await approveChange({ ...context, accounts }, user, { number, keyID }, author));
    },
  }),
];

function requireAccounts({ accounts }: Pick<AccountContext, "accounts">): AccountStore {
  if (accounts !== undefined) return accounts;
  const message =
    "This service has no accounts: each user has one key. Register it with /v1/authdUser/publicKey/register.";
  throw new ServiceError(404, "ACCOUNTS_DISABLED", message);
}

function toAccount({ userID: user_id }: User, found: { text: string; statements: readonly StoredStatement[] }) {
  const { text, statements } = found;
  const files = accountFilesOf(text, statements);
  const hasNext = files !== undefined && files.nextFile !== files.file;
  return {
    ...{ user_id, account: text, account_file: files?.file ?? null },
    next_account_file: hasNext ? files.nextFile : null,
    file_name: `accounts/${userIDToHex(user_id)}.txt`,
    number: files?.current.number ?? null,
    statements: statements.map(toStatement),
  };
}

function toChange({ userID: user_id }: User, stored: StoredStatement) {
  return { user_id, ...toStatement(stored) };
}

function toStatement(stored: StoredStatement) {
  return answerFrom(statement, { ...stored, published: stored.keyID === VOID ? stored.settled : stored.confirmed });
}
