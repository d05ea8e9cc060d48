import { parseUrl } from "../../engine/parseUrl.ts";
import { KeyrootError, TransportError, VerificationError } from "../../errors.ts";
import { addPath } from "../../transport/url.ts";
import { fetchBytes, type FetchOptions } from "../../transport/fetchBytes.ts";
import { MAX_ROOTS_BYTES } from "./rootTree.ts";
import { MAX_STATEMENT_BYTES, parseSignedStatement, type Statement } from "./statement.ts";
import {
  acceptStatement,
  type AuditorPolicy,
  checkPlace,
  type StatementPlace,
  type VerifiedStatement,
  verifySignatures,
} from "./verifyStatement.ts";

/** The limits of requests for statements. */
export type StatementLimits = Omit<FetchOptions, "maxBytes">;

/** The folders with statements, the contract that they must be about, and the auditors whose signatures count. */
export interface StatementQuery {
  /** URLs. */
  folders: readonly string[];
  place: StatementPlace;
  policy: AuditorPolicy;
}

/** The share of the verification's time that one round of requests may take. A silent host must leave time for the rest. */
const ROUND_SHARE = 0.2;

/**
 * Finds the newest statement that enough auditors signed. It starts with the newest of every folder. If too few signed one of
 * them, it reads older ones that other folders name as their newest, so that auditors that are behind can take part.
 * @throws VerificationError STATEMENT_CONFLICT, STATEMENT_TOO_OLD, AUDITORS_NOT_REACHED; TransportError AUDITORS_NOT_REACHED
 * if hosts did not answer and no answer is false
 */
export async function findStatement(
  query: StatementQuery,
  http: StatementLimits,
  now: () => number,
): Promise<VerifiedStatement> {
  const { folders, policy } = query;
  const timeoutMs = Math.max(1, Math.floor(http.timeoutMs * ROUND_SHARE));
  const known = new KnownStatements(query, { ...http, timeoutMs });
  const newest = await Promise.all(folders.map((folder) => known.read(folder, "latest")));
  const heights = [...new Set(newest.filter((number) => number !== undefined))].sort((a, b) => b - a);
  let refusal: KeyrootError | undefined;
  for (const height of heights) {
    const others = height === heights[0] ? [] : folders.filter((_, i) => newest[i] !== height);
    await Promise.all(others.map((folder) => known.read(folder, String(height))));
    const accepted: VerifiedStatement[] = [];
    for (const { statement, signers } of known.ofBlock(height)) {
      try {
        accepted.push(acceptStatement(statement, signers, policy, now()));
      } catch (error) {
        if (!(error instanceof KeyrootError)) throw error;
        refusal ??= error;
      }
    }
    const [first, other] = accepted;
    if (other !== undefined) throw conflict(accepted);
    if (first !== undefined) return first;
  }
  throw notReached(refusal, known.errors, policy);
}

/** A statement, and the times of all known signatures of it by the texts of keys. */
interface KnownStatement {
  statement: Statement;
  signers: Map<string, number[]>;
}

/** The statements that were read, merged by their texts, and the errors of those that are false or missing. */
class KnownStatements {
  readonly errors: KeyrootError[] = [];
  private readonly byText = new Map<string, KnownStatement>();
  private readonly query: StatementQuery;
  private readonly limits: StatementLimits;

  constructor(query: StatementQuery, limits: StatementLimits) {
    this.query = query;
    this.limits = limits;
  }

  /** The statements for a block. */
  ofBlock(number: number): KnownStatement[] {
    return [...this.byText.values()].filter(({ statement }) => statement.block.number === number);
  }

  /** Reads a folder's statement. @returns the number of its block; undefined if it has no valid signature of an auditor */
  async read(folder: string, name: string): Promise<number | undefined> {
    const { place, policy } = this.query;
    try {
      const signed = parseSignedStatement(await fetchStatement(folder, name, this.limits));
      checkPlace(signed.statement, place);
      const signers = verifySignatures(signed, policy.keys);
      if (signers.size === 0) return undefined;
      this.add(signed.text, signed.statement, signers);
      return signed.statement.block.number;
    } catch (error) {
      if (!(error instanceof KeyrootError) || error.code === "ABORTED") throw error;
      this.errors.push(error);
      return undefined;
    }
  }

  private add(text: string, statement: Statement, signers: ReadonlyMap<string, readonly number[]>): void {
    const known = this.byText.get(text) ?? { statement, signers: new Map<string, number[]>() };
    for (const [key, times] of signers) known.signers.set(key, [...(known.signers.get(key) ?? []), ...times]);
    this.byText.set(text, known);
  }
}

/**
 * Fetches a file from a folder of statements.
 * @param name its name without `.txt`: `latest`, or the number of a block
 * @throws TransportError FILE_HOST_ERROR, and as `fetchBytes`
 */
export function fetchStatement(folder: string, name: string, limits: StatementLimits): Promise<Uint8Array> {
  return fetchText(folder, name, { ...limits, maxBytes: MAX_STATEMENT_BYTES });
}

/** Fetches the list of all roots from a folder of statements. @throws as `fetchStatement` */
export function fetchRoots(folder: string, limits: StatementLimits): Promise<Uint8Array> {
  return fetchText(folder, "roots", { ...limits, maxBytes: MAX_ROOTS_BYTES });
}

async function fetchText(folder: string, name: string, options: FetchOptions): Promise<Uint8Array> {
  const url = addPath(folder, `${name}.txt`);
  const { status, bytes } = await fetchBytes(url, { method: "GET" }, options);
  if (status === 200) return bytes;
  const message = `${parseUrl(url).host} answered the request for ${name}.txt with the HTTP status ${status}.`;
  throw new TransportError("FILE_HOST_ERROR", message, { actual: status });
}

function conflict(accepted: readonly VerifiedStatement[]): VerificationError {
  const [expected, actual] = accepted;
  const message = `Enough auditors signed two different statements for block ${expected?.block.number}, so some of them are wrong. Inform the auditors.`;
  return new VerificationError("anchor", "STATEMENT_CONFLICT", message, { expected, actual });
}

/** The error for the newest statement, with the reasons for which others are missing. */
function notReached(
  refusal: KeyrootError | undefined,
  errors: readonly KeyrootError[],
  { keys, threshold }: AuditorPolicy,
): KeyrootError {
  const first = refusal?.message ?? `No folder has a statement with a signature of one of the ${keys.length} auditors.`;
  const message = [first, ...new Set(errors.map(({ message }) => message))].join(" ");
  const details = { expected: threshold, actual: errors.map(({ code }) => code) };
  if (refusal?.code === "STATEMENT_TOO_OLD")
    return new VerificationError("anchor", "STATEMENT_TOO_OLD", message, details);
  return errors.length > 0 && errors.every((error) => error instanceof TransportError)
    ? new TransportError("AUDITORS_NOT_REACHED", message, details)
    : new VerificationError("anchor", "AUDITORS_NOT_REACHED", message, details);
}
