import { rootOfFileName } from "keyroot/internal/merkle";
import type { Progress } from "./messages.ts";

/** A `fetch` function that reports the verifier's requests and keeps the received files. */
export interface ObservedFetch {
  fetch: typeof fetch;
  /** The bytes of the Merkle-tree file that have been received. */
  file(): Uint8Array | undefined;
  /** The root in the requested file's URL. The verifier requests a file only after the root is verified. */
  root(): string | undefined;
  /** The bytes of the newest account file that have been received. */
  accountFile(): Uint8Array | undefined;
}

const ACCOUNT_FILE = /\/accounts\/[0-9a-f]{40}(?:\.next)?\.txt$/;

export function observeFetch(report: (progress: Progress) => void): ObservedFetch {
  let file: Uint8Array[] | undefined;
  let accountFile: Uint8Array[] | undefined;
  let root: string | undefined;
  return {
    async fetch(input, init) {
      const url = new URL(input as string);
      if (init?.method === "POST") {
        report({ kind: "request", host: url.host, method: methodsIn(init.body) });
        return fetch(input, init);
      }
      const name = url.pathname.slice(url.pathname.lastIndexOf("/") + 1);
      const rootInName = rootOfFileName(name);
      // Other requests are for statements, account files and beacon endpoints.
      if (rootInName === undefined) {
        report({ kind: "request", host: url.host, method: name });
        const response = await fetch(input, init);
        if (!response.ok || !ACCOUNT_FILE.test(url.pathname)) return response;
        return copyTo((accountFile = []), response);
      }
      report({ kind: "file", host: url.host });
      root = rootInName;
      const response = await fetch(input, init);
      if (!response.ok) return response;
      const received: Uint8Array[] = (file = []);
      return copyTo(received, response, () => {
        const bytes = sizeOf(received);
        report({ kind: "received", bytes, at: performance.timeOrigin + performance.now() });
      });
    },
    file: () => file && join(file),
    root: () => root,
    accountFile: () => accountFile && join(accountFile),
  };
}

/**
 * Returns a response whose bytes are also copied while the verifier reads them.
 */
function copyTo(received: Uint8Array[], response: Response, onEnd?: () => void): Response {
  if (response.body === null) return response;
  const copy = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      received.push(chunk);
      controller.enqueue(chunk);
    },
    flush() {
      onEnd?.();
    },
  });
  return new Response(response.body.pipeThrough(copy), { status: response.status });
}

function sizeOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, { length }) => sum + length, 0);
}

function join(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(sizeOf(chunks));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

/** Returns the methods of the JSON-RPC calls in a request body. */
function methodsIn(body: unknown): string {
  const { method } = JSON.parse(String(body)) as { method: string };
  return method;
}
