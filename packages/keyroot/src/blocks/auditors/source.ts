import { encodeUtf8 } from "../../engine/utf8.ts";
import { VerificationError } from "../../errors.ts";
import { checkBoolean, checkInteger, checkObject, invalidArgument, optional } from "../../input/options.ts";
import { encodeGetMerkleTreeRoot } from "../../registry/calldata.ts";
import { checkStore, type Store } from "../../store/store.ts";
import type { RpcCall } from "../../transport/jsonRpc.ts";
import { checkSourceUrl } from "../../transport/url.ts";
import type { MakeSource, SourcePlace } from "../addedSources.ts";
import type { BlockSource } from "../blockSource.ts";
import type { StatementLimits } from "./fetchStatement.ts";
import { currentSigners } from "./auditorList.ts";
import { type Auditors, findAuditors, type ListPlace } from "./findAuditors.ts";
import { findStatement, type FoundStatement } from "./findStatement.ts";
import type { KeyProver } from "./proveKey.ts";
import { parseSignedStatement } from "./statement.ts";
import {
  acceptStatement,
  type AuditorOptions,
  checkPlace,
  parseAuditorOptions,
  verifySignatures,
} from "./verifyStatement.ts";

/** The value of the `auditors` option. */
export interface AuditorsOption extends AuditorOptions {
  /**
   * The URLs of folders with statements. You do not have to trust the folders' hosts. Additional hosts improve
   * availability.
   */
  urls: readonly string[];
  /** The number of the auditor list that contains `keys`. Default: 0, for the registry's original auditors. */
  sequence?: number | undefined;
  /**
   * The store for newer lists of auditors. Without a persistent store, a new process may accept a revoked key again.
   * With the `proofs` option, the store also contains the newest statement. A new process then does not verify the
   * statement's signatures again. Default: memory.
   */
  store?: Store | undefined;
}

const MAX_URLS = 16;
/** The contract's return value for a user without a root. */
const ZERO_WORD = `0x${"0".repeat(64)}`;

/**
 * Makes the block source for the `auditors` option. The source finds the block of the newest statement that enough
 * auditors signed. For a bundle, the source reads the bundle's statement and sends no request.
 */
export const makeAuditorsSource: MakeSource = (option, place) => {
  const {
    urls,
    sequence = 0,
    store = new Map<string, string>(),
    ...options
  } = checkObject("The auditors option", option as AuditorsOption);
  const policy = parseAuditorOptions(options);
  const { bundle } = place;
  const folders = bundle ? [] : checkFolders(urls, place.allowHttp);
  checkInteger("The auditors.sequence option", sequence, 0);
  const lists: ListPlace = { place, store: checkStore("The auditors.store option", store) };
  let auditors: Auditors = { policy, folders, sequence };
  // All users of a contact list share one statement. The map's key is the `http` object that these users share.
  const searches = new WeakMap<object, Promise<FoundStatement>>();
  const update = async (search: Parameters<typeof findAuditors>[2]) => {
    const found = await findAuditors(auditors, lists, search);
    // A concurrent search may have found newer lists.
    if (found.sequence > auditors.sequence) auditors = found;
    return auditors;
  };
  const findSigned = async (http: StatementLimits, now: () => number): Promise<FoundStatement> => {
    if (bundle) {
      const { statement } = bundle;
      if (statement === undefined) throw unanchored();
      const { policy } = await update(undefined);
      const signed = parseSignedStatement(encodeUtf8(statement));
      checkPlace(signed.statement, place);
      const signers = verifySignatures(signed, policy.keys);
      return { ...acceptStatement(signed.statement, signers, policy, now()), signers, file: statement };
    }
    const { policy, folders } = await update({ http, now: now() });
    return findStatement({ folders, place, policy }, http, now);
  };
  const search = (http: StatementLimits, now: () => number) => {
    const started = searches.get(http) ?? findSigned(http, now);
    searches.set(http, started);
    return started;
  };
  const find: BlockSource = async ({ calls: [call], http, now }) => {
    const { block, auditors: signers, file } = await search(http, now);
    const checkRoot = call && checkRootIsKnown(call, block.number);
    const found = { ...block, anchor: "auditors", endpoints: [], evidence: { auditors: signers } } as const;
    return { ...found, statement: file, ...(checkRoot && { checkRoot }) };
  };
  const merkleUrl = checkProofs(place);
  let prover: Promise<KeyProver> | undefined;
  const openProver = async (merkleUrl: string) => {
    // This module is loaded on demand, because most apps that trust auditors read whole files.
    const { KeyProver } = await import("./proveKey.ts");
    return new KeyProver({ place, merkleUrl, store: lists.store });
  };
  return {
    name: "auditors",
    find,
    accepts: async ({ auditors: signers = [] }) => {
      const { policy } = await update(undefined);
      return currentSigners(signers, policy).length >= policy.threshold;
    },
    ...(merkleUrl !== undefined && {
      proveKey: async (query, sources, now) => {
        const findNewest = () => search(sources.http, now);
        prover ??= openProver(merkleUrl);
        return (await prover).prove(query, sources, now, { ...(await update(undefined)), findNewest });
      },
    }),
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
 * Checks the `proofs` option. Rejects `proofs` together with the `codeHash`, `storageProof` or `maxAgeMs` option. Short
 * proofs do not show the contract's code or the block's age.
 * @returns the URL of the file host if the option is set
 */
function checkProofs(place: SourcePlace): string | undefined {
  if (!optional(checkBoolean, "The proofs option", place.proofs)) return undefined;
  for (const name of ["codeHash", "storageProof", "maxAgeMs"] as const)
    if (place[name] !== undefined)
      throw invalidArgument(`The ${name} option`, "undefined if proofs is set", place[name]);
  return place.merkleUrl;
}

/**
 * Checks that a user without a root at the statement's block still has no root. If the user now has a root, the next
 * statement must confirm this root.
 */
function checkRootIsKnown(call: RpcCall, number: number): NonNullable<Awaited<ReturnType<BlockSource>>["checkRoot"]> {
  return async ({ userID, contract }, root, evidence) => {
    if (root !== ZERO_WORD) return;
    const answer = await call("eth_call", [{ to: contract, data: encodeGetMerkleTreeRoot(userID) }, "latest"]);
    if (answer === ZERO_WORD) return;
    const message = `The user ${userID} may have a root that is newer than block ${number}. This is the newest block that enough auditors signed. Wait for the auditors' next statement.`;
    throw new VerificationError("root", "STATEMENT_TOO_OLD", message, { actual: answer, evidence });
  };
}
