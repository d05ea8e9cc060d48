import type { KeyRecord } from "../identity/keyRecord.ts";
import { cutIntoFiles, DEFAULT_USERS_PER_FILE } from "../publisher/cutIntoFiles.ts";
import { FolderStore } from "../publisher/folderStore.ts";
import { publish } from "../publisher/publish.ts";
import { readRegistry } from "../publisher/registryAbi.ts";
import { RegistryWriter } from "../publisher/registryWriter.ts";
import { DEFAULT_LIMITS } from "../transport/fetchBytes.ts";
import { rpcCaller } from "../transport/jsonRpc.ts";
import type { ChainConfig } from "./config.ts";
import { REGIONS, type Region } from "../identity/region.ts";
import type { PublicKeyStore } from "./store/publicKeys.ts";

/** A batch of keys that was published. */
export interface PublishedBatch {
  /** 64 hex digits in lower case. */
  root: string;
  /** How many users have this root now. */
  users: number;
  transaction: string;
  block: number;
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
): Promise<PublishedBatch[]> {
  const { rpcBytes: maxBytes, timeoutMs } = DEFAULT_LIMITS;
  const call = rpcCaller(rpcUrl, { maxBytes, timeoutMs });
  const registry = await RegistryWriter.connect(call, contract);
  const done: PublishedBatch[] = [];

  const publishBatch = async (region: Region, records: readonly KeyRecord[]): Promise<void> => {
    const { published, kept } = await publish(records, { registry, store: new FolderStore(files[region]) });
    for (const [root, those] of Map.groupBy(kept, (user) => user.root)) {
      const block = Number(await readRegistry(call, contract, "getBlockNumber", `0x${root}`));
      await keys.foundOnChain(
        region,
        root,
        those.map(({ userID }) => userID),
        block,
        now(),
      );
    }
    for (const { root, transactionHash, blockNumber, addedCount } of published) {
      await keys.published(region, root, transactionHash, blockNumber);
      done.push({ root, users: addedCount, transaction: transactionHash, block: blockNumber });
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
