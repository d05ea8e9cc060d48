import { pollEvents, watch, type WatchEvent } from "../audit/watch.ts";
import type { PollOptions, WatchedUser } from "../audit/poll.ts";
import { WatchState } from "../audit/watchState.ts";
import { checkWebhook, postWebhook } from "../audit/webhook.ts";
import { describeValue, printable } from "keyroot/input";
import { ArgumentError, KeyrootError } from "keyroot/errors";
import { base64ToBytes } from "keyroot/bytes";
import { checkPublicKey } from "keyroot/identity";
import { parseUserID } from "keyroot/identity";
import { untilStopped } from "../stack/untilStopped.ts";
import { checkCount, filesOf, placeOf, tagOf } from "./auditArgs.ts";
import { command, print } from "./command.ts";
import { EXIT } from "./exitCodes.ts";
import { loadRecords } from "./loadRecords.ts";
import { Progress } from "./progress.ts";
import { Target, type TargetArgs } from "./target.ts";

interface Args extends TargetArgs {
  userId: string | undefined;
  publicKey: string | undefined;
  records: string | undefined;
  files: string | undefined;
  fileBytes: number;
  every: number;
  once: boolean;
  stay: boolean;
  block: string | undefined;
  fromBlock: string | undefined;
  state: string | undefined;
  fresh: boolean;
  webhook: string | undefined;
  webhookHost: string | undefined;
  json: boolean;
}

/** `keyroot watch`: looks at what is new until an alarm, or Ctrl-C; one JSON object a line with `--json`. */
export default command(async (args: Args, hre) => {
  const users = await usersOf(args);
  const webhook = webhookOf(args);
  const tag = tagOf(args.block);
  checkCount("--every", args.every, 1, 2 ** 31 - 1);
  const fromBlock = args.fromBlock === undefined ? undefined : toCount(args.fromBlock);
  const target = await Target.resolve(args, hre);
  const files = filesOf(args, target);
  const { call } = target;
  const place = await placeOf(target);
  using state = await WatchState.open(args.state, place, { fresh: args.fresh });
  const options = { ...place, call, files, users, tag, fromBlock, state };

  const stopping = new AbortController();
  void untilStopped().then(() => {
    stopping.abort();
  });
  for await (const events of polls(options, args, stopping.signal)) {
    for (const event of events) {
      if (args.json) print(JSON.stringify({ time: new Date().toISOString(), ...event }));
      // The summary counts them: with many users, they would be many lines.
      else if (event.event !== "rootAdded" && event.event !== "published") print(lineOf(event));
      if (event.event !== "alarm") continue;
      process.exitCode = EXIT.false;
      if (webhook !== undefined) await shout(webhook, { ...event, contract: place.contract, chainId: place.chainId });
    }
    if (process.exitCode === EXIT.false && !args.stay) break;
  }
  return undefined;
});

async function* polls(options: Omit<PollOptions, "readOwnFiles">, { once, every }: Args, signal: AbortSignal) {
  if (once) yield await pollEvents({ ...options, readOwnFiles: true });
  else yield* watch({ ...options, intervalMs: every, signal });
}

/** The alarm has been given already: a webhook that takes none must not take it back. */
async function shout(webhook: string, alarm: object): Promise<void> {
  try {
    await postWebhook(webhook, alarm);
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    process.stderr.write(`${error.code}: The alarm was not sent: ${printable(error.message)}\n`);
  }
}

async function usersOf({ userId, publicKey, records }: Args): Promise<WatchedUser[]> {
  if (records !== undefined) {
    if (userId !== undefined || publicKey !== undefined) {
      throw new ArgumentError("ARGUMENT_INVALID", "--records names the users: leave out --user-id and --public-key.");
    }
    using progress = new Progress();
    return [...(await loadRecords({ records, skipBad: false }, progress)).records];
  }
  if (userId === undefined || publicKey === undefined) {
    const message = "Name the user and their own key, --user-id and --public-key, or several with --records FILE.";
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
  checkPublicKey(base64ToBytes(publicKey));
  return [{ userID: parseUserID(userId), pubKey: publicKey }];
}

/** The address is a secret as a rule: the variable keeps it out of the list of processes. */
function webhookOf({ webhook = process.env["KEYROOT_WEBHOOK"], webhookHost }: Args): string | undefined {
  return webhook === undefined ? undefined : checkWebhook(webhook, webhookHost?.split(",") ?? []);
}

function toCount(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new ArgumentError("ARGUMENT_INVALID", `--from-block must be a whole number: ${describeValue(text)}.`);
}

function lineOf(event: Exclude<WatchEvent, { event: "rootAdded" | "published" }>): string {
  switch (event.event) {
    case "polled":
      return (
        `block ${event.blockNumber}  ${event.rootsAdded} new roots with ${event.usersAdded} users, ` +
        `${event.publishedUsers} of ${event.watchedUsers} watched keys published, ${event.alarms} alarms`
      );
    case "alarm":
      return `ALARM  ${event.code}: ${printable(event.message)}`;
    case "notice":
      return `notice  ${event.code}: ${printable(event.message)}`;
    case "unavailable":
      return `unavailable  ${event.code}: ${printable(event.message)} Next try in ${event.retryInMs} ms.`;
    case "recovered":
      return "recovered";
  }
}
