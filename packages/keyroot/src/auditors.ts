/**
 * The entry `keyroot/auditors`, with the choice `auditors` for the `trust` option of a verifier, which trusts statements
 * that auditors signed.
 */
export { AUDITOR_NAME, type AuditorKey, makeAuditorKey, parseAuditorKey } from "./blocks/auditors/auditorKey.ts";
export { auditors, type AuditorsOptions } from "./blocks/auditors/source.ts";
export type { DamagedRoot, Statement } from "./blocks/auditors/statement.ts";
export {
  type AuditorOptions,
  type StatementPlace,
  type VerifiedStatement,
  verifyStatement,
} from "./blocks/auditors/verifyStatement.ts";
