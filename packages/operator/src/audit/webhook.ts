import { describeValue } from "keyroot/input";
import { ArgumentError, TransportError } from "keyroot/errors";
import { fetchBytes } from "keyroot/transport";
import { checkUrl } from "keyroot/transport";

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;
const MAX_ANSWER_BYTES = 2 ** 16;
const TIMEOUT_MS = 10_000;

/**
 * Returns the address that it was given, where it is one to which alarms may go: https, or http on this machine, on a
 * host that is named in the list. The error does not show it: such addresses hold secrets.
 * @param hosts names, with the port where it is not the usual one
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function checkWebhook(url: string, hosts: readonly string[]): string {
  const { protocol, hostname, host } = new URL(checkUrl("webhook", url));
  if (protocol !== "https:" && !LOOPBACK.test(hostname)) {
    throw new ArgumentError("ARGUMENT_INVALID", "The option webhook must be an https address.");
  }
  if (hosts.includes(host)) return url;
  const message = `The host ${describeValue(host)} of the webhook is not among those that --webhook-host allows.`;
  throw new ArgumentError("ARGUMENT_INVALID", message, { expected: hosts, actual: host });
}

/**
 * Sends a message to a webhook, as JSON. No redirect is followed.
 * @throws TransportError WEBHOOK_ERROR where it does not take the message; and as `fetchBytes`
 */
export async function postWebhook(url: string, message: object): Promise<void> {
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(message) };
  const { status } = await fetchBytes(url, init, { maxBytes: MAX_ANSWER_BYTES, timeoutMs: TIMEOUT_MS });
  if (status >= 200 && status < 300) return;
  const { host } = new URL(url);
  throw new TransportError("WEBHOOK_ERROR", `${host} answers with the HTTP status ${status}.`, { actual: status });
}
