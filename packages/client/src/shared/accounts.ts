import { count, list, nullable, object, oneOf, text, userID } from "./answers.ts";
import type { AccountStatement, KeyChange, UserAccount } from "./operations.ts";

/** Maximum number of statements in a response. An account has one for each key, and one for each objected or void one. */
const MAX_STATEMENTS = 10_000;

const STATEMENT = {
  ...{ number: count, key_id: text(), slot_id: userID, submitted: count, hold_ends_at: nullable(count) },
  state: oneOf("pending", "submitted", "published", "objected", "taken", "withdrawn"),
  ...{ objected: nullable(count), approved: nullable(count), published: nullable(count), statement: text() },
};

/** Checks a user's account in a response. The texts prove themselves to a verifier. */
export const userAccount = object<UserAccount>({
  ...{ user_id: userID, account: text(), account_file: nullable(text()), next_account_file: nullable(text()) },
  ...{
    file_name: text(),
    number: nullable(count),
    statements: list(object<AccountStatement>(STATEMENT), MAX_STATEMENTS),
  },
});

/** Checks the statement of a change in a response. */
export const keyChange = object<KeyChange>({ user_id: userID, ...STATEMENT });
