import { encodeUtf8 } from "../../engine/utf8.ts";
import { VerificationError } from "../../errors.ts";
import { checkAllBuiltins } from "../../input/builtins.ts";
import { checkObject, invalidArgument } from "../../input/options.ts";
import { encodeGetMerkleTreeRoot } from "../../registry/calldata.ts";
import type { RpcCall } from "../../transport/jsonRpc.ts";
import { checkSourceUrl } from "../../transport/url.ts";
import type { BlockRequest, FoundBlock } from "../../trust/blockSource.ts";
import { makeTrust, type Trust } from "../../trust/trust.ts";
import { findStatement, type FoundStatement } from "./findStatement.ts";
import { parseSignedStatement } from "./statement.ts";
import {
  acceptStatement,
  type AuditorOptions,
  type AuditorPolicy,
  checkPlace,
  parseAuditorOptions,
  type StatementPlace,
  verifySignatures,
} from "./verifyStatement.ts";

/** The settings of `auditors`. */
export interface AuditorsOptions extends AuditorOptions {
  /**
   * The URLs of folders with statements. You do not have to trust the folders' hosts. Additional hosts improve
   * availability. Only the verification of a bundle needs no URL.
   */
  urls?: readonly string[] | undefined;
}

const MAX_URLS = 16;
/** The contract's return value for a user without a root. */
const ZERO_WORD = `0x${"0".repeat(64)}`;

/**
 * Trusts that fewer than `threshold` of these auditors sign a false block together. The block is the one of the newest
 * statement that enough of them signed, and the contract's answer needs a storage proof under it.
 * @throws ArgumentError ARGUMENT_INVALID, AUDITOR_KEY_INVALID
 * @example
 * const trust = auditors({ keys, threshold: 2, urls: ["https://auditor.example/statements"] });
 */
export function auditors(options: AuditorsOptions): Trust {
  const { urls = [], ...rest } = checkObject("The options of auditors", options);
  const policy = parseAuditorOptions(rest);
  const given = checkUrls(urls);
  return makeTrust("auditors", (place) => {
    checkAllBuiltins();
    const folders = given.map((url) => checkSourceUrl("urls", url, place.allowHttp));
    if (folders.length === 0 && !place.offline)
      throw invalidArgument("The urls option of auditors", "a list of at least one URL", urls);
    // All users of a contact list share one statement. The map's key is the `http` object that these users share.
    const searches = new WeakMap<object, Promise<FoundStatement>>();
    const search = ({ http, now }: BlockRequest) => {
      const started = searches.get(http) ?? findStatement({ folders, place, policy }, http, now);
      searches.set(http, started);
      return started;
    };
    return {
      name: "auditors",
      storageProof: true,
      tag: "finalized",
      find: async (request) => {
        const statement = await search(request);
        const [call] = request.calls;
        return { ...blockOf(statement), ...(call && { checkRoot: checkRootIsKnown(call, statement.block.number) }) };
      },
      findInBundle: ({ statement }) => Promise.resolve(blockOf(readStatement(statement, place, policy))),
      accepts: ({ details: { auditors: signers = [] } = {} }) => {
        const known = new Set(policy.keys.map(({ text }) => text));
        return signers.filter((key) => known.has(key)).length >= policy.threshold;
      },
    };
  });
}

function checkUrls(urls: unknown): readonly unknown[] {
  if (Array.isArray(urls) && urls.length <= MAX_URLS) return [...(urls as unknown[])];
  throw invalidArgument("The urls option of auditors", `an array of at most ${MAX_URLS} URLs`, urls);
}

function blockOf({ block, auditors, file }: Omit<FoundStatement, "signers">): FoundBlock {
  return { ...block, endpoints: [], details: { auditors }, statement: file };
}

/** Verifies the statement of a bundle. @throws VerificationError UNANCHORED, and the errors of `verifyStatement` */
function readStatement(
  file: string | undefined,
  place: StatementPlace,
  policy: AuditorPolicy,
): Omit<FoundStatement, "signers"> {
  if (file === undefined) {
    const message =
      "The bundle is unanchored, because it has no auditors' statement. Get a bundle with a statement, or trust the block's hash with pinnedBlock.";
    throw new VerificationError("anchor", "UNANCHORED", message);
  }
  const signed = parseSignedStatement(encodeUtf8(file));
  checkPlace(signed.statement, place);
  const signers = verifySignatures(signed, policy.keys);
  return { ...acceptStatement(signed.statement, signers, policy, Date.now()), file };
}

/**
 * Checks that a user without a root at the statement's block still has no root. If the user now has a root, the next
 * statement must confirm this root.
 */
function checkRootIsKnown(call: RpcCall, number: number): NonNullable<FoundBlock["checkRoot"]> {
  return async ({ userID, contract }, root, evidence) => {
    if (root !== ZERO_WORD) return;
    const answer = await call("eth_call", [{ to: contract, data: encodeGetMerkleTreeRoot(userID) }, "latest"]);
    if (answer === ZERO_WORD) return;
    const message = `The user ${userID} may have a root that is newer than block ${number}. This is the newest block that enough auditors signed. Wait for the auditors' next statement.`;
    throw new VerificationError("root", "STATEMENT_TOO_OLD", message, { actual: answer, evidence });
  };
}
