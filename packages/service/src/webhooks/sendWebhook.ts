import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { type DeliveredEvent, toMessage } from "./events.ts";
import type { WebhookSecret } from "@keyroot/operator/shared";
import {
  AddressRefusedError,
  checkedLookup,
  isPublicAddress,
  resolveAnyHost,
  type ResolveHost,
  resolvePublicHost,
} from "./addresses.ts";
import { isPublicHost } from "./endpointUrl.ts";

/** Time limit of an attempt in ms. Standard Webhooks ("Request timeouts") recommends 15 to 30 s. */
const TIMEOUT_MS = 15_000;
/** Maximum size of a response body in bytes. The content is discarded. */
const MAX_BODY_BYTES = 2 ** 16;
const MAX_HEADER_BYTES = 2 ** 14;
/** Time in ms for which an idle connection stays open for the next delivery. */
const IDLE_MS = 2_000;

export interface WebhookSenderOptions {
  /** Whether plain http and private addresses are allowed. Default: false. */
  allowPrivate?: boolean | undefined;
  /** Resolves host names. Default: DNS, or the system's resolver with `allowPrivate`. */
  resolve?: ResolveHost | undefined;
  /** Time limit per attempt in ms. Default: 15,000. */
  timeoutMs?: number | undefined;
  /** Trusted certificate authorities, in PEM. Default: Node's certificates. */
  ca?: string | undefined;
}

/** The response to a delivery, or the reason why no response was received. */
export interface WebhookResponse {
  /** The HTTP status. Null if there was no response. */
  status: number | null;
  /** The reason for the failure. Null if the status is 2xx. */
  error: string | null;
  /** The response's Retry-After in ms. Undefined if the response has no such header. */
  retryAfterMs?: number | undefined;
}

/**
 * Sends events as Standard Webhooks (standardwebhooks.com). It sends them only to public addresses unless
 * `allowPrivate` is set. It does not follow redirects, and limits the duration of each request and the size of each
 * response.
 */
export class WebhookSender implements Disposable {
  readonly #allowPrivate: boolean;
  readonly #timeoutMs: number;
  readonly #http: HttpAgent;
  readonly #https: HttpsAgent;
  readonly #lookup: LookupFunction;

  constructor({ allowPrivate = false, resolve, timeoutMs = TIMEOUT_MS, ca }: WebhookSenderOptions = {}) {
    this.#allowPrivate = allowPrivate;
    this.#timeoutMs = timeoutMs;
    this.#lookup = checkedLookup(
      resolve ?? (allowPrivate ? resolveAnyHost : (hostname) => resolvePublicHost(hostname)),
      allowPrivate ? () => true : isPublicAddress,
    );
    const options = { keepAlive: true, timeout: IDLE_MS };
    this.#http = new HttpAgent(options);
    this.#https = new HttpsAgent({ ...options, ...(ca !== undefined && { ca }) });
  }

  /**
   * Sends an event once. It never throws.
   * @param secrets each secret adds a signature
   * @returns the response, or the reason why none was received
   */
  async send(
    url: string,
    event: DeliveredEvent,
    secrets: readonly WebhookSecret[],
    now: number,
    timeoutMs = this.#timeoutMs,
  ): Promise<WebhookResponse> {
    const body = JSON.stringify(toMessage(event));
    const timestamp = Math.floor(now / 1000);
    const headers = {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
      "User-Agent": "Keyroot-Webhooks",
      "webhook-id": event.id,
      "webhook-timestamp": timestamp,
      "webhook-signature": secrets.map((secret) => secret.sign(event.id, timestamp, body)).join(" "),
    };
    try {
      const response = await this.#post(url, headers, body, timeoutMs);
      return toResult(response);
    } catch (error) {
      return { status: null, error: reasonOf(error) };
    }
  }

  [Symbol.dispose](): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  #post(
    url: string,
    headers: Record<string, string | number>,
    body: string,
    timeoutMs: number,
  ): Promise<IncomingMessage> {
    const { protocol, hostname } = new URL(url);
    const isHttps = protocol === "https:";
    // Node does not call `lookup` for a URL with an IP address, so the address is checked here.
    if (!this.#allowPrivate && (!isHttps || !isPublicHost(hostname)))
      return Promise.reject(new AddressRefusedError("The URL's host is not public, or the URL is not https."));
    return new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(timeoutMs);
      const options = { method: "POST", headers, lookup: this.#lookup, signal, maxHeaderSize: MAX_HEADER_BYTES };
      const request = isHttps
        ? requestHttps(url, { ...options, agent: this.#https })
        : requestHttp(url, { ...options, agent: this.#http });
      let received: IncomingMessage | undefined;
      request.on("error", reject);
      // End the attempt even if the connection stays open.
      signal.addEventListener("abort", () => {
        if (received === undefined) reject(signal.reason as Error);
        else resolve(received);
      });
      // A response with status 101 (another protocol) triggers neither `response` nor `error`.
      request.on("close", () => {
        if (received === undefined) reject(Object.assign(new Error("The connection was closed."), { code: "CLOSED" }));
      });
      request.on("response", (response) => {
        received = response;
        request.off("error", reject).on("error", () => undefined);
        let bytes = 0;
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > MAX_BODY_BYTES) response.destroy();
        });
        // Only the status is used, so an incomplete or too large body has no effect.
        response.on("error", () => undefined);
        response.on("close", () => {
          resolve(response);
        });
      });
      request.end(body);
    });
  }
}

function toResult({ statusCode: status = 0, headers }: IncomingMessage): WebhookResponse {
  if (status >= 200 && status < 300) return { status, error: null };
  const isRedirect = status >= 300 && status < 400;
  const error = isRedirect ? "Redirects are not followed." : `The endpoint returned the HTTP status ${status}.`;
  const retryAfter = headers["retry-after"] ?? "";
  return { status, error, ...(/^\d{1,6}$/.test(retryAfter) && { retryAfterMs: Number(retryAfter) * 1000 }) };
}

/** The reason for a missing response, without details about the network. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "The request failed.";
  if (error instanceof AddressRefusedError) return error.message;
  const { code = "", name } = error as NodeJS.ErrnoException;
  if (name === "TimeoutError" || name === "AbortError" || code === "ABORT_ERR")
    return "The endpoint did not respond in time.";
  if (/^(?:ENOTFOUND|ENODATA|EAI_|ESERVFAIL|ETIMEOUT|EREFUSED)/.test(code)) return "The host name was not found.";
  if (/CERT|TLS|SSL|^EPROTO/.test(code)) return "The TLS connection failed. Check the endpoint's certificate.";
  return /^[A-Z_]{1,40}$/.test(code) ? `The request failed (${code}).` : "The request failed.";
}
