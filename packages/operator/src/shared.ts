/** Helpers that `@keyroot/service` also uses. These helpers are not a public API, and may change in every version. */
export { lockFolder } from "./disk/lock.ts";
export { createFolders } from "./disk/folder.ts";
export { readSecretFile } from "./disk/permissions.ts";
export { writeFileAtomic } from "./disk/writeFileAtomic.ts";
export { checkOptions } from "./checkOptions.ts";
export { MAX_TIMER_SECONDS } from "./commands/defineCommand.ts";
export { nearestName } from "./commands/nearestName.ts";
export { plural } from "./plural.ts";
export { listen, type Listening, onFreePort } from "./http/listen.ts";
export { parseAmount } from "./publisher/chain/parseAmount.ts";
export { headersOf, readSite } from "./explorer/readSite.ts";
export { DEFAULT_RETRY } from "./http/retry.ts";
export {
  checkBlock,
  divideByRoot,
  fetchUserCountIfAny,
  isLocalChain,
  proveRecords,
  readRootAddedLogs,
  waitForFinality,
} from "./follow/index.ts";
export { readUntil } from "./rpc/repeatReads.ts";
export {
  readStackFile,
  removeStackFile,
  type StackFile,
  type StackService,
  writeStackFile,
} from "./commands/stackFile.ts";
export { WebhookSecret } from "./http/webhookSecret.ts";
export { OPERATOR_ERROR_CODES, type OperatorErrorCode } from "./errors.ts";
