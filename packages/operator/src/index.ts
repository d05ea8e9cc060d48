/**
 * The operator's API: `publish` publishes users' keys, `audit` checks a registry's whole history, and `watch` reports
 * new roots. The commands of `keyroot` and of the Hardhat plugin call the same functions.
 */
export * from "./publisher/index.ts";
export {
  audit,
  type AuditedContract,
  type AuditOptions,
  type AuditReport,
  type AuditStage,
  AuditState,
  type AuditTarget,
  type AuditVerdict,
  type FileSource,
  type Finding,
  FINDING_CODES,
  type FindingCode,
  Findings,
  type OpenStateOptions,
  pollEvents,
  type PollOptions,
  type Severity,
  verdictOf,
  watch,
  type WatchedUser,
  type WatchEvent,
  type WatchOptions,
  WatchState,
} from "./audit.ts";
