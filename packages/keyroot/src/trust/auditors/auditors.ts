import { encodeUtf8 } from "../../engine/utf8.ts";
import { VerificationError } from "../../errors.ts";
import { checkObject, invalidArgument } from "../../input/options.ts";
import { encodeGetMerkleTreeRoot } from "../../registry/calldata.ts";
import { checkSourceUrl } from "../../transport/url.ts";
import type { BlockRequest, CheckRoot, FoundBlock } from "../blockSource.ts";
import { sharedSearch } from "../sharedSearch.ts";
import { makeTrust, type Trust } from "../trust.ts";
import { findStatement, type FoundStatement } from "./findStatement.ts";
import { type AuditorOptions, parseAuditorOptions, verifyByPolicy } from "./verifyStatement.ts";

/** The settings of `auditors`. */
export interface AuditorsOptions extends AuditorOptions {
  /**
   * The URLs of folders with the auditors' statements. They are required, except for the verification of a bundle. You
   * do not have to trust the hosts of these folders. Additional hosts improve availability.
   */
  urls?: readonly string[] | undefined;
}

const MAX_URLS = 16;
/** The contract's return value for a user without a root. */
const ZERO_WORD = `0x${"0".repeat(64)}`;

/**
 * Trusts a block that at least `threshold` of these auditors signed. The contract is read at the block of the newest
 * statement with enough signatures, and a storage proof must confirm its answer. A false block is accepted only if at
 * least `threshold` auditors sign it.
 * @throws ArgumentError ARGUMENT_INVALID, AUDITOR_KEY_INVALID
 * @example
 * const trust = auditors({ keys, threshold: 2, urls: ["https://auditor.example/statements"] });
 */
export function auditors(options: AuditorsOptions): Trust {
  const { urls = [], ...trusted } = checkObject("The options of auditors", options);
  const policy = parseAuditorOptions(trusted);
  const given = checkUrls(urls);
  return makeTrust("auditors", (place) => {
    const folders = given.map((url) => checkSourceUrl("urls", url, place.allowHttp));
    if (folders.length === 0 && !place.offline)
      throw invalidArgument("The urls option of auditors", "a list of at least one URL", urls);
    const search = sharedSearch(({ http, now }) => findStatement({ folders, place, policy }, http, now));
    return {
      storageProof: true,
      tag: "finalized",
      findBlock: async (request) => blockOf(await search(request), request.calls),
      findInBundle: ({ statement: file }) => {
        if (file === undefined) throw unanchored();
        return blockOf({ ...verifyByPolicy(encodeUtf8(file), place, policy), file }, []);
      },
      accepts: ({ details: { auditors: signers = [] } = {} }) =>
        policy.keys.filter(({ text }) => signers.includes(text)).length >= policy.threshold,
    };
  });
}

function checkUrls(urls: unknown): readonly unknown[] {
  if (Array.isArray(urls) && urls.length <= MAX_URLS) return [...(urls as unknown[])];
  throw invalidArgument("The urls option of auditors", `an array of at most ${MAX_URLS} URLs`, urls);
}

function blockOf(statement: FoundStatement, calls: BlockRequest["calls"]): FoundBlock {
  const { block, auditors, file } = statement;
  const { hash, number } = block;
  return {
    hash,
    number,
    endpoints: [],
    details: { auditors },
    statement: file,
    checkRoot: checkRootIn(statement, calls),
  };
}

function unanchored(): VerificationError {
  const message =
    "The bundle is unanchored, because it has no auditors' statement. Get a bundle with a statement, or trust the hash of its block (pinned block).";
  return new VerificationError("anchor", "UNANCHORED", message);
}

/**
 * Returns the check of a user's root against the auditors' statement. If the statement lists the root as damaged, the
 * check adds the damage to the evidence. If the user has a root now, but had none at the statement's block, the check
 * fails until a newer statement confirms the root.
 */
function checkRootIn({ block, damagedRoots }: FoundStatement, [call]: BlockRequest["calls"]): CheckRoot {
  return async ({ userID, contract }, root, evidence) => {
    const [damaged] = damagedRoots.filter((one) => `0x${one.root}` === root);
    if (damaged !== undefined) evidence.damage = damaged.codes;
    if (root !== ZERO_WORD || call === undefined) return;
    const answer = await call("eth_call", [{ to: contract, data: encodeGetMerkleTreeRoot(userID) }, "latest"]);
    if (answer === ZERO_WORD) return;
    const message = `The user ${userID} may have a root that is newer than block ${block.number}. This is the newest block that enough auditors signed. Wait for the auditors' next statement.`;
    throw new VerificationError("root", "STATEMENT_TOO_OLD", message, { actual: answer, evidence });
  };
}
