import { index, isNotNull, isNull, pgTable, text, uuid } from "../api/database/drizzle.ts";
import { timestampMs } from "../api/database/columns.ts";
import { requestColumns } from "../api/database/idempotency.ts";
import { partners } from "../partners/tables.ts";
import { users } from "../users/tables.ts";

/**
 * The columns that both tables of refresh tokens have. `token_hash` is the SHA-256 of the token, which is not stored in
 * plain text. `last_used` is the start of the hour in which the token was last used.
 *
 * If the request had an Idempotency-Key, the row also contains the encrypted token for 24 hours. The encryption key is
 * derived from the Idempotency-Key. The Idempotency-Key itself is not stored, so the database alone does not reveal the
 * token.
 */
const refreshToken = () => ({
  tokenID: uuid("token_id").primaryKey(),
  tokenHash: text("token_hash").notNull().unique(),
  created: timestampMs("created").notNull(),
  revoked: timestampMs("revoked"),
  lastUsed: timestampMs("last_used"),
  ...requestColumns(),
  sealedToken: text("sealed_token"),
});

/** Server tokens, in the home database. */
export const serverTokens = pgTable(
  "server_tokens",
  {
    ...refreshToken(),
    bizID: text("biz_id")
      .notNull()
      .references(() => partners.bizID),
    name: text("name"),
  },
  (table) => [
    index("server_tokens_of_partner").on(table.bizID, table.created, table.tokenID),
    index("active_server_tokens").on(table.bizID).where(isNull(table.revoked)),
  ],
);

/** User refresh tokens, in the user's region. */
export const userTokens = pgTable(
  "user_tokens",
  {
    ...refreshToken(),
    userID: text("user_id")
      .notNull()
      .references(() => users.userID),
    context: text("context").notNull(),
  },
  (table) => [
    index("user_tokens_of_user").on(table.userID, table.created, table.tokenID),
    index("active_user_tokens").on(table.userID).where(isNull(table.revoked)),
    index("sealed_user_tokens").on(table.created).where(isNotNull(table.sealedToken)),
  ],
);
