/** A thread that reads and audits files. */
import { workerData } from "node:worker_threads";
import { serveRequests } from "../threads/serveRequests.ts";
import type { FileSource } from "../follow/index.ts";
import { type FileRequest, type FileResult, loadFile } from "./loadFile.ts";

serveRequests<FileResult>(
  (request: FileRequest) => loadFile(request, workerData as FileSource),
  (result) => ("users" in result && result.users !== undefined ? [result.users.buffer as ArrayBuffer] : []),
);
