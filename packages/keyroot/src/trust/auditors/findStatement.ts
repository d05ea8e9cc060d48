import { type KeyrootError, TransportError, VerificationError } from "../../errors.ts";
import { withResolvers } from "../../engine/language.ts";
import { recoverable } from "../../transport/timeout.ts";
import { fetchStatement, limitsOfRound, type StatementLimits } from "./fetchStatement.ts";
import { serializeSignedNote, signaturesOf } from "./signedNote.ts";
import { parseSignedStatement, type SignedStatement } from "./statement.ts";
import {
  acceptStatement,
  type AuditorPolicy,
  checkPlace,
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

/** A statement that enough auditors signed. The signatures may come from several folders. */
export interface FoundStatement extends VerifiedStatement {
  /** The statement's file with the signatures of all known auditors. */
  file: string;
}

/** A statement whose signatures were verified. */
interface KnownStatement extends SignedStatement {
  /** The keys of the auditors who signed, as text, in the order of the trusted keys. */
  signers: readonly string[];
}

/** The time in ms to wait for the other folders as soon as a statement has enough signatures. */
const GRACE_MS = 500;

/**
 * Finds the newest statement that enough auditors signed. The newest statement of each folder is read first. Slower
 * auditors may not have signed the latest of these statements yet. If it has too few signatures, the older statements
 * are therefore requested from all folders.
 * @throws VerificationError STATEMENT_CONFLICT, STATEMENT_TOO_OLD, FUTURE_BLOCK, AUDITORS_NOT_REACHED
 * @throws TransportError AUDITORS_NOT_REACHED if hosts did not respond and no response is false
 */
export async function findStatement(
  query: StatementQuery,
  http: StatementLimits,
  now: () => number,
): Promise<FoundStatement> {
  const { folders, place, policy } = query;
  const limits = limitsOfRound(http);
  const errors: KeyrootError[] = [];
  /** The different statements found so far, by their text. */
  const known = new Map<string, KnownStatement>();
  const newest: (number | undefined)[] = [];
  /**
   * Reads a statement from a folder. If the same statement was found before, the signatures of both files are combined.
   * @returns the statement's block number, or undefined if the statement has no valid signature
   */
  const read = async (folder: string, name: string) => {
    try {
      const signed = parseSignedStatement(await fetchStatement(folder, name, limits));
      checkPlace(signed.statement, place);
      // Reject a file with a false signature before adding its signatures to others.
      const found = verifySignatures(signed, policy.keys);
      if (found.length === 0) return undefined;
      const earlier = known.get(signed.text);
      const signatures = signaturesOf(policy.keys, [...(earlier?.signatures ?? []), ...signed.signatures]);
      const all = [...(earlier?.signers ?? []), ...found];
      const signers = policy.keys.map(({ text }) => text).filter((text) => all.includes(text));
      known.set(signed.text, { ...signed, signatures, signers });
      return signed.statement.block.number;
    } catch (error) {
      errors.push(recoverable(error));
      return undefined;
    }
  };
  /**
   * Returns the statements about a block that enough auditors signed, and adds the reasons against others to
   * `refusals`.
   */
  const acceptedAt = (height: number, refusals: KeyrootError[] = []) => {
    const accepted: FoundStatement[] = [];
    for (const { statement, signers, ...note } of known.values()) {
      if (statement.block.number !== height) continue;
      try {
        const file = serializeSignedNote(note);
        accepted.push({ ...acceptStatement(statement, signers, policy, now()), file });
      } catch (error) {
        refusals.push(recoverable(error));
      }
    }
    return accepted;
  };
  const isEnough = (height: number | undefined) => height !== undefined && acceptedAt(height).length > 0;
  const readNewest = async (folder: string, i: number) => (newest[i] = await read(folder, "latest"));
  await untilEnough(folders.map(readNewest), isEnough);
  const heights = [...new Set([...newest].filter((number) => number !== undefined))].sort((a, b) => b - a);
  const refusals: KeyrootError[] = [];
  for (const height of heights) {
    if (height === heights[1]) {
      // One round reads all older statements, because dishonest hosts could otherwise delay the search again and again.
      const readOthers = (older: number) =>
        folders.filter((_, i) => newest[i] !== older).map((folder) => read(folder, String(older)));
      await untilEnough(heights.slice(1).flatMap(readOthers), isEnough);
    }
    const [first, ...others] = acceptedAt(height, refusals);
    if (first === undefined) continue;
    const [other] = others.filter(({ block }) => block.hash !== first.block.hash);
    if (other === undefined) return first;
    throw conflict(first, other);
  }
  // A statement that enough auditors signed gives a better reason than one with too few signatures.
  const [refusal] = [...refusals.filter(({ code }) => code !== "AUDITORS_NOT_REACHED"), ...refusals];
  throw notReached(refusal, errors, policy);
}

/**
 * Waits for all requests. As soon as one result is enough, the others have only 500 ms left, so a folder that does not
 * respond causes almost no delay.
 */
async function untilEnough<T>(requests: readonly Promise<T>[], isEnough: (result: T) => boolean): Promise<void> {
  const { promise, resolve } = withResolvers<undefined>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = async (request: Promise<T>) => {
    if (isEnough(await request) && timer === undefined)
      timer = setTimeout(() => {
        resolve(undefined);
      }, GRACE_MS);
  };
  try {
    await Promise.race([promise, Promise.all(requests.map(wait))]);
  } finally {
    clearTimeout(timer);
  }
}

function conflict(expected: VerifiedStatement, actual: VerifiedStatement): VerificationError {
  const message = `Enough auditors signed statements about two different blocks with the number ${expected.block.number}. At least one of the statements is false. Inform the auditors.`;
  return new VerificationError("anchor", "STATEMENT_CONFLICT", message, { expected, actual });
}

/** Makes the error for the newest statement. Its message includes the reasons why other statements are missing. */
function notReached(
  refusal: KeyrootError | undefined,
  errors: readonly KeyrootError[],
  { keys, threshold }: AuditorPolicy,
): KeyrootError {
  const first = refusal?.message ?? `No folder contains a statement that one of the ${keys.length} auditors signed.`;
  const message = [first, ...new Set(errors.map(({ message }) => message))].join(" ");
  const details = { expected: threshold, actual: errors.map(({ code }) => code) };
  for (const code of ["STATEMENT_TOO_OLD", "FUTURE_BLOCK"] as const)
    if (refusal?.code === code) return new VerificationError("anchor", code, message, details);
  return errors.length > 0 && errors.every((error) => error instanceof TransportError)
    ? new TransportError("AUDITORS_NOT_REACHED", message, details)
    : new VerificationError("anchor", "AUDITORS_NOT_REACHED", message, details);
}
