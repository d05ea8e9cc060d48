import { FolderJournal, FolderStore, publish, readRecords, Registry } from "@keyroot/operator";
const call = async (method: string, params: readonly unknown[]): Promise<unknown> => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch("https://rpc.example", { method: "POST", body });
  return ((await response.json()) as { result: unknown }).result;
};
using journal = await FolderJournal.open("plan");
const { records } = await readRecords("users.jsonl");
const registry = await Registry.connect(call, "0x5FbDB2315678afecb367f032d93F642f64180aa3");
await publish(records, { registry, chainId: 1, store: new FolderStore("files"), journal });
