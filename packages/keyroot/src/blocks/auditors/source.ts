import { encodeUtf8 } from "../../engine/utf8.ts";
import { VerificationError } from "../../errors.ts";
import { checkObject, invalidArgument } from "../../input/options.ts";
import { encodeGetMerkleTreeRoot } from "../../registry/calldata.ts";
import { checkSourceUrl } from "../../transport/url.ts";
import type { MakeSource } from "../addedSources.ts";
import type { BlockRequest, BlockSource, CheckRoot } from "../blockSource.ts";
import type { StatementLimits } from "./fetchStatement.ts";
import { findStatement, type FoundStatement } from "./findStatement.ts";
import { type AuditorOptions, parseAuditorOptions, verifyStatement } from "./verifyStatement.ts";

/** The value of the `auditors` option. */
export interface AuditorsOption extends AuditorOptions {
  /**
   * The URLs of folders with statements. You do not have to trust the folders' hosts. Additional hosts improve
   * availability.
   */
  urls: readonly string[];
}

const MAX_URLS = 16;
/** The contract's return value for a user without a root. */
const ZERO_WORD = `0x${"0".repeat(64)}`;

/**
 * Makes the block source for the `auditors` option. The source finds the block of the newest statement that enough
 * auditors signed. For a bundle, the source reads the bundle's statement and sends no request.
 */
export const makeAuditorsSource: MakeSource = (option, place) => {
  const { urls, ...options } = checkObject("The auditors option", option as AuditorsOption);
  const policy = parseAuditorOptions(options);
  const { bundle } = place;
  const folders = bundle ? [] : checkFolders(urls, place.allowHttp);
  // All users of a contact list share one statement. The map's key is the `http` object that these users share.
  const searches = new WeakMap<object, Promise<FoundStatement>>();
  const search = (http: StatementLimits, now: () => number) => {
    const started = searches.get(http) ?? findStatement({ folders, place, policy }, http, now);
    searches.set(http, started);
    return started;
  };
  const readFrom = ({ statement: file }: { statement?: string | undefined }, now: number): FoundStatement => {
    if (file === undefined) throw unanchored();
    return { ...verifyStatement(encodeUtf8(file), place, options, now), file };
  };
  const find: BlockSource = async ({ calls, http, now }) => {
    const statement = bundle ? readFrom(bundle, now()) : await search(http, now);
    const { block, auditors, file } = statement;
    return {
      ...{ hash: block.hash, number: block.number, anchor: "auditors", endpoints: [] },
      ...{ evidence: { auditors }, statement: file, checkRoot: checkRootIn(statement, calls) },
    };
  };
  return {
    name: "auditors",
    find,
    accepts: ({ auditors = [] }) =>
      policy.keys.filter(({ text }) => auditors.includes(text)).length >= policy.threshold,
  };
};

function unanchored(): VerificationError {
  const message =
    "The bundle is unanchored, because it has no auditors' statement. Get a bundle with a statement, or pass the block's hash as pinned.";
  return new VerificationError("anchor", "UNANCHORED", message);
}

function checkFolders(urls: unknown, allowHttp: boolean | undefined): string[] {
  if (!Array.isArray(urls) || urls.length === 0 || urls.length > MAX_URLS)
    throw invalidArgument("The auditors.urls option", `an array of 1 to ${MAX_URLS} URLs`, urls);
  return [...(urls as unknown[])].map((url) => checkSourceUrl("auditors.urls", url, allowHttp));
}

/**
 * Checks a user's root against the statement. Adds the damage that the auditors found in the root to the evidence. A
 * user without a root at the statement's block must still have no root: if the user now has one, the next statement
 * must confirm it.
 */
function checkRootIn({ block, damagedRoots }: FoundStatement, [call]: BlockRequest["calls"]): CheckRoot {
  return async ({ userID, contract }, root, evidence) => {
    const damage = damagedRoots.find((damaged) => `0x${damaged.root}` === root)?.codes;
    if (damage !== undefined) evidence.damage = damage;
    if (root !== ZERO_WORD || call === undefined) return;
    const answer = await call("eth_call", [{ to: contract, data: encodeGetMerkleTreeRoot(userID) }, "latest"]);
    if (answer === ZERO_WORD) return;
    const message = `The user ${userID} may have a root that is newer than block ${block.number}. This is the newest block that enough auditors signed. Wait for the auditors' next statement.`;
    throw new VerificationError("root", "STATEMENT_TOO_OLD", message, { actual: answer, evidence });
  };
}
