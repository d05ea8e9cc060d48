import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type FreshRegistry, freshRegistry } from "../chain/freshRegistry.ts";
import { LOCAL } from "../chain/local.ts";
import type { KeyRecord } from "../../../packages/keyroot/src/identity/serializedRecord.ts";
import type { RpcCall } from "../../../packages/keyroot/src/transport/jsonRpc.ts";
import { verifyPublicKey } from "../../../packages/keyroot/src/verifier/verifyPublicKey.ts";
import { FolderStore } from "../../../packages/operator/src/publisher/files/folderStore.ts";
import { publish } from "../../../packages/operator/src/publisher/publish.ts";
import type { PublishOptions } from "../../../packages/operator/src/publisher/publishOptions.ts";
import { ENDLESS_MS } from "../endless.ts";

/** For tests that publish: each test has a new registry and an empty folder of files. */
export function publishing(startChain: Parameters<typeof freshRegistry>[0]) {
  const fresh: FreshRegistry = freshRegistry(startChain);
  beforeEach(async () => {
    for (const name of await readdir(fresh.filesDir)) await rm(join(fresh.filesDir, name));
  });

  const publishVia = async (via: RpcCall, records: readonly KeyRecord[], options: Partial<PublishOptions> = {}) =>
    publish(records, {
      ...LOCAL,
      registry: await fresh.connect(via),
      store: new FolderStore(fresh.filesDir),
      ...options,
      sending: { pollMs: 5, stuckAfterMs: 100, timeoutMs: ENDLESS_MS, ...options.sending },
    });
  return {
    fresh,
    publishVia,
    publishAll: (records: readonly KeyRecord[], options?: Partial<PublishOptions>) =>
      publishVia(fresh.call, records, options),
    /** The endpoint, with an action before each transaction is sent. */
    beforeSending:
      (action: (count: number) => Promise<void> | void, count = 0): RpcCall =>
      async (method, params) => {
        if (method === "eth_sendTransaction") await action(++count);
        return fresh.call(method, params);
      },
    verify: ({ userID, pubKey }: KeyRecord) => {
      const { rpcUrl: rpc, merkleUrl, contract, chainId } = fresh;
      return verifyPublicKey(userID, { rpc, merkleUrl, contract, chainId, expectedPublicKey: pubKey });
    },
    /** The names of the stored files. */
    stored: () => readdir(fresh.filesDir),
  };
}
