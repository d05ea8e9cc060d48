/** For programs that make or compare statements. `Quorum` compares the answers of several endpoints. */
export { Quorum } from "../trust/quorum.ts";
export { fetchStatement } from "../trust/auditors/fetchStatement.ts";
export { serializeSignedNote, signaturesOf } from "../trust/auditors/signedNote.ts";
export {
  type DamagedRoot,
  MAX_DAMAGED_ROOTS,
  MAX_STATEMENT_BYTES,
  parseSignedStatement,
  serializeStatement,
  type SignedStatement,
} from "../trust/auditors/statement.ts";
export { checkPlace, parseAuditorOptions, verifySignatures } from "../trust/auditors/verifyStatement.ts";
