import { VerificationError } from "keyroot/internal/errors";
import { curve41417, type KeyRecord, type KeyType, REGIONS, type Region } from "keyroot/internal/identity";
import { makeMerkleFile, parseMerkleFile } from "keyroot/internal/merkle";
import { findStored, type MerkleFileStore } from "@keyroot/operator/publisher";
import { and, asc, eq, gt, isNotNull } from "../api/database/drizzle.ts";
import pMap from "p-map";
import { type Database, type Databases, readAll, regionalDatabases } from "../api/database/database.ts";
import { batches, publicKeys } from "../keys/tables.ts";
import { batchShares } from "../publishing/tables.ts";

/** The result of comparing the files in all stores with the published roots. */
export interface RebuiltFiles {
  /** Number of files that the stores should have. */
  files: number;
  /** Roots with a missing file that was rebuilt. */
  missing: string[];
  /** Roots with a damaged file that was rebuilt. */
  damaged: string[];
  /** Roots with a missing or damaged file that cannot be rebuilt, because the databases' keys have another root. */
  lost: string[];
}

const PAGE = 100;
const CONCURRENT_FILES = 4;

/**
 * Verifies the files of all published roots in the store of the users' region. Missing and damaged files are rebuilt
 * from the databases' keys. A rebuilt file has the same root and the same bytes as the original.
 * @param keyType the type of the registry's keys. Default: `curve41417`
 * @throws TransportError FILE_UNREADABLE, FILE_UNWRITABLE, and the errors of the stores
 */
export async function rebuildFiles(
  databases: Databases,
  stores: Record<Region, MerkleFileStore>,
  keyType: KeyType = curve41417,
): Promise<RebuiltFiles> {
  const result: RebuiltFiles = { files: 0, missing: [], damaged: [], lost: [] };
  for (const region of REGIONS) {
    for (let after = ""; ;) {
      const roots = await listRoots(databases.regions[region], region, after);
      await pMap(
        roots,
        async (root) => {
          const state = await rebuildFile(root, stores[region], databases, keyType);
          if (state !== "valid") result[state].push(root);
        },
        { concurrency: CONCURRENT_FILES },
      );
      result.files += roots.length;
      const last = roots.at(-1);
      if (last === undefined) break;
      after = last;
    }
  }
  return result;
}

async function rebuildFile(
  root: string,
  store: MerkleFileStore,
  databases: Databases,
  keyType: KeyType,
): Promise<"valid" | "missing" | "damaged" | "lost"> {
  const stored = await findStored(root, store);
  if (stored !== undefined && isFileOf(stored, root, keyType)) return "valid";
  const file = makeMerkleFile(await recordsOf(root, databases), keyType);
  if (file.tree.root !== root) return "lost";
  await store.put(file, { replace: true });
  return stored === undefined ? "missing" : "damaged";
}

function isFileOf(bytes: Uint8Array, root: string, keyType: KeyType): boolean {
  try {
    parseMerkleFile(bytes, root, keyType);
    return true;
  } catch (error) {
    if (error instanceof VerificationError) return false;
    throw error;
  }
}

/** Lists the next published roots of a region's users, in order. */
async function listRoots(database: Database, region: Region, after: string): Promise<string[]> {
  const found = await database
    .selectDistinct({ root: batchShares.root })
    .from(batchShares)
    .innerJoin(batches, eq(batches.root, batchShares.root))
    .where(and(eq(batchShares.region, region), gt(batchShares.root, after), isNotNull(batches.blockNumber)))
    .orderBy(asc(batchShares.root))
    .limit(PAGE);
  return found.map(({ root }) => root);
}

/**
 * Returns the keys under a root from all regions. Another publisher may have put keys of several regions into one file.
 */
function recordsOf(root: string, databases: Databases): Promise<KeyRecord[]> {
  const { userID, pubKey, keyID } = publicKeys;
  return readAll(regionalDatabases(databases), (database) =>
    database.select({ userID, pubKey, keyID }).from(publicKeys).where(eq(publicKeys.root, root)),
  );
}
