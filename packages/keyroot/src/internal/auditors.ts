/**
 * The entry `keyroot/auditors/protocol`, for programs that make or compare statements. It also exports `Quorum`, which
 * compares the answers of several endpoints.
 */
export { Quorum } from "../trust/quorum.ts";
export { fetchStatement } from "../trust/auditors/fetchStatement.ts";
export {
  type NoteSignature,
  serializeSignedNote,
  signaturesOf,
  type SignedNote,
} from "../trust/auditors/signedNote.ts";
export {
  type DamagedRoot,
  MAX_DAMAGED_ROOTS,
  MAX_STATEMENT_BYTES,
  parseSignedStatement,
  serializeStatement,
  type SignedStatement,
} from "../trust/auditors/statement.ts";
export { checkPlace, parseAuditorOptions, verifySignatures } from "../trust/auditors/verifyStatement.ts";
