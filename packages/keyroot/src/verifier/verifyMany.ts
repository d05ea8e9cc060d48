import { KeyrootError, VerificationError } from "../errors.ts";
import type { UserID } from "../identity/userID.ts";
import { checkFunction, checkObject, invalidArgument } from "../input/options.ts";
import { type MerkleFile, parseMerkleFile } from "../merkle/file.ts";
import { decodeBlockNumber, encodeGetBlockNumber } from "../registry/calldata.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import { type CachedKey, type KeyCache, loadCachedKey, meetsPolicy, storeKey, verifyCachedKey } from "./cache.ts";
import {
  type KeyQuery,
  parseEvidencePolicy,
  parseKeyQuery,
  parseRegistryReference,
  type VerifyOptions,
} from "./options.ts";
import { readRoot } from "./readRoot.ts";
import type { RootReading } from "./rootReading.ts";
import { openSources, type VerifierSources } from "./sources.ts";
import { verifyRecord, verifyRoot } from "./verdict.ts";
import type { VerifiedKey } from "./verifyPublicKey.ts";

/** A user whose key to verify, and the key that a server returned for this user, if there is one. */
export type Contact = Pick<VerifyOptions, "expectedPublicKey"> & { userID: UserID };

export interface VerifyManyOptions extends Omit<VerifyOptions, "expectedPublicKey"> {
  /** Stores verified keys. A root that was read at a finalized block is not requested again. */
  cache?: KeyCache | undefined;
}

/** The outcome for one contact: a verified key, or the error that `verifyPublicKey` would throw. */
export type ContactOutcome = { userID: UserID; verified: VerifiedKey } | { userID: UserID; error: KeyrootError };

/** How many RPC calls share a request, and how many files are held in memory at once. */
const BATCH_SIZE = 50;
const MAX_FILES_AT_ONCE = 4;

/** A user's verified root. The file of the root is still to be verified. */
interface FoundRoot extends Pick<RootReading, "evidence" | "callContract"> {
  query: KeyQuery;
  /** 64 lowercase hex digits. */
  root: string;
}

/**
 * Verifies the keys of a contact list, each as `verifyPublicKey` does. RPC calls share requests, all roots are read at
 * one block, and each file is fetched and rebuilt once.
 *
 * With a cache, a user whose root changed or disappeared since the last verification gets the error EQUIVOCATION with
 * both pieces of evidence: someone shows different answers to different clients, or, if the earlier block was not
 * final, the chain was reorganised.
 * @returns an outcome for each contact, in the order of the list
 * @throws ArgumentError if the list or the options are invalid; no request was sent
 * @example
 * const outcomes = await verifyMany([{ userID, expectedPublicKey: keyFromServer }], {
 *   rpc: "https://rpc.example",
 *   chainId: 1,
 *   contract: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
 *   merkleUrl: "https://files.example",
 *   block: "finalized",
 *   cache: new Map(),
 * });
 * for (const outcome of outcomes) {
 *   console.log(outcome.userID, "verified" in outcome ? outcome.verified.publicKey : outcome.error.code);
 * }
 */
export async function verifyMany(contacts: readonly Contact[], options: VerifyManyOptions): Promise<ContactOutcome[]> {
  const registry = parseRegistryReference(options);
  const policy = parseEvidencePolicy(options);
  const cache = checkCache(options.cache);
  checkContacts(contacts);
  // Loaded only when needed: verifyPublicKey does not need it.
  const { default: pMap } = await import("p-map");
  const sources = openSources(options, BATCH_SIZE, shareEqualCalls);

  const findContact = async ({ userID, expectedPublicKey }: Contact): Promise<FoundRoot | ContactOutcome> => {
    try {
      const query = parseKeyQuery(registry, userID, expectedPublicKey);
      const cached = cache && (await loadCachedKey(cache, query, policy));
      if (cached && meetsPolicy(cached, policy)) return { userID, verified: verifyCachedKey(query, cached) };
      const reading = await readRoot(query, policy, sources.calls, options.now);
      return cached ? expectRoot(cached, query, reading) : verifyReading(query, reading);
    } catch (error) {
      return toOutcome(userID, error);
    }
  };
  const verifyUsersOfFile = async (root: string, users: readonly FoundRoot[]) => {
    const file = fetchAndParse(sources, root);
    const outcomes: [FoundRoot, ContactOutcome][] = [];
    for (const user of users) {
      const { query } = user;
      try {
        const verified = await verifyUser(user, await file);
        if (cache) await storeKey(cache, query, policy, verified);
        outcomes.push([user, { userID: query.userID, verified }]);
      } catch (error) {
        outcomes.push([user, toOutcome(query.userID, error)]);
      }
    }
    return outcomes;
  };

  try {
    const found = await Promise.all(contacts.map(findContact));
    const byRoot = Map.groupBy(
      found.filter((contact) => "root" in contact),
      ({ root }) => root,
    );
    const outcomes = await pMap(byRoot, ([root, users]) => verifyUsersOfFile(root, users), {
      concurrency: MAX_FILES_AT_ONCE,
    });
    const outcomeOf = new Map(outcomes.flat());
    return found.flatMap((contact) => ("root" in contact ? (outcomeOf.get(contact) ?? []) : contact));
  } finally {
    sources.close();
  }
}

/** @throws VerificationError, TransportError as `verifyRoot` */
function verifyReading(query: KeyQuery, { answers, evidence, callContract }: RootReading): FoundRoot {
  return { query, root: verifyRoot(query, answers, evidence), evidence, callContract };
}

/** As `verifyReading`, for a user with a cached root. @throws VerificationError EQUIVOCATION, step "root" */
function expectRoot(cached: CachedKey, query: KeyQuery, reading: RootReading): FoundRoot {
  let found: FoundRoot;
  try {
    found = verifyReading(query, reading);
  } catch (error) {
    if (!(error instanceof VerificationError) || error.code !== "NOT_PUBLISHED") throw error;
    throw equivocation(query, cached, { root: undefined, evidence: error.evidence }, error);
  }
  if (found.root === cached.root) return found;
  throw equivocation(query, cached, { root: found.root, evidence: found.evidence });
}

function equivocation(
  { userID }: KeyQuery,
  { root, evidence, final }: CachedKey,
  now: { root: string | undefined; evidence: unknown },
  cause?: unknown,
): VerificationError {
  const reason = final
    ? "The contract sets a root once, so one of the answers is false"
    : "One of the answers is false, or the chain was reorganised";
  const message = `The user ${userID} had the root ${root} before and has ${now.root ?? "none"} now. ${reason}.`;
  return new VerificationError("root", "EQUIVOCATION", message, { expected: { root, evidence }, actual: now, cause });
}

async function fetchAndParse(sources: VerifierSources, root: string): Promise<MerkleFile> {
  return parseMerkleFile(await sources.fetchFile(root), root);
}

/** @throws as `verifyRecord`; and as the call */
async function verifyUser({ query, root, evidence, callContract }: FoundRoot, file: MerkleFile): Promise<VerifiedKey> {
  const { contract, chainId } = query;
  const verified = verifyRecord(query, root, file);
  const blockNumber = decodeBlockNumber(await callContract(encodeGetBlockNumber(root)));
  return { ...verified, root, blockNumber, contract, chainId, evidence };
}

/** The outcome of a failed contact. @throws what is not a KeyrootError: a defect, or an error of the caller's cache */
function toOutcome(userID: UserID, error: unknown): ContactOutcome {
  if (error instanceof KeyrootError) return { userID, error };
  throw error;
}

/** Sends equal calls once. All contacts then share one block, and the answers about it. */
function shareEqualCalls(call: RpcCall): RpcCall {
  const results = new Map<string, Promise<unknown>>();
  return (method, params) => {
    const key = JSON.stringify([method, params]);
    const result = results.get(key) ?? call(method, params);
    results.set(key, result);
    return result;
  };
}

function checkContacts(contacts: readonly Contact[]): void {
  if (!Array.isArray(contacts)) throw invalidArgument("The list of contacts", "an array of { userID }", contacts);
  for (const [i, contact] of contacts.entries())
    checkObject(`contacts[${i}]`, contact as Contact, "an object with userID");
}

function checkCache(cache: KeyCache | undefined): KeyCache | undefined {
  if (cache === undefined) return undefined;
  const methods: Record<"get" | "set", unknown> = checkObject("The option cache", cache, "an object with get and set");
  checkFunction("The option cache.get", methods.get);
  checkFunction("The option cache.set", methods.set);
  return cache;
}
