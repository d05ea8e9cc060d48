import { encodeUtf8 } from "../../engine/utf8.ts";
import { VerificationError } from "../../errors.ts";
import type { Store } from "../../store/store.ts";
import { recoverable } from "../../transport/timeout.ts";
import { parseSignedAuditorList, type SignedAuditorList, verifyAuditorList } from "./auditorList.ts";
import { fetchAuditorList, limitsOfRound, type StatementLimits } from "./fetchStatement.ts";
import { onePerKey, serializeSignedNote } from "./signedNote.ts";
import { type AuditorPolicy, type StatementPlace, verifySignatures } from "./verifyStatement.ts";

/** The auditors that the verifier trusts now, and the folders with the auditors' statements. */
export interface Auditors {
  policy: AuditorPolicy;
  folders: readonly string[];
  /** The number of the list that contains these auditors. The original auditors have the number 0. */
  sequence: number;
}

/** The registry that the auditors audit, and the store for newer lists of auditors. */
export interface ListPlace {
  place: StatementPlace;
  store: Store;
}

interface ListSearch {
  http: StatementLimits;
  /** The current time in ms since 1970. */
  now: number;
}

/**
 * Finds newer auditors. Reads newer lists of auditors from the store first, and then from the folders. The auditors
 * that a list replaces must have signed the list. A damaged store or a dishonest host can hide a list, but cannot
 * change a list.
 * @param search the limits of the requests. Undefined to read only the store
 * @throws VerificationError STATEMENT_CONFLICT for two different lists with one number
 */
export async function findAuditors(
  auditors: Auditors,
  { place, store }: ListPlace,
  search: ListSearch | undefined,
): Promise<Auditors> {
  const name = `keyroot-auditors:${place.chainId}:${place.contract.toLowerCase()}:${auditors.sequence + 1}`;
  // Accept signatures of any age. The signature times were compared with the clock before the list was stored.
  const stored = acceptList(auditors, place, Infinity, parseStored(await store.get(name)));
  const next = stored ?? (search && (await fetchNext(auditors, place, search)));
  if (next === undefined) return auditors;
  if (stored === undefined) await store.set(name, next.file);
  return findAuditors(next, { place, store }, search);
}

interface Successors extends Auditors {
  file: string;
}

async function fetchNext(
  auditors: Auditors,
  place: StatementPlace,
  { http, now }: ListSearch,
): Promise<Successors | undefined> {
  const { policy, folders, sequence } = auditors;
  const limits = limitsOfRound(http);
  const byText = new Map<string, SignedAuditorList>();
  const read = async (folder: string) => {
    const signed = parseSignedAuditorList(await fetchAuditorList(folder, sequence + 1, limits));
    // Reject a file with a false signature before counting the file's signatures.
    verifySignatures(signed, policy.keys);
    const known = byText.get(signed.text)?.cosignatures ?? [];
    byText.set(signed.text, { ...signed, cosignatures: onePerKey([...known, ...signed.cosignatures], policy.keys) });
  };
  await Promise.all(folders.map((folder) => read(folder).catch(recoverable)));
  const [accepted, other] = [...byText.values()].flatMap((signed) => acceptList(auditors, place, now, signed) ?? []);
  if (accepted === undefined || other === undefined) return accepted;
  const message = `Enough auditors signed two different auditor lists with the number ${sequence + 1}. Inform the operator.`;
  throw new VerificationError("anchor", "STATEMENT_CONFLICT", message, { expected: accepted.file, actual: other.file });
}

/** @returns undefined if the list has a different number or contract, or too few signatures */
function acceptList(
  { policy, folders, sequence }: Auditors,
  place: StatementPlace,
  now: number,
  signed: SignedAuditorList | undefined,
): Successors | undefined {
  if (signed?.list.sequence !== sequence + 1) return undefined;
  return unlessRefused(() => {
    const { auditors, policy: next } = verifyAuditorList(signed, place, policy, now);
    return {
      policy: next,
      folders: [...new Set([...folders, ...auditors.map(({ url }) => url)])],
      sequence: sequence + 1,
      file: serializeSignedNote(signed),
    };
  });
}

function parseStored(text: unknown): SignedAuditorList | undefined {
  return typeof text === "string" ? unlessRefused(() => parseSignedAuditorList(encodeUtf8(text))) : undefined;
}

/** Returns undefined if the list is malformed or was rejected. */
function unlessRefused<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    recoverable(error);
    return undefined;
  }
}
