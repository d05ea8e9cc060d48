import { VerificationError } from "../../errors.ts";
import { fetchBlockByHash } from "../../ethereum/blocks.ts";
import type { BlockHeader } from "../../ethereum/header.ts";
import { checkObject, invalidArgument } from "../../input/options.ts";
import { encodeGetMerkleTreeRoot } from "../../registry/calldata.ts";
import type { RpcCall } from "../../transport/jsonRpc.ts";
import { checkSourceUrl } from "../../transport/url.ts";
import type { MakeSource } from "../addedSources.ts";
import type { BlockSource } from "../blockSource.ts";
import { findStatement } from "./findStatement.ts";
import { type AuditorOptions, parseAuditorOptions, type VerifiedStatement } from "./verifyStatement.ts";

/** The value of the option `auditors`. */
export interface AuditorsOption extends AuditorOptions {
  /** The URLs of folders with statements. They need no trust: several make statements more available. */
  urls: readonly string[];
}

const MAX_URLS = 16;
/** The slot of a user without a root. */
const ZERO_WORD = `0x${"0".repeat(64)}`;

/** Makes the source of the option `auditors`: a block that enough auditors signed. */
export const makeAuditorsSource: MakeSource = (option, place) => {
  const { urls, ...options } = checkObject("The option auditors", option as AuditorsOption);
  const policy = parseAuditorOptions(options);
  if (!Array.isArray(urls) || urls.length === 0 || urls.length > MAX_URLS)
    throw invalidArgument("The option auditors.urls", `an array of 1 to ${MAX_URLS} URLs`, urls);
  const folders = [...(urls as unknown[])].map((url) => checkSourceUrl("auditors.urls", url, place.allowHttp));
  const keys = new Set(policy.keys.map(({ text }) => text));
  // A contact list reads one statement for all its users. Its requests have the same limits.
  const searches = new WeakMap<object, Promise<VerifiedStatement>>();
  const find: BlockSource = async ({ calls: [call], http, now }) => {
    if (call === undefined) throw new RangeError("There is no endpoint to call.");
    const search = searches.get(http) ?? findStatement({ folders, place, policy }, http, now);
    searches.set(http, search);
    const { block, auditors } = await search;
    const { hash } = block;
    const header = checkNumber(await fetchBlockByHash(call, hash), block.number);
    const checkRoot = checkRootIsKnown(call, block.number);
    return { hash, header, anchor: "auditors", endpoints: [], evidence: { auditors }, checkRoot };
  };
  return {
    name: "auditors",
    find,
    accepts: ({ auditors = [] }) => new Set(auditors.filter((key) => keys.has(key))).size >= policy.threshold,
  };
};

/** @throws VerificationError HEADER_MISMATCH, step "anchor" */
function checkNumber(header: BlockHeader, expected: number): BlockHeader {
  const { number: actual, hash } = header;
  if (actual === expected) return header;
  const message = `The block ${hash} has the number ${actual}, but the auditors signed it as block ${expected}.`;
  throw new VerificationError("anchor", "HEADER_MISMATCH", message, { expected, actual });
}

/** Checks that a user without a root at the statement's block has none since then. Otherwise there is no verdict yet. */
function checkRootIsKnown(call: RpcCall, number: number): NonNullable<Awaited<ReturnType<BlockSource>>["checkRoot"]> {
  return async ({ userID, contract }, root, evidence) => {
    if (root !== ZERO_WORD) return;
    const answer = await call("eth_call", [{ to: contract, data: encodeGetMerkleTreeRoot(userID) }, "latest"]);
    if (answer === ZERO_WORD) return;
    const message = `The user ${userID} may have got a root after block ${number}, the newest one that enough auditors signed. Wait for their next statement.`;
    throw new VerificationError("root", "STATEMENT_TOO_OLD", message, { actual: answer, evidence });
  };
}
