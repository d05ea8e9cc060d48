import { createHmac, randomUUID } from "node:crypto";
import { base64ToBytes } from "keyroot/bytes";
import { describeValue } from "keyroot/input";
import { ArgumentError, KeyrootError, TransportError } from "keyroot/errors";
import { checkUrl, fetchBytes } from "keyroot/transport";
import { readSecretFile } from "../disk/permissions.ts";
import { withRetry } from "../publisher/retry.ts";

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;
const MAX_ANSWER_BYTES = 2 ** 16;
const TIMEOUT_MS = 10_000;
/** A message that was not received is sent again after about 1 s and 2 s. */
const RETRY = { retries: 2, initialDelayMs: 500 };

/** Standard Webhooks, "Signature scheme": this prefix, and 24 to 64 bytes in base64. */
const SECRET_PREFIX = "whsec_";
const SECRET_BYTES = { min: 24, max: 64 };
const MAX_SECRET_FILE_BYTES = 1024;

/**
 * Checks that alarms may be sent to an address, and returns it. It must be https, or http on this machine, and its host
 * must be in the list. Errors do not show the address, because it usually contains a secret.
 * @param hosts host names, each with its port unless that is the default one
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function checkWebhook(url: string, hosts: readonly string[]): string {
  const { protocol, hostname, host } = new URL(checkUrl("webhook", url));
  if (protocol !== "https:" && !LOOPBACK.test(hostname)) {
    throw new ArgumentError("ARGUMENT_INVALID", "The option webhook must be an https address.");
  }
  if (hosts.includes(host)) return url;
  const message = `The host ${describeValue(host)} of the webhook is not allowed: name it with --webhook-host.`;
  throw new ArgumentError("ARGUMENT_INVALID", message, { expected: hosts, actual: host });
}

/** The key of a webhook's signatures, in a field that printing does not show. */
export class WebhookSecret {
  readonly #key: Uint8Array;

  /**
   * @param text `whsec_` and 24 to 64 bytes in base64, as Standard Webhooks defines
   * @throws ArgumentError ARGUMENT_INVALID; the message does not contain the secret
   */
  constructor(text: string) {
    this.#key = keyOf(text.trim());
  }

  /** Reads a secret from a file that other accounts cannot read. @throws ArgumentError FILE_PERMISSIONS, FILE_UNREADABLE */
  static async read(path: string): Promise<WebhookSecret> {
    return new WebhookSecret(await readSecretFile(path, MAX_SECRET_FILE_BYTES));
  }

  /** The signature of a message (Standard Webhooks, "Signature scheme": v1, HMAC-SHA-256). @param timestamp in s since 1970 */
  sign(id: string, timestamp: number, body: string): string {
    return `v1,${createHmac("sha256", this.#key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  }
}

function keyOf(text: string): Uint8Array {
  const { min, max } = SECRET_BYTES;
  try {
    const key = base64ToBytes(text.slice(SECRET_PREFIX.length));
    if (text.startsWith(SECRET_PREFIX) && key.length >= min && key.length <= max) return key;
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
  }
  const message = `The secret of the webhook must be ${SECRET_PREFIX} and ${min} to ${max} random bytes in base64.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

/**
 * Sends a message to a webhook as JSON, with the headers of Standard Webhooks (standardwebhooks.com): `webhook-id`,
 * `webhook-timestamp`, and `webhook-signature` if there is a secret. Follows no redirect. A message that was not received is
 * sent again twice, under the same id.
 * @param message an object with its `type`
 * @throws TransportError WEBHOOK_ERROR if its status is not 2xx; and as `fetchBytes`
 */
export async function postWebhook(
  url: string,
  message: object,
  { secret, now = Date.now }: { secret?: WebhookSecret | undefined; now?: () => number } = {},
): Promise<void> {
  const id = `msg_${randomUUID()}`;
  const body = JSON.stringify(message);
  const { host } = new URL(url);
  await withRetry(async () => {
    const timestamp = Math.floor(now() / 1000);
    const headers = {
      "Content-Type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(timestamp),
      ...(secret && { "webhook-signature": secret.sign(id, timestamp, body) }),
    };
    const init = { method: "POST", headers, body };
    const { status } = await fetchBytes(url, init, { maxBytes: MAX_ANSWER_BYTES, timeoutMs: TIMEOUT_MS });
    if (status >= 200 && status < 300) return;
    throw new TransportError("WEBHOOK_ERROR", `The webhook on ${host} returned the HTTP status ${status}.`, {
      actual: status,
    });
  }, RETRY);
}
