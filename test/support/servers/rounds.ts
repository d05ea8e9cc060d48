type Fetch = typeof globalThis.fetch;

/** The time in ms without a new request after which a round is complete. */
const QUIET_MS = 100;

/**
 * Counts the rounds of requests, each of which takes at least one round trip to the hosts. To do so, `fetch` holds
 * requests back until no more of them come without a response, and then sends them together.
 */
export class Rounds {
  /** The requests in each round: JSON-RPC methods, and the URLs of other requests. */
  readonly sent: string[][] = [];
  /** The bytes of all responses as they were sent: compressed files count with their compressed size. */
  bytes = 0;
  private waiting: { name: string; send: () => Promise<void> }[] = [];
  private unanswered = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  readonly fetch: Fetch = (input, init) => {
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const name = init?.method === "POST" ? methodOf(init.body) : (input as string);
    const send = async () => {
      try {
        const response = await fetchCompressed(input, init);
        const bytes = await response.arrayBuffer();
        const { status } = response;
        const headers = new Headers(response.headers);
        this.bytes += sentBytes(init, headers, bytes);
        // The body is no longer compressed.
        headers.delete("Content-Encoding");
        resolve(new Response(bytes, { status, headers }));
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    this.waiting.push({ name, send });
    this.schedule();
    return promise;
  };

  /** Starts to count again. */
  reset(): void {
    this.sent.length = 0;
    this.bytes = 0;
  }

  private schedule(): void {
    clearTimeout(this.timer);
    if (this.unanswered === 0 && this.waiting.length > 0)
      this.timer = setTimeout(() => {
        void this.sendAll();
      }, QUIET_MS);
  }

  private async sendAll(): Promise<void> {
    const round = this.waiting;
    this.waiting = [];
    this.sent.push(round.map(({ name }) => name));
    this.unanswered = round.length;
    await Promise.all(round.map(({ send }) => send()));
    this.unanswered = 0;
    this.schedule();
  }
}

/** Requests files with Brotli. Browsers and phones do so for every HTTPS URL, and Node does not for local URLs. */
export const fetchCompressed: Fetch = (input, init) => {
  if (init?.method === "POST") return fetch(input, init);
  return fetch(input, { ...init, headers: { ...(init?.headers as object), "Accept-Encoding": "br, gzip" } });
};

/** Sends requests as usual, and calls `received` with the size of each response. */
export function countBytes(received: (bytes: number) => void): Fetch {
  return async (input, init) => {
    const response = await fetchCompressed(input, init);
    received(sentBytes(init, response.headers, await response.clone().arrayBuffer()));
    return response;
  };
}

/** Returns the size of a response's body as it was sent. Compressed files have a Content-Length. */
function sentBytes(init: RequestInit | undefined, headers: Headers, { byteLength }: ArrayBuffer): number {
  const isCompressed = headers.has("Content-Encoding") && init?.method !== "HEAD";
  return isCompressed ? Number(headers.get("Content-Length") ?? byteLength) : byteLength;
}

interface Call {
  method: string;
}

function methodOf(body: unknown): string {
  const calls = [JSON.parse(String(body)) as Call | Call[]].flat();
  return calls.map(({ method }) => method).join();
}
