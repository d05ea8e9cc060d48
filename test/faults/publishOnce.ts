/** A publisher as a process of its own, for those who kill it: endpoint, contract, records, store, file host, plan. */
import { fromHost } from "../../src/publisher/files.ts";
import { FolderStore } from "../../src/publisher/folderStore.ts";
import { PlanFolder } from "../../src/publisher/planFolder.ts";
import { publish } from "../../src/publisher/publish.ts";
import { readRecords } from "../../src/publisher/readRecords.ts";
import { Registry } from "../../src/publisher/registry.ts";
import { rpcCaller } from "../../src/transport/jsonRpc.ts";

if (import.meta.main) {
  const [rpc = "", contract = "", path = "", merkleDir = "", merkleUrl = "", plan = ""] = process.argv.slice(2);
  const PATIENCE = { retries: 2, firstPauseMs: 10 };
  const call = rpcCaller(rpc, { maxBytes: 2 ** 20, timeoutMs: 300 });

  using keeper = await PlanFolder.open(plan);
  const { records } = await readRecords(path);
  await publish(records, {
    registry: await Registry.connect(call, contract, PATIENCE),
    store: new FolderStore(merkleDir),
    keeper,
    usersPerFile: 4,
    fetchFile: fromHost(merkleUrl),
    sending: { inFlight: 3, pollMs: 20, stuckAfterMs: 100, timeoutMs: 5_000 },
  });
}
