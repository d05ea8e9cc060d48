import { config } from "./config.ts";
import type { CallName, FromWorker, Progress, ToWorker, WorkerCalls } from "../worker/messages.ts";

type WorkerName = keyof typeof WORKERS;

/** The part of Trusted Types (W3C) that this page uses. Some browsers do not support Trusted Types. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): { toString(): string } };
}

const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
/** The only Trusted Types policy that the page allows. The policy is used to start the workers. */
const policy = trustedTypes?.createPolicy("keyroot", { createScriptURL: (url) => url });

const { keyType = "curve41417", accounts = false } = config;
/** Whether the worker `complete` replaces the workers that know only the default key type and no accounts. */
const needsComplete = keyType !== "curve41417" || accounts;

/** The workers that work for every registry. */
const COMPLETE_ALREADY: ReadonlySet<WorkerName> = new Set(["registry", "qr", "list"]);

const started = new Map<WorkerName, Promise<Worker>>();
let lastID = 0;

/** Returns a worker. Starts the worker if necessary. */
export function startWorker(name: WorkerName): Promise<Worker> {
  const worker = started.get(name) ?? fetchWorker(name);
  started.set(name, worker);
  // After a failed start, the next call starts the worker again.
  worker.catch(() => started.delete(name));
  return worker;
}

/**
 * Starts the worker of the first verification before it is needed, unless it is the large worker with the whole
 * library. If this fails, the first call to the worker reports the error.
 */
export function preloadWorker(): void {
  if (!needsComplete) startWorker("basic").catch(() => undefined);
}

/** Calls a worker. @throws Error if the worker cannot be started or fails unexpectedly */
export async function callWorker<Name extends CallName>(
  worker: WorkerName,
  name: Name,
  args: WorkerCalls[Name]["arguments"],
  { signal, onProgress }: { signal?: AbortSignal; onProgress?: (progress: Progress) => void } = {},
): Promise<WorkerCalls[Name]["result"]> {
  const port = await startWorker(worker);
  const id = ++lastID;
  const { promise, resolve, reject } = Promise.withResolvers<WorkerCalls[Name]["result"]>();
  const send = (message: ToWorker) => {
    port.postMessage(message);
  };
  const receive = ({ data }: MessageEvent<FromWorker>) => {
    if (data.id !== id) return;
    if ("progress" in data) onProgress?.(data.progress);
    else if ("result" in data) resolve(data.result as WorkerCalls[Name]["result"]);
    else reject(new Error(data.defect));
  };
  const abort = () => {
    send({ id, abort: true });
  };
  port.addEventListener("message", receive);
  signal?.addEventListener("abort", abort);
  try {
    send({ id, name, arguments: args });
    return await promise;
  } finally {
    port.removeEventListener("message", receive);
    signal?.removeEventListener("abort", abort);
  }
}

/**
 * Fetches a worker's code, whose hash the browser checks, and starts the worker. The worker starts from a blob, so it
 * inherits the page's policy, and can connect only to the hosts that the policy allows.
 */
async function fetchWorker(name: WorkerName): Promise<Worker> {
  const { url, integrity } = WORKERS[needsComplete && !COMPLETE_ALREADY.has(name) ? "complete" : name];
  const response = await fetch(new URL(url, document.baseURI), { integrity });
  const blob = new Blob([await response.arrayBuffer()], { type: "text/javascript" });
  const address = URL.createObjectURL(blob);
  return new Worker((policy?.createScriptURL(address) ?? address) as string, { type: "module" });
}
