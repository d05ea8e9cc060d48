export { audit, verdictOf } from "./audit.ts";
export { eachAtOnce } from "./eachAtOnce.ts";
export { FileWorkers } from "./fileWorkers.ts";
export { AuditState } from "./state.ts";
export { UserIndex } from "./userIndex.ts";
