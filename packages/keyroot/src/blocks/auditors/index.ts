/**
 * The entry `keyroot/auditors/protocol`, for programs that make or compare statements and lists of auditors. The entry
 * also exports `Quorum`, which compares the answers of several endpoints.
 */
export { Quorum } from "../../trust/quorum.ts";
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
} from "./rootTree.ts";
export {
  type AuditorList,
  MAX_AUDITOR_LIST_BYTES,
  parseSignedAuditorList,
  serializeAuditorList,
  type SignedAuditorList,
  type VerifiedAuditorList,
  verifyAuditorList,
} from "./auditorList.ts";
export { fetchAuditorList, fetchRoots, fetchStatement } from "./fetchStatement.ts";
export { RootProofs } from "./rootProofs.ts";
export { subtreeOf } from "./subtrees.ts";
export { type Cosignature, cosignedMessage, onePerKey, serializeSignedNote, type SignedNote } from "./signedNote.ts";
export { MAX_STATEMENT_BYTES, parseSignedStatement, serializeStatement, type SignedStatement } from "./statement.ts";
export { checkPlace, parseAuditorOptions, type Signers, verifySignatures } from "./verifyStatement.ts";
