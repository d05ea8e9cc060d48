import { KeyrootError, VerificationError } from "../errors.ts";
import type { UserID } from "../identity/userID.ts";
import { type MerkleFile, parseMerkleFile } from "../merkle/file.ts";
import { decodeBlockNumber } from "../registry/calldata.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import { verifyCached, type KeyCache, recall, remember, type SeenKey, suffices } from "./cache.ts";
import { verifyRecord, type KeyQuery } from "./verdict.ts";
import { parseKeyQuery, type VerifyOptions } from "./options.ts";
import { type FoundRoot, openSources, type VerifierSources } from "./sources.ts";
import type { VerifiedKey } from "./verifyPublicKey.ts";

/** A user whose key is to be verified, and the key that a server handed out for them, where there is one. */
export type Contact = Pick<VerifyOptions, "expectedPublicKey"> & { userID: UserID };

export interface VerifyManyOptions extends Omit<VerifyOptions, "expectedPublicKey"> {
  /** Remembers verified keys: a root that was read at a finalized block is not asked for again. */
  cache?: KeyCache | undefined;
}

/** What became of one contact: a verified key, or the error that `verifyPublicKey` would have thrown. */
export type ContactOutcome = { userID: UserID; verified: VerifiedKey } | { userID: UserID; error: KeyrootError };

/** How many calls share a request, and how many files are held at once. */
const BATCH_SIZE = 50;
const FILES_AT_ONCE = 4;

/**
 * Verifies the keys of a whole contact list, each as `verifyPublicKey` would: calls share requests, all contacts are
 * asked about at one block, and each root's file is fetched and rebuilt once.
 *
 * With a cache, a user who was seen before with another root, or who has none any more, gets the error EQUIVOCATION,
 * which carries both pieces of evidence: somebody shows different things to different askers, or, where the earlier block
 * was not final, the chain was reorganised.
 * @returns an outcome for each contact, in their order
 * @throws ArgumentError where the options are unusable; nothing was asked then
 */
export async function verifyMany(contacts: readonly Contact[], options: VerifyManyOptions): Promise<ContactOutcome[]> {
  const session = openSources(options, BATCH_SIZE, remembering);
  try {
    const outcomes = new Map<Contact, ContactOutcome>();
    const settle = async (contact: Contact, work: () => Promise<VerifiedKey | undefined>) => {
      const { userID } = contact;
      try {
        const verified = await work();
        if (verified !== undefined) outcomes.set(contact, { userID, verified });
      } catch (error) {
        if (!(error instanceof KeyrootError)) throw error;
        outcomes.set(contact, { userID, error });
      }
    };

    const byRoot = new Map<string, { contact: Contact; question: KeyQuery; found: FoundRoot }[]>();
    await Promise.all(
      contacts.map((contact) =>
        settle(contact, async () => {
          const question = parseKeyQuery(contact.userID, { ...options, expectedPublicKey: contact.expectedPublicKey });
          const seen = options.cache && (await recall(options.cache, question, session.demand));
          if (seen !== undefined && suffices(seen, session.demand)) return verifyCached(question, seen);
          const found = await findRoot(session, question, seen);
          byRoot.set(found.root, [...(byRoot.get(found.root) ?? []), { contact, question, found }]);
          return undefined;
        }),
      ),
    );

    const waiting = [...byRoot];
    const worker = async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const [root, members] = next;
        const file = fetchAndParse(session, root);
        for (const { contact, question, found } of members) {
          await settle(contact, async () => {
            const verified = await judgeContact(question, found, await file);
            if (options.cache) await remember(options.cache, question, verified, session.demand);
            return verified;
          });
        }
      }
    };
    await Promise.all(Array.from({ length: FILES_AT_ONCE }, worker));

    return contacts.flatMap((contact) => outcomes.get(contact) ?? []);
  } finally {
    session.end();
  }
}

/** @throws VerificationError EQUIVOCATION, and as `VerifierSources.findRoot` */
async function findRoot(session: VerifierSources, question: KeyQuery, seen: SeenKey | undefined): Promise<FoundRoot> {
  if (seen === undefined) return session.findRoot(question);
  let found: FoundRoot;
  try {
    found = await session.findRoot(question);
  } catch (error) {
    if (!(error instanceof VerificationError) || error.code !== "NOT_PUBLISHED") throw error;
    throw equivocation(question, seen, { root: undefined, evidence: error.evidence }, error);
  }
  if (found.root === seen.root) return found;
  throw equivocation(question, seen, { root: found.root, evidence: found.evidence });
}

function equivocation(
  { userID }: KeyQuery,
  { root, evidence, final }: SeenKey,
  now: { root: string | undefined; evidence: unknown },
  cause?: unknown,
): VerificationError {
  const why = final
    ? "A root is set once: one of the answers is a lie"
    : "One of the answers is a lie, or the chain was reorganised";
  const message = `The user ${userID} had the root ${root} before, and has ${now.root ?? "none"} now. ${why}.`;
  return new VerificationError("root", "EQUIVOCATION", message, { expected: { root, evidence }, actual: now, cause });
}

async function fetchAndParse(session: VerifierSources, root: string): Promise<MerkleFile> {
  return parseMerkleFile(await session.fetchFile(root), root);
}

async function judgeContact(question: KeyQuery, found: FoundRoot, file: MerkleFile): Promise<VerifiedKey> {
  const { root, evidence, askBlockNumber } = found;
  const { contract, chainId } = question;
  const judged = verifyRecord(question, root, file);
  return { ...judged, root, blockNumber: decodeBlockNumber(await askBlockNumber()), contract, chainId, evidence };
}

/** Sends a call that was made before no second time: all contacts then share one block, and what is asked about it. */
function remembering(call: RpcCall): RpcCall {
  const made = new Map<string, Promise<unknown>>();
  return (method, params) => {
    const key = JSON.stringify([method, params]);
    const promise = made.get(key) ?? call(method, params);
    made.set(key, promise);
    return promise;
  };
}
