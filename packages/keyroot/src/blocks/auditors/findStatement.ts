import { type KeyrootError, TransportError, VerificationError } from "../../errors.ts";
import { recoverable } from "../../transport/timeout.ts";
import { fetchStatement, limitsOfRound, type StatementLimits } from "./fetchStatement.ts";
import { onePerKey, serializeSignedNote } from "./signedNote.ts";
import { parseSignedStatement, type SignedStatement } from "./statement.ts";
import {
  acceptStatement,
  type AuditorPolicy,
  checkPlace,
  type Signers,
  type StatementPlace,
  type VerifiedStatement,
  verifySignatures,
} from "./verifyStatement.ts";

/** The parameters of a search for a statement: the folders, the contract and the trusted auditors. */
export interface StatementQuery {
  folders: readonly string[];
  place: StatementPlace;
  policy: AuditorPolicy;
}

/**
 * Finds the newest statement that enough auditors signed. The search reads each folder's newest statement. If too few
 * auditors signed the newest of these statements, the search requests the older statements from all folders. Slower
 * auditors may have signed only an older statement.
 * @throws VerificationError STATEMENT_CONFLICT, STATEMENT_TOO_OLD, AUDITORS_NOT_REACHED; TransportError
 * AUDITORS_NOT_REACHED if hosts did not respond and no response is false
 */
export async function findStatement(
  query: StatementQuery,
  http: StatementLimits,
  now: () => number,
): Promise<FoundStatement> {
  const { folders, policy } = query;
  const known = new KnownStatements(query, limitsOfRound(http));
  const newest = await Promise.all(folders.map((folder) => known.read(folder, "latest")));
  const heights = [...new Set(newest.filter((number) => number !== undefined))].sort((a, b) => b - a);
  let refusal: KeyrootError | undefined;
  for (const height of heights) {
    if (height === heights[1]) {
      // One round reads all older statements. With more rounds, dishonest hosts could delay the search again and again.
      const readOthers = (older: number) =>
        folders.filter((_, i) => newest[i] !== older).map((folder) => known.read(folder, String(older)));
      await Promise.all(heights.slice(1).flatMap(readOthers));
    }
    const accepted: FoundStatement[] = [];
    for (const { statement, signers, ...note } of known.ofBlock(height)) {
      try {
        const file = serializeSignedNote(note);
        accepted.push({ ...acceptStatement(statement, signers, policy, now()), signers, file });
      } catch (error) {
        const failure = recoverable(error);
        refusal ??= failure;
      }
    }
    const [first, other] = accepted;
    if (other !== undefined) throw conflict(accepted);
    if (first !== undefined) return first;
  }
  throw notReached(refusal, known.errors, policy);
}

/** A statement that enough auditors signed, with its verified signatures. */
export interface CountedStatement extends VerifiedStatement {
  signers: Signers;
}

/** A statement that enough auditors signed. The signatures may come from several folders. */
export interface FoundStatement extends CountedStatement {
  /** The statement's file with each auditor's newest signature. */
  file: string;
}

/** A statement, and the times of the statement's known signatures, grouped by auditor key. */
interface KnownStatement extends SignedStatement {
  signers: Map<string, number[]>;
}

/** The different statements found so far, and the errors for false or missing statements. */
class KnownStatements {
  readonly errors: KeyrootError[] = [];
  private readonly byText = new Map<string, KnownStatement>();
  private readonly query: StatementQuery;
  private readonly limits: StatementLimits;

  constructor(query: StatementQuery, limits: StatementLimits) {
    this.query = query;
    this.limits = limits;
  }

  ofBlock(number: number): KnownStatement[] {
    return [...this.byText.values()].filter(({ statement }) => statement.block.number === number);
  }

  /**
   * Reads a statement from a folder. @returns the statement's block number, or undefined if the statement has no valid
   * signature
   */
  async read(folder: string, name: string): Promise<number | undefined> {
    const { place, policy } = this.query;
    try {
      const signed = parseSignedStatement(await fetchStatement(folder, name, this.limits));
      checkPlace(signed.statement, place);
      const signers = verifySignatures(signed, policy.keys);
      if (signers.size === 0) return undefined;
      this.add(signed, signers);
      return signed.statement.block.number;
    } catch (error) {
      this.errors.push(recoverable(error));
      return undefined;
    }
  }

  private add(signed: SignedStatement, signers: ReadonlyMap<string, readonly number[]>): void {
    const known = this.byText.get(signed.text) ?? { ...signed, cosignatures: [], signers: new Map<string, number[]>() };
    for (const [key, times] of signers) known.signers.set(key, [...(known.signers.get(key) ?? []), ...times]);
    known.cosignatures = onePerKey([...known.cosignatures, ...signed.cosignatures], this.query.policy.keys);
    this.byText.set(signed.text, known);
  }
}

function conflict(accepted: readonly VerifiedStatement[]): VerificationError {
  const [expected, actual] = accepted;
  const message = `Enough auditors signed two different statements for block ${expected?.block.number}. At least one of the statements is false. Inform the auditors.`;
  return new VerificationError("anchor", "STATEMENT_CONFLICT", message, { expected, actual });
}

/**
 * Makes the error for the newest statement. The error's message includes the reasons why other statements are missing.
 */
function notReached(
  refusal: KeyrootError | undefined,
  errors: readonly KeyrootError[],
  { keys, threshold }: AuditorPolicy,
): KeyrootError {
  const first = refusal?.message ?? `No folder contains a statement that one of the ${keys.length} auditors signed.`;
  const message = [first, ...new Set(errors.map(({ message }) => message))].join(" ");
  const details = { expected: threshold, actual: errors.map(({ code }) => code) };
  if (refusal?.code === "STATEMENT_TOO_OLD")
    return new VerificationError("anchor", "STATEMENT_TOO_OLD", message, details);
  return errors.length > 0 && errors.every((error) => error instanceof TransportError)
    ? new TransportError("AUDITORS_NOT_REACHED", message, details)
    : new VerificationError("anchor", "AUDITORS_NOT_REACHED", message, details);
}
