import { base64ToBytes } from "keyroot/internal/bytes";
import { ArgumentError, KeyrootError, TransportError } from "keyroot/internal/errors";
import { checkPublicKey, parseUserID } from "keyroot/internal/identity";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { printable } from "keyroot/internal/input";
import { finding } from "../audit/finding.ts";
import type { PollOptions, WatchedUser } from "../watch/pollChain.ts";
import { pollEvents, watch, type WatchEvent } from "../watch/watch.ts";
import { WatchState } from "../watch/watchState.ts";
import { checkWebhook, postWebhook } from "../watch/webhook.ts";
import { WebhookSecret } from "../http/webhookSecret.ts";
import { endpointsOf, openTrustedChain } from "./trust.ts";
import { filesOf, placeOf, ChainAndFiles } from "./chainAndFiles.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import { EXIT } from "./exitCodes.ts";
import type { Host } from "./host.ts";
import { loadRecords } from "./inputFiles.ts";
import { messageOf, print, printError, printJson, printRebuild } from "./output.ts";
import { Progress } from "./progress.ts";
import { untilStopped } from "./stopSignals.ts";
import { eventDescriber } from "./watchEvents.ts";

type Args = ArgsOf<"watch">;

/** `keyroot watch`: polls for new roots until an alarm or Ctrl-C. */
export default async function watchKeys(args: Args, host: Host): Promise<undefined> {
  const users = await usersOf(args);
  const webhook = await webhookOf(args);
  const unavailableAfterMs = 1000 * args.unavailableAfter;
  const chainAndFiles = await ChainAndFiles.resolve({ ...args, rpc: endpointsOf(args.rpc)[0] }, host);
  const files = filesOf(args, chainAndFiles);
  const { source, call, findBlock } = await openTrustedChain(args, chainAndFiles);
  if (source.name === "pinned-block")
    throw new ArgumentError("ARGUMENT_INVALID", "A watch needs new blocks. Use another choice than pinned-block.");
  const place = await placeOf(chainAndFiles);
  using state = await WatchState.open(args.state, place, { fresh: args.fresh, onRebuild: printRebuild });
  const { chainId, contract } = place;
  const { tag, maxAgeMs } = source;
  const options = {
    chainId,
    contract,
    call,
    files,
    keyType: await loadKeyType(args.keyType),
    users,
    tag,
    findBlock: source.name === "one-endpoint" ? undefined : findBlock,
    fromBlock: args.fromBlock,
    state,
    unavailableAfterMs,
    maxAgeMs,
  };

  const describe = eventDescriber(args.verbose);
  const stopping = new AbortController();
  void untilStopped().then(() => {
    stopping.abort();
  });
  // Send one alarm at a time, independently of the polls. A webhook that does not respond must not stop the watch.
  let sending = Promise.resolve();
  const report = (event: WatchEvent) => {
    if (args.json) printJson({ time: new Date().toISOString(), ...event });
    else for (const line of describe(event)) print(line);
    // An unread file may be wrong. With `--once`, the exit code reports unread files to cron jobs.
    if (event.event === "fileUnavailable" && args.once) process.exitCode ??= EXIT.unavailable;
    if (event.event !== "alarm") return;
    process.exitCode = EXIT.false;
    // End the watch after this poll.
    if (!args.keepRunning) stopping.abort();
    if (webhook !== undefined) sending = sending.then(() => sendAlarm(webhook, { ...event, contract, chainId }));
  };
  try {
    for await (const events of polls(options, args, stopping.signal)) for (const event of events) report(event);
  } catch (error) {
    const isEndpoint = error instanceof TransportError && error.code !== "FILE_UNWRITABLE";
    // Also send an alarm, because nobody may notice the exit code.
    if (!isEndpoint) report(describeEnd(error));
    throw error;
  } finally {
    await sending;
  }
}

function describeEnd(error: unknown): WatchEvent {
  const message = `The watch has ended. ${messageOf(error)}`;
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

/**
 * Sends an alarm that was already printed. If the webhook fails, the function prints the error and the command
 * continues.
 */
async function sendAlarm({ url, secret }: Webhook, alarm: object): Promise<void> {
  try {
    // Standard Webhooks recommends the fields `type` and `timestamp`.
    await postWebhook(url, { type: "keyroot.alarm", timestamp: new Date().toISOString(), ...alarm }, { secret });
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    printError(`${error.code}: The alarm was not sent: ${printable(error.message)}`);
  }
}

async function usersOf({ userID, publicKey, records, keyType }: Args): Promise<WatchedUser[]> {
  if (records !== undefined) {
    using progress = new Progress();
    return [...(await loadRecords({ records, keyType }, progress)).records];
  }
  if (userID === undefined || publicKey === undefined) {
    const message =
      "No user is set. Set one user with --user-id and --public-key, or several users with --records FILE.";
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
  checkPublicKey(base64ToBytes(publicKey), await loadKeyType(keyType));
  return [{ userID: parseUserID(userID), pubKey: publicKey }];
}

/**
 * Reads the webhook's URL and secret. The URL usually contains a secret. A variable can contain the URL, because options are
 * visible in the list of processes.
 */
async function webhookOf(args: Args): Promise<Webhook | undefined> {
  const { alarmUrl: webhook, alarmHost } = args;
  const secret = await webhookSecretOf(args);
  if (webhook !== undefined) return { url: checkWebhook(webhook, alarmHost?.split(",") ?? []), secret };
  if (secret === undefined) return undefined;
  throw new ArgumentError(
    "ARGUMENT_INVALID",
    "There is a secret for a webhook, but no webhook. Set KEYROOT_ALARM_URL.",
  );
}

async function webhookSecretOf({ alarmSecretFile }: Args): Promise<WebhookSecret | undefined> {
  if (alarmSecretFile !== undefined) return WebhookSecret.read(alarmSecretFile);
  const { KEYROOT_ALARM_SECRET: secret = "" } = process.env;
  return secret === "" ? undefined : new WebhookSecret(secret);
}
