import { rootOfFileName } from "keyroot/internal/merkle";
import type { Progress } from "./messages.ts";

/** A `fetch` function that reports the verifier's requests and keeps the received file. */
export interface ObservedFetch {
  fetch: typeof fetch;
  /** The bytes of the file that have been received. */
  file(): Uint8Array | undefined;
  /** The root in the requested file's URL. The verifier requests a file only after the root is verified. */
  root(): string | undefined;
}

export function observeFetch(report: (progress: Progress) => void): ObservedFetch {
  let chunks: Uint8Array[] | undefined;
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
      // Other requests are for statements and beacon endpoints.
      if (rootInName === undefined) {
        report({ kind: "request", host: url.host, method: name });
        return fetch(input, init);
      }
      report({ kind: "file", host: url.host });
      root = rootInName;
      const response = await fetch(input, init);
      // A copied response would lose the status of a failed request.
      if (!response.ok || response.body === null) return response;
      const received: Uint8Array[] = (chunks = []);
      let bytes = 0;
      const copy = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform(chunk, controller) {
          received.push(chunk);
          bytes += chunk.length;
          controller.enqueue(chunk);
        },
        flush() {
          report({ kind: "received", bytes, at: performance.timeOrigin + performance.now() });
        },
      });
      return new Response(response.body.pipeThrough(copy), { status: response.status });
    },
    file: () => chunks && join(chunks),
    root: () => root,
  };
}

function join(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
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
