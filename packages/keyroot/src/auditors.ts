/**
 * `keyroot/auditors`: statements that auditors signed, as a source of trust. Importing this entry adds the option `auditors` to
 * all verifiers.
 */
import { addSource } from "./blocks/addedSources.ts";
import { makeAuditorsSource } from "./blocks/auditors/source.ts";

addSource("auditors", makeAuditorsSource);

export { AUDITOR_NAME, type AuditorKey, makeAuditorKey, parseAuditorKey } from "./blocks/auditors/auditorKey.ts";
export {
  hashRoots,
  MAX_ROOTS_BYTES,
  parseRootEntry,
  parseRoots,
  proveInclusion,
  type RootEntry,
  serializeRootEntry,
  serializeRoots,
  verifyInclusion,
} from "./blocks/auditors/rootTree.ts";
export {
  type AuditorList,
  MAX_AUDITOR_LIST_BYTES,
  parseSignedAuditorList,
  serializeAuditorList,
  type SignedAuditorList,
  type VerifiedAuditorList,
  verifyAuditorList,
} from "./blocks/auditors/auditorList.ts";
export { fetchAuditorList, fetchRoots, fetchStatement } from "./blocks/auditors/fetchStatement.ts";
export { RootProofs } from "./blocks/auditors/rootProofs.ts";
export { subtreeOf } from "./blocks/auditors/subtrees.ts";
export {
  type Cosignature,
  cosignedMessage,
  onePerKey,
  serializeSignedNote,
  type SignedNote,
} from "./blocks/auditors/signedNote.ts";
export type { AuditorsOption } from "./blocks/auditors/source.ts";
export {
  MAX_STATEMENT_BYTES,
  parseSignedStatement,
  serializeStatement,
  type SignedStatement,
  type Statement,
} from "./blocks/auditors/statement.ts";
export {
  type AuditorOptions,
  checkPlace,
  parseAuditorOptions,
  type Signers,
  type StatementPlace,
  type VerifiedStatement,
  verifySignatures,
  verifyStatement,
} from "./blocks/auditors/verifyStatement.ts";
export {
  makeMembership,
  type Membership,
  verifyMembership,
  type VerifiedMembership,
} from "./blocks/auditors/membership.ts";
