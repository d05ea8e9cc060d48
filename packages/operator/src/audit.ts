/** The entry `@keyroot/operator/audit` for auditors. */
export {
  audit,
  type AuditOptions,
  type AuditReport,
  type AuditStage,
  type AuditVerdict,
  verdictOf,
} from "./audit/audit.ts";
export { AuditState } from "./audit/auditState.ts";
export type { FileSource } from "./follow/index.ts";
export { type Finding, FINDING_CODES, type FindingCode, Findings, type Severity } from "./audit/finding.ts";
export { type PollOptions, type WatchedUser } from "./watch/pollChain.ts";
export type { AuditedContract } from "./follow/index.ts";
export type { AuditTarget, OpenStateOptions } from "./audit/openStateFile.ts";
export { pollEvents, watch, type WatchEvent, type WatchOptions } from "./watch/watch.ts";
export { WatchState } from "./watch/watchState.ts";
