/**
 * The entry `keyroot/auditors/protocol`, for programs that make or compare statements. The entry also exports `Quorum`,
 * which compares the answers of several endpoints.
 */
export { Quorum } from "../quorum.ts";
export { fetchStatement } from "./fetchStatement.ts";
export { type NoteSignature, serializeSignedNote, signaturesOf, type SignedNote } from "./signedNote.ts";
export {
  type DamagedRoot,
  MAX_DAMAGED_ROOTS,
  MAX_STATEMENT_BYTES,
  parseSignedStatement,
  serializeStatement,
  type SignedStatement,
} from "./statement.ts";
export { checkPlace, parseAuditorOptions, verifySignatures } from "./verifyStatement.ts";
