/** A thread that reads and audits files. */
import { workerData } from "node:worker_threads";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { serveRequests } from "../threads/serveRequests.ts";
import type { FileWorkerData } from "./fileWorkers.ts";
import { type FileRequest, type FileResult, loadFile } from "./loadFile.ts";

const { source, keyType } = workerData as FileWorkerData;
const loading = loadKeyType(keyType);

serveRequests<FileResult>(
  async (request: FileRequest) => loadFile(request, source, await loading),
  (result) => ("users" in result && result.users !== undefined ? [result.users.buffer as ArrayBuffer] : []),
);
