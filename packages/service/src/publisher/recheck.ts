import { KeyrootError } from "keyroot/internal/errors";
import type { Region } from "keyroot/internal/identity";
import { TransportError } from "../api/base/errors.ts";
import { SERVICE } from "../api/base/author.ts";
import { type Databases, distinctRegions } from "../api/database/database.ts";
import type { PublicationStore } from "../publishing/publications.ts";
import type { Difference } from "../publishing/publisherState.ts";
import type { RootCheck } from "./rootCheck.ts";

export interface Recheck {
  roots: number;
  /**
   * The number of keys that the database recorded as published although they are not on the chain. They are submitted
   * again.
   */
  lost: number;
  /** Roots that the check could not confirm. */
  differences: Difference[];
}

export interface RecheckOptions {
  databases: Databases;
  publications: PublicationStore;
  check: RootCheck;
  now: () => number;
}

const PAGE = 100;

/**
 * Compares published roots with the chain and the Merkle-tree files, and corrects the database. Keys that are not on
 * the chain are submitted again. Stored keys that differ from the published ones are replaced. The caller must hold the
 * publisher's lease.
 * @param before compares only roots that were last checked before this time
 * @param until starts no comparison after this time. Default: no limit
 * @throws TransportError if an endpoint does not respond. The next call continues with the remaining roots
 */
export async function recheck(options: RecheckOptions, before: number, until = Infinity): Promise<Recheck> {
  const { databases, publications, check, now } = options;
  const result: Recheck = { roots: 0, lost: 0, differences: [] };
  const final = await check.finalBlock();
  for (const region of distinctRegions(databases)) {
    for (;;) {
      const roots = await publications.listToCheck(region, before, PAGE);
      if (roots.length === 0) break;
      for (const root of roots) {
        if (now() > until) return result;
        result.roots++;
        const { lost, code } = await recheckRoot(root, region, final, options, before);
        result.lost += lost;
        if (code !== null) result.differences.push({ region, root, code });
      }
    }
  }
  return result;
}

/**
 * Compares one root.
 * @param unconfirmedAt the check time to record if the root's data are unavailable. It is later than the check times of
 *   all other due roots, so that the other roots are compared first
 * @returns the number of lost keys, and the error code of the check
 */
export async function recheckRoot(
  root: string,
  region: Region,
  final: number,
  { publications, check, now }: RecheckOptions,
  unconfirmedAt: number,
): Promise<{ lost: number; code: string | null }> {
  try {
    const userIDs = await publications.usersOf(region, root);
    const { added, blockHash, records, lost } = await check.check(root, userIDs, final);
    if (added !== undefined && blockHash !== undefined)
      await publications.adoptPublished(region, { root, blockHash, ...added }, records, now(), SERVICE);
    if (lost.length > 0) await publications.markLost(region, root, lost, now());
    else await publications.noteCheck(region, root, null, now());
    return { lost: lost.length, code: lost.length > 0 ? "NOT_PUBLISHED" : null };
  } catch (error) {
    const code = await codeOfFailedCheck(error, check);
    await publications.noteCheck(region, root, code, error instanceof TransportError ? unconfirmedAt : now());
    return { lost: 0, code };
  }
}

/**
 * Returns the error code of a root's failed check, so that the comparison can continue with the other roots.
 * @throws the error if the comparison was aborted or has a defect; TransportError if the endpoints do not respond at
 *   all
 */
export async function codeOfFailedCheck(error: unknown, check: RootCheck): Promise<string> {
  if (!(error instanceof KeyrootError) || error.code === "ABORTED") throw error;
  if (error instanceof TransportError) await check.finalBlock();
  return error.code;
}
