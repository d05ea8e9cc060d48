/** A thread that reads and audits files. */
import { parentPort, workerData } from "node:worker_threads";
import { loadKeyType } from "keyroot/internal/keyTypes";
import type { FileAnswer, FileTask, FileWorkerData } from "./fileWorkers.ts";
import { loadFile } from "./loadFile.ts";

const { source, keyType } = workerData as FileWorkerData;
const loading = loadKeyType(keyType);

parentPort?.on("message", (task: FileTask) => {
  void answer(task);
});

async function answer({ id, request }: FileTask): Promise<void> {
  try {
    const result = await loadFile(request, source, await loading);
    // Move the users instead of copying them.
    const moved = "users" in result && result.users !== undefined ? [result.users.buffer as ArrayBuffer] : [];
    parentPort?.postMessage({ id, result } satisfies FileAnswer, moved);
  } catch (error) {
    parentPort?.postMessage({ id, error } satisfies FileAnswer);
  }
}
