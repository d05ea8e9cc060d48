/** A publisher in a separate process, for tests that kill it. Arguments: endpoint, contract, records, store, file host, plan. */
import { fetchFromHost, FolderJournal, FolderStore, readRecords, Registry } from "@keyroot/operator/publisher";
import { rpcCaller } from "keyroot/internal/transport";
import { publishWith } from "../../../packages/operator/src/publisher/publish.ts";
import { LOCAL } from "../chain/local.ts";

if (import.meta.main) {
  const [rpc = "", contract = "", path = "", filesDir = "", merkleUrl = "", plan = ""] = process.argv.slice(2);
  const call = rpcCaller(rpc, { maxBytes: 2 ** 20, timeoutMs: 300 });

  using journal = await FolderJournal.open(plan);
  const { records } = await readRecords(path);
  const options = {
    ...LOCAL,
    registry: await Registry.connect(call, contract, { retries: 2, initialDelayMs: 10 }),
    store: new FolderStore(filesDir),
    journal,
    usersPerFile: 4,
    fetchFile: fetchFromHost(merkleUrl),
    sending: { inFlight: 3, timeoutMs: 5_000 },
  };
  await publishWith(records, options, { pollMs: 20, stuckAfterMs: 100 });
}
