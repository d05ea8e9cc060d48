import { base64ToBytes } from "keyroot/bytes";
import { ArgumentError, KeyrootError } from "keyroot/errors";
import { checkPublicKey, parseUserID } from "keyroot/identity";
import { printable } from "keyroot/input";
import type { PollOptions, WatchedUser } from "../audit/poll.ts";
import { pollEvents, watch } from "../audit/watch.ts";
import { WatchState } from "../audit/watchState.ts";
import { checkWebhook, postWebhook } from "../audit/webhook.ts";
import { filesOf, placeOf } from "./auditArgs.ts";
import type { ArgsOf } from "./definitions.ts";
import { EXIT } from "./exitCodes.ts";
import type { Host } from "./host.ts";
import { loadRecords } from "./loadRecords.ts";
import { print, printError } from "./output.ts";
import { Progress } from "./progress.ts";
import { untilStopped } from "./stopSignals.ts";
import { Target } from "./target.ts";
import { describeEvent, isCounted } from "./watchEvents.ts";

type Args = ArgsOf<"watch">;

/** `keyroot watch`: polls for new roots until an alarm or Ctrl-C. */
export default async function watchKeys(args: Args, host: Host): Promise<undefined> {
  const users = await usersOf(args);
  const webhook = webhookOf(args);
  const target = await Target.resolve(args, host);
  const files = filesOf(args, target);
  const { call } = target;
  const place = await placeOf(target);
  using state = await WatchState.open(args.state, place, { fresh: args.fresh });
  const { block: tag = "latest", fromBlock } = args;
  const { chainId, contract } = place;
  const options = { chainId, contract, call, files, users, tag, fromBlock, state };

  const stopping = new AbortController();
  void untilStopped().then(() => {
    stopping.abort();
  });
  for await (const events of polls(options, args, stopping.signal)) {
    for (const event of events) {
      if (args.json) print(JSON.stringify({ time: new Date().toISOString(), ...event }));
      else if (args.verbose || !isCounted(event)) print(describeEvent(event));
      if (event.event !== "alarm") continue;
      process.exitCode = EXIT.false;
      if (webhook !== undefined) await sendAlarm(webhook, { ...event, contract, chainId });
    }
    if (process.exitCode === EXIT.false && !args.stay) break;
  }
}

async function* polls(options: Omit<PollOptions, "readOwnFiles">, { once, every }: Args, signal: AbortSignal) {
  if (once) yield await pollEvents({ ...options, readOwnFiles: true });
  else yield* watch({ ...options, intervalMs: every, signal });
}

/** Sends an alarm that is already printed, so a failing webhook does not end the command. */
async function sendAlarm(webhook: string, alarm: object): Promise<void> {
  try {
    await postWebhook(webhook, alarm);
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
function webhookOf({ webhook = process.env["KEYROOT_WEBHOOK"], webhookHost }: Args): string | undefined {
  return webhook === undefined ? undefined : checkWebhook(webhook, webhookHost?.split(",") ?? []);
}
