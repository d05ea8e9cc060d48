/**
 * The entry `keyroot/auditors`, for verifiers that trust the statements of auditors. Pass the result of `auditors` to a
 * verifier as its `trust` option.
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
