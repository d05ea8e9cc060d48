import { readdir } from "node:fs/promises";
import { FolderStore, type PublishOptions } from "@keyroot/operator/publisher";
import type { KeyRecord } from "keyroot/internal/identity";
import type { RpcCall } from "keyroot/internal/transport";
import { publishWith } from "../../../packages/operator/src/publisher/publish.ts";
import type { PublishTimes } from "../../../packages/operator/src/publisher/publishRun.ts";
import { freshRegistry, type StartChain } from "../chain/freshRegistry.ts";
import { LOCAL } from "../chain/local.ts";
import { ENDLESS_MS } from "../endless.ts";
import { verifyOnce } from "../verifier/verifyOnce.ts";

/** For tests that publish: each test has a new registry and an empty folder of files. */
export function publishing(startChain?: StartChain) {
  const fresh = freshRegistry(startChain);

  const publishVia = async (
    via: RpcCall,
    records: readonly KeyRecord[],
    { times, ...options }: Partial<PublishOptions> & { times?: PublishTimes } = {},
  ) =>
    publishWith(
      records,
      {
        ...{ ...LOCAL, registry: await fresh.connect(via), store: new FolderStore(fresh.filesDir), ...options },
        sending: { timeoutMs: ENDLESS_MS, ...options.sending },
      },
      { pollMs: 5, stuckAfterMs: 100, ...times },
    );
  return {
    fresh,
    publishVia,
    publishAll: (records: readonly KeyRecord[], options?: Parameters<typeof publishVia>[2]) =>
      publishVia(fresh.call, records, options),
    /** The endpoint, with an action before each transaction is sent. */
    beforeSending: (action: (count: number) => Promise<void> | void): RpcCall =>
      fresh.at("eth_sendTransaction", async (forward, _, count) => {
        await action(count);
        return forward();
      }),
    verify: ({ userID, pubKey }: KeyRecord) => {
      const { rpcUrl: rpc, merkleUrl, contract, chainId } = fresh;
      return verifyOnce(userID, { rpc, merkleUrl, contract, chainId, expectedPublicKey: pubKey });
    },
    /** The names of the stored files. */
    stored: () => readdir(fresh.filesDir),
  };
}
