import { KeyrootError, TransportError } from "keyroot/internal/errors";
import { printable } from "keyroot/internal/input";
import { finding } from "../audit/finding.ts";
import { argumentInvalid } from "../errors.ts";
import type { WebhookSecret } from "../http/webhookSecret.ts";
import type { PollOptions, WatchedUser } from "../watch/pollChain.ts";
import type { WatchEvent } from "../watch/watch.ts";
import { command, flag, integer, MAX_INT32, MAX_TIMER_SECONDS, type Parsed, text } from "./defineCommand.ts";
import { EXIT } from "./exitCodes.ts";
import {
  auditedFiles,
  auditedNeeds,
  chainWithTrust,
  keyType,
  maxAge,
  merkleUrl,
  trust,
  userIDForm,
} from "./options.ts";
import { messageOf, print, printError, printJson, printRebuild } from "./output.ts";

const options = {
  userID: text("user", userIDForm),
  publicKey: text("base64", "User's own public key in base64"),
  records: text(
    "file",
    "File with user records, in the same format as for publish. All users in it are watched. Use it instead of --user-id and --public-key",
    { excludes: ["userID", "publicKey"] },
  ),
  files: auditedFiles(),
  every: integer("seconds", "Seconds between two polls", { min: 1, max: MAX_TIMER_SECONDS, default: 12 }),
  once: flag("Poll once and exit, for example under cron. With --state, the next run continues after the last block", {
    excludes: ["every", "keepRunning"],
  }),
  keepRunning: flag("Continue after an alarm"),
  unavailableAfter: integer(
    "seconds",
    "Number of seconds after which an unavailable file or endpoint becomes an alarm",
    { min: 0, max: MAX_INT32, default: 600, variable: "KEYROOT_UNAVAILABLE_AFTER" },
  ),
  verbose: flag("Also print each new root and each published user, as --json does", { excludes: ["json"] }),
  keyType,
  ...trust,
  maxAge: maxAge("Maximum age of the newest block, or of the auditors' signatures, in seconds", { defaultText: "any" }),
  fromBlock: integer("number", "First block to read if there is no saved state", {
    min: 0,
    defaultText: "the next new block",
  }),
  state: text(
    "file",
    "File for the last block and the findings. The next run with this file continues after this block, and says which alarms are still open instead of repeating them. To start again, delete the file",
    { defaultText: "none" },
  ),
  alarmUrl: text("url", "URL to which the command sends alarms", { variable: "KEYROOT_ALARM_URL" }),
  alarmHost: text("hosts", "Hosts to which the command may send alarms, separated by commas", {
    onlyWith: { alarmUrl: true },
  }),
  alarmSecretFile: text(
    "file",
    "File with the secret for signing alarms. Alternatively, set the secret itself in the variable KEYROOT_ALARM_SECRET",
    { variable: "KEYROOT_ALARM_SECRET_FILE" },
  ),
  ...chainWithTrust,
  merkleUrl,
  json: flag("Print one JSON object per line for each event"),
};

type Args = Parsed<{ summary: string; options: typeof options }>;

export const watch = command(
  {
    summary: "Watch the registry for wrong keys of users and for missing files",
    needs: (given) => [...(given["records"] === undefined ? ["userID", "publicKey"] : []), ...auditedNeeds(given)],
    options,
  },
  async (args, host) => {
    const { alarmKeyOf } = await import("../watch/watch.ts");
    const { WatchState } = await import("../watch/watchState.ts");
    const { filesOf, placeOf, ChainAndFiles } = await import("./chainAndFiles.ts");
    const { untilStopped } = await import("./stopSignals.ts");
    const { endpointsOf, openTrustedChain } = await import("./trust.ts");
    const { eventDescriber } = await import("./watchEvents.ts");
    const users = await usersOf(args);
    const webhook = await webhookOf(args);
    const unavailableAfterMs = 1000 * args.unavailableAfter;
    using chainAndFiles = await ChainAndFiles.resolve({ ...args, rpc: endpointsOf(args.rpc) }, host);
    const files = filesOf(args, chainAndFiles);
    const { source, call, findBlock } = await openTrustedChain(args, chainAndFiles);
    if (source.name === "pinned-block")
      throw argumentInvalid("A watch needs new blocks. Use another choice than pinned-block.");
    const place = await placeOf(chainAndFiles, call);
    using state = await WatchState.open(args.state, place, { onRebuild: printRebuild });
    const { chainId, contract } = place;
    const { tag, maxAgeMs } = source;
    const options = {
      chainId,
      keyType: await (await import("keyroot/internal/keyTypes")).loadKeyType(args.keyType),
      contract,
      call,
      files,
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
    // Send alarms one at a time and independently of the polls. A webhook that does not respond then cannot stop the
    // watch.
    let sending = Promise.resolve();
    const unsent = new Set<string>();
    const report = (event: WatchEvent) => {
      if (args.json) printJson({ time: new Date().toISOString(), ...event });
      else for (const line of describe(event)) print(line);
      // An unread file may be wrong. With `--once`, the exit code reports unread files to cron jobs.
      if (event.event === "fileUnavailable" && args.once) process.exitCode ??= EXIT.unavailable;
      if (event.event !== "alarm" && event.event !== "stillOpen") return;
      process.exitCode = EXIT.false;
      // End the watch after this poll.
      if (!args.keepRunning) stopping.abort();
      if (webhook === undefined || event.event === "stillOpen") return;
      sending = sending.then(async () => {
        if (!(await sendAlarm(webhook, { ...event, contract, chainId }))) unsent.add(alarmKeyOf(event));
      });
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
      // The next run with this state sends these alarms again.
      state.saveAlarms(new Set(Array.from(state.alarms).filter((key) => !unsent.has(key))));
    }
    return undefined;
  },
);

function describeEnd(error: unknown): WatchEvent {
  const message = `The watch has ended. ${messageOf(error)}`;
  const detail = error instanceof KeyrootError ? error.code : undefined;
  return { event: "alarm", ...finding("WATCH_ENDED", message, { detail }) };
}

async function* polls(
  options: Omit<PollOptions, "rereadAfterMs">,
  { once, every }: Args,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent[]> {
  const { pollEvents, watch } = await import("../watch/watch.ts");
  if (once) yield* pollEvents({ ...options, rereadAfterMs: 0 });
  else yield* watch({ ...options, intervalMs: every * 1000, signal });
}

interface Webhook {
  url: string;
  secret: WebhookSecret | undefined;
}

/**
 * Sends an alarm to the webhook, after it was printed. If the webhook does not accept it, the error is printed, and the
 * command continues.
 * @returns true if the webhook accepted the alarm
 */
async function sendAlarm({ url, secret }: Webhook, alarm: object): Promise<boolean> {
  const { postWebhook } = await import("../watch/webhook.ts");
  try {
    // Standard Webhooks recommends the fields `type` and `timestamp`.
    await postWebhook(url, { type: "keyroot.alarm", timestamp: new Date().toISOString(), ...alarm }, { secret });
    return true;
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    printError(`${error.code}: The alarm was not sent: ${printable(error.message)}`);
    return false;
  }
}

async function usersOf({ userID, publicKey, records, keyType }: Args): Promise<WatchedUser[]> {
  const { base64ToBytes } = await import("keyroot/internal/bytes");
  const { checkPublicKey, parseUserID } = await import("keyroot/internal/identity");
  if (records !== undefined) {
    const { loadRecords } = await import("./inputFiles.ts");
    const { Progress } = await import("./progress.ts");
    using progress = new Progress();
    return [...(await loadRecords({ records, keyType }, progress))];
  }
  if (userID === undefined || publicKey === undefined) {
    const message =
      "No user is set. Set one user with --user-id and --public-key, or several users with --records FILE.";
    throw argumentInvalid(message);
  }
  const { loadKeyType } = await import("keyroot/internal/keyTypes");
  checkPublicKey(base64ToBytes(publicKey), await loadKeyType(keyType));
  return [{ userID: parseUserID(userID), pubKey: publicKey }];
}

/**
 * Reads the URL and the secret of the webhook. The URL usually contains a secret, too. It can come from a variable
 * instead of an option, because other accounts can see options in the list of processes.
 */
async function webhookOf(args: Args): Promise<Webhook | undefined> {
  const { checkWebhook } = await import("../watch/webhook.ts");
  const { alarmUrl: webhook, alarmHost } = args;
  const secret = await webhookSecretOf(args);
  if (webhook !== undefined) return { url: checkWebhook(webhook, alarmHost?.split(",") ?? []), secret };
  if (secret === undefined) return undefined;
  throw argumentInvalid("There is a secret for a webhook, but no webhook. Set KEYROOT_ALARM_URL.");
}

async function webhookSecretOf({ alarmSecretFile }: Args): Promise<WebhookSecret | undefined> {
  const { WebhookSecret } = await import("../http/webhookSecret.ts");
  if (alarmSecretFile !== undefined) return WebhookSecret.read(alarmSecretFile);
  const { KEYROOT_ALARM_SECRET: secret = "" } = process.env;
  return secret === "" ? undefined : new WebhookSecret(secret);
}
