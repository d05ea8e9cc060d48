/** What the commands that call a running service have in common. */
import { type Host, outputIsLost, printError, printOutcome } from "@keyroot/operator/commands";
import { printable } from "keyroot/internal/input";
import { plural, readStackFile } from "@keyroot/operator/shared";
import { AdminClient, type AuditEntry, type PartnerSummary } from "@keyroot/client/operator";
import { ArgumentError } from "../api/base/errors.ts";

/**
 * Creates a client for the service at `--service-url`, with the admin token from the environment. Without this option,
 * the client calls the service of the local stack.
 * @throws ArgumentError ARGUMENT_INVALID
 */
export async function adminClientOf(serviceUrl: string | undefined, host: Host): Promise<AdminClient> {
  if (serviceUrl === undefined) {
    const stack = await readStackFile(host.root);
    if (stack?.service !== undefined) return new AdminClient(stack.service);
    const message = "No local stack is running here. Start one with 'npx hardhat keyroot stack', or set --service-url.";
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
  const { KEYROOT_ADMIN_TOKEN: adminToken = "" } = process.env;
  if (adminToken !== "") return new AdminClient({ serviceUrl, adminToken });
  const message = "KEYROOT_ADMIN_TOKEN is not set. Set it to the service's admin token.";
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

/** @param remedy what to set the option to, for the error message. @throws ArgumentError ARGUMENT_INVALID */
export function required(value: string | undefined, option: string, remedy: string): string {
  if (value !== undefined) return value;
  throw new ArgumentError("ARGUMENT_INVALID", `${option} is missing. Set it to ${remedy}.`);
}

export function requireBizID(bizID: string | undefined): string {
  return required(bizID, "--biz-id", "the partner's id");
}

/**
 * Prints each item of a list on its own line, as JSON or as text.
 * @param none the text for an empty list
 */
export async function printEach<Item extends object>(
  items: AsyncIterable<Item>,
  json: boolean,
  describe: (item: Item) => string,
  none: string,
): Promise<undefined> {
  let isEmpty = true;
  for await (const item of items) {
    if (outputIsLost()) return;
    // Escape line breaks, too, so that a name cannot imitate another item.
    printOutcome({ json: item, text: json ? "" : printable(describe(item)) }, json);
    isEmpty = false;
  }
  if (isEmpty && !json) printError(none);
}

/** Returns a partner as the outcome of a command. */
export function partnerOutcome(partner: PartnerSummary) {
  return { json: partner, text: describePartner(partner) };
}

export function describePartner(partner: PartnerSummary): string {
  const { biz_id, name, suspended, user_limit, users, pending_keys, published_keys, server_tokens } = partner;
  const limit = user_limit === null ? "" : ` of at most ${user_limit}`;
  const keys = `${published_keys} published and ${pending_keys} pending keys`;
  const state = suspended === null ? "" : `, suspended since ${new Date(suspended).toISOString()}`;
  return `${biz_id}  ${name}: ${plural(users, "user")}${limit}, ${keys}, ${plural(server_tokens, "server token")}${state}`;
}

/** A date, or a date with a time and a time zone (RFC 3339). */
const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,3})?(?:Z|[+-]\d\d:\d\d))?$/;

export function toTime(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = TIME.test(text) ? Date.parse(text) : NaN;
  if (time >= 0) return time;
  const message = `${option} must be a date such as 2027-01-31, or a time such as 2027-01-31T08:00:00Z.`;
  throw new ArgumentError("ARGUMENT_INVALID", message, { actual: text });
}

/** Formats an entry as one line. Removes control characters, because partners choose the names in entries. */
export function describeEntry({ at, action, actor, biz_id, user_id, data, request_id, address }: AuditEntry): string {
  const by = [actor.kind, actor.name ?? actor.id].filter((part) => part !== null).join(" ");
  const what = [
    ...[biz_id, user_id].filter((id) => id !== null),
    ...Object.entries(data).map(([name, value]) => `${name}=${JSON.stringify(value)}`),
  ];
  const from = [...(address === null ? [] : [`from ${address}`]), ...(request_id === null ? [] : [`in ${request_id}`])];
  return [new Date(at).toISOString(), action, `by ${by}`, ...from, ...what].join("  ");
}
