/**
 * The entry `keyroot/auditors`, which verifies statements that trusted auditors signed. An import of this entry adds
 * the `auditors` option to all verifiers.
 */
import { addSource } from "./blocks/addedSources.ts";
import { makeAuditorsSource } from "./blocks/auditors/source.ts";

addSource("auditors", makeAuditorsSource);

export { AUDITOR_NAME, type AuditorKey, makeAuditorKey, parseAuditorKey } from "./blocks/auditors/auditorKey.ts";
export type { AuditorsOption } from "./blocks/auditors/source.ts";
export type { DamagedRoot, Statement } from "./blocks/auditors/statement.ts";
export {
  type AuditorOptions,
  type StatementPlace,
  type VerifiedStatement,
  verifyStatement,
} from "./blocks/auditors/verifyStatement.ts";
