/** The texts of accounts, for `@keyroot/service`. */
export { serializeKeyStatement } from "../account/keyStatement.ts";
