import { base64ToBytes } from "keyroot/bytes";
import { ArgumentError, KeyrootError, TransportError } from "keyroot/errors";
import { checkPublicKey, parseUserID } from "keyroot/identity";
import { describeValue, printable } from "keyroot/input";
import { finding } from "../audit/finding.ts";
import type { PollOptions, WatchedUser } from "../audit/poll.ts";
import { pollEvents, watch, type WatchEvent } from "../audit/watch.ts";
import { WatchState } from "../audit/watchState.ts";
import { checkWebhook, postWebhook } from "../audit/webhook.ts";
import { WebhookSecret } from "../transport/webhookSecret.ts";
import { filesOf, placeOf } from "./auditArgs.ts";
import type { ArgsOf } from "./definitions.ts";
import { EXIT } from "./exitCodes.ts";
import type { Host } from "./host.ts";
import { loadRecords } from "./loadRecords.ts";
import { print, printError } from "./output.ts";
import { Progress } from "./progress.ts";
import { messageOf } from "./runCommand.ts";
import { untilStopped } from "./stopSignals.ts";
import { Target } from "./target.ts";
import { eventDescriber } from "./watchEvents.ts";

type Args = ArgsOf<"watch">;

/** `keyroot watch`: polls for new roots until an alarm or Ctrl-C. */
export default async function watchKeys(args: Args, host: Host): Promise<undefined> {
  const users = await usersOf(args);
  const webhook = await webhookOf(args);
  const unavailableAfterMs = 1000 * (args.unavailableAfter ?? unavailableAfterOfEnvironment() ?? 600);
  const target = await Target.resolve(args, host);
  const files = filesOf(args, target);
  const { call } = target;
  const place = await placeOf(target);
  using state = await WatchState.open(args.state, place, { fresh: args.fresh });
  const { block: tag = "latest", fromBlock } = args;
  const { chainId, contract } = place;
  const maxAgeMs = args.maxAge === undefined ? undefined : 1000 * args.maxAge;
  const options = { chainId, contract, call, files, users, tag, fromBlock, state, unavailableAfterMs, maxAgeMs };

  const describe = eventDescriber(args.verbose);
  const stopping = new AbortController();
  void untilStopped().then(() => {
    stopping.abort();
  });
  // One after the other, beside the polls: a webhook that does not answer must not keep the watch from the chain.
  let sending = Promise.resolve();
  const report = (event: WatchEvent) => {
    if (args.json) print(JSON.stringify({ time: new Date().toISOString(), ...event }));
    else for (const line of describe(event)) print(line);
    // Nothing is known about a file that was not read. In cron jobs, that must not look like success.
    if (event.event === "fileUnavailable" && args.once) process.exitCode ??= EXIT.unavailable;
    if (event.event !== "alarm") return;
    process.exitCode = EXIT.false;
    // The watch ends after this poll.
    if (!args.stay) stopping.abort();
    if (webhook !== undefined) sending = sending.then(() => sendAlarm(webhook, { ...event, contract, chainId }));
  };
  try {
    for await (const events of polls(options, args, stopping.signal)) for (const event of events) report(event);
  } catch (error) {
    const isEndpoint = error instanceof TransportError && error.code !== "FILE_UNWRITABLE";
    // No one may be there to read the exit code.
    if (!isEndpoint) report(describeEnd(error));
    throw error;
  } finally {
    await sending;
  }
}

function describeEnd(error: unknown): WatchEvent {
  const message = `The watch has ended, so nothing is watched. ${messageOf(error)}`;
  const detail = error instanceof KeyrootError ? error.code : undefined;
  return { event: "alarm", ...finding("WATCH_ENDED", message, { detail }) };
}

async function* polls(
  options: Omit<PollOptions, "readOwnFiles">,
  { once, every }: Args,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent[]> {
  if (once) yield* pollEvents({ ...options, readOwnFiles: true });
  else yield* watch({ ...options, intervalMs: every * 1000, signal });
}

interface Webhook {
  url: string;
  secret: WebhookSecret | undefined;
}

/** Sends an alarm that is already printed, so a failing webhook does not end the command. */
async function sendAlarm({ url, secret }: Webhook, alarm: object): Promise<void> {
  try {
    // The type and timestamp that Standard Webhooks recommends.
    await postWebhook(url, { type: "keyroot.alarm", timestamp: new Date().toISOString(), ...alarm }, { secret });
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    printError(`${error.code}: The alarm was not sent: ${printable(error.message)}`);
  }
}

async function usersOf({ userId, publicKey, records }: Args): Promise<WatchedUser[]> {
  if (records !== undefined) {
    if (userId !== undefined || publicKey !== undefined) {
      throw new ArgumentError("ARGUMENT_INVALID", "--records names the users: omit --user-id and --public-key.");
    }
    using progress = new Progress();
    return [...(await loadRecords({ records, skipBad: false }, progress)).records];
  }
  if (userId === undefined || publicKey === undefined) {
    const message = "Set a user and their own key, --user-id and --public-key, or several users with --records FILE.";
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
  checkPublicKey(base64ToBytes(publicKey));
  return [{ userID: parseUserID(userId), pubKey: publicKey }];
}

/** The URL usually contains a secret; the variable keeps it out of the process list. */
async function webhookOf(args: Args): Promise<Webhook | undefined> {
  const { webhook = variable("KEYROOT_WEBHOOK"), webhookHost } = args;
  const secret = await webhookSecretOf(args);
  if (webhook !== undefined) return { url: checkWebhook(webhook, webhookHost?.split(",") ?? []), secret };
  if (secret === undefined) return undefined;
  throw new ArgumentError("ARGUMENT_INVALID", "There is a secret for a webhook, but no webhook: set KEYROOT_WEBHOOK.");
}

async function webhookSecretOf({ webhookSecretFile }: Args): Promise<WebhookSecret | undefined> {
  const file = webhookSecretFile ?? variable("KEYROOT_WEBHOOK_SECRET_FILE");
  if (file !== undefined) return WebhookSecret.read(file);
  const secret = variable("KEYROOT_WEBHOOK_SECRET");
  return secret === undefined ? undefined : new WebhookSecret(secret);
}

function unavailableAfterOfEnvironment(): number | undefined {
  const seconds = variable("KEYROOT_UNAVAILABLE_AFTER");
  if (seconds === undefined || /^\d{1,9}$/.test(seconds)) return seconds === undefined ? undefined : Number(seconds);
  const message = `KEYROOT_UNAVAILABLE_AFTER must be a whole number of seconds, not ${describeValue(seconds)}.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

function variable(name: string): string | undefined {
  return process.env[name] === "" ? undefined : process.env[name];
}
