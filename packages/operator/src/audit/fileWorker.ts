/** A thread that reads and audits files. Each answer has the id of its request. */
import { parentPort, workerData } from "node:worker_threads";
import type { FileSource } from "./fileSource.ts";
import { type FileRequest, type FileResult, loadFile } from "./loadFile.ts";

export interface WorkerRequest {
  id: number;
  request: FileRequest;
}

/** The result; or the error, if the thread itself failed. */
export type WorkerAnswer = { id: number } & ({ result: FileResult } | { error: unknown });

const port = parentPort;
port?.on("message", ({ id, request }: WorkerRequest) => {
  loadFile(request, workerData as FileSource).then(
    (result) => {
      const moved = "users" in result && result.users !== undefined ? [result.users.buffer as ArrayBuffer] : [];
      port.postMessage({ id, result } satisfies WorkerAnswer, moved);
    },
    (error: unknown) => {
      port.postMessage({ id, error } satisfies WorkerAnswer);
    },
  );
});
