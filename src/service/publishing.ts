import type { KeyRecord } from "../identity/keyRecord.ts";
import { cutIntoFiles, DEFAULT_USERS_PER_FILE } from "../publisher/cutIntoFiles.ts";
import { FolderStore } from "../publisher/folderStore.ts";
import { publish } from "../publisher/publish.ts";
import { RegistryWriter } from "../publisher/registryWriter.ts";
import { DEFAULT_LIMITS } from "../transport/fetchBytes.ts";
import { rpcCaller } from "../transport/jsonRpc.ts";
import type { ChainConfig } from "./config.ts";
import { REGIONS, type Region } from "./regions.ts";
import type { PublicKeyStore } from "./store/publicKeys.ts";

/** What publishing did. */
export interface Published {
  /** How many users' keys were published now. */
  published: number;
  roots: string[];
}

/**
 * Publishes the keys that are pending, region by region. A batch is noted under its root before it goes out, and one that
 * was noted and is not on the chain goes out again first.
 * @param now milliseconds since 1970
 */
export async function publishPending(
  keys: PublicKeyStore,
  { rpcUrl, contract, files }: ChainConfig,
  now: () => number,
): Promise<Published> {
  const { rpcBytes: maxBytes, timeoutMs } = DEFAULT_LIMITS;
  const registry = await RegistryWriter.connect(rpcCaller(rpcUrl, { maxBytes, timeoutMs }), contract);
  const done: Published = { published: 0, roots: [] };

  const publishBatch = async (region: Region, records: readonly KeyRecord[]): Promise<void> => {
    const { published } = await publish(records, { registry, store: new FolderStore(files[region]) });
    for (const { root, transactionHash, blockNumber, addedCount } of published) {
      await keys.published(region, root, transactionHash, blockNumber);
      done.published += addedCount;
      done.roots.push(root);
    }
  };

  for (const region of REGIONS) {
    for (const records of await keys.submitted(region)) await publishBatch(region, records);
    const pending = await keys.pending(region);
    for (const file of pending.length === 0 ? [] : cutIntoFiles(pending, DEFAULT_USERS_PER_FILE)) {
      await keys.submit(
        region,
        file.tree.root,
        file.records.map(({ userID }) => userID),
        now(),
      );
      await publishBatch(region, file.records);
    }
  }
  return done;
}
