/**
 * The entry `keyroot/auditors`. It exports `auditors`, a value for the `trust` option with which a verifier trusts
 * statements that auditors signed.
 */
export { AUDITOR_NAME, type AuditorKey, makeAuditorKey, parseAuditorKey } from "./trust/auditors/auditorKey.ts";
export { auditors, type AuditorsOptions } from "./trust/auditors/auditors.ts";
export type { DamagedRoot, Statement } from "./trust/auditors/statement.ts";
export {
  type AuditorOptions,
  type StatementPlace,
  type VerifiedStatement,
  verifyStatement,
} from "./trust/auditors/verifyStatement.ts";
