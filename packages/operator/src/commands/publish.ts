import { setFlagsFromString } from "node:v8";
import { describeValue } from "keyroot/input";
import { ArgumentError } from "keyroot/errors";
import { checkUsersPerFile } from "../publisher/plan/cutIntoFiles.ts";
import { fetchFromHost } from "../publisher/files/fetchFile.ts";
import { makePlan, planTargetOf } from "../publisher/plan/makePlan.ts";
import { openStore } from "../publisher/files/openStore.ts";
import { countUsers, serializePlan } from "../publisher/plan/plan.ts";
import { openSigner } from "../publisher/signers/openSigner.ts";
import { executeBySafe, USERS_PER_SAFE_TRANSACTION } from "../publisher/safe/executeBySafe.ts";
import { FolderJournal } from "../publisher/journal/folderJournal.ts";
import { publish, type PublishEvent, type PublishOptions, type PublishResult } from "../publisher/publish.ts";
import { Registry } from "../publisher/chain/registry.ts";
import { signingSender } from "../publisher/signers/signer.ts";
import { command, type Outcome, print } from "./command.ts";
import { loadRecords, skippedLine } from "./loadRecords.ts";
import { describeGwei, describeEther } from "./money.ts";
import { planFolderOf } from "./planFolderOf.ts";
import { Progress } from "./progress.ts";
import { Target, type TargetArgs } from "./target.ts";

interface Args extends TargetArgs {
  records: string | undefined;
  out: string | undefined;
  usersPerFile: number;
  skipBad: boolean;
  plan: string | undefined;
  planOnly: boolean;
  safeOut: string | undefined;
  inFlight: number;
  maxFee: string | undefined;
  accessList: string;
  confirmations: number;
  finalized: boolean;
  timeout: number;
  json: boolean;
}

/** `keyroot publish`: users' keys, first their files and then the files' roots, until every key is proven. */
export default command(async (args: Args, hre) => {
  const { planOnly, safeOut, json } = args;
  // A million users' garbage is young: room for more of it would cost 100 MB and save no time (`bench/publish.ts`).
  setFlagsFromString("--semi-space-growth-factor=1");
  checkUsersPerFile(args.usersPerFile);
  const usersPerFile =
    safeOut === undefined ? args.usersPerFile : Math.min(args.usersPerFile, USERS_PER_SAFE_TRANSACTION);
  const options = optionsOf(args);
  const target = await Target.resolve(args, hre);
  const { contract } = target;
  if (planOnly) return showPlan(args, target);
  const { merkleUrl } = target;
  const store = await openStore(args.out ?? target.merkleDir);
  await target.checkChainId();
  const registry = await Registry.connect(target.call, contract);
  const signer = await openSigner(process.env);
  const planTarget = await planTargetOf(registry);
  using journal = await FolderJournal.open(args.plan ?? planFolderOf(planTarget, hre.config.paths.root));
  using progress = new Progress(() => {
    sayHowToGoOn(json);
  });
  const { records, bad } = await loadRecords(args, progress);
  const bar = new Bar(progress);
  const result = await publish(records, {
    registry,
    store,
    ...(safeOut === undefined
      ? { send: signer && signingSender(signer, planTarget, target.call) }
      : { execute: bySafe(safeOut, registry, bar, json) }),
    journal,
    usersPerFile,
    fetchFile: fetchFromHost(merkleUrl),
    ...options,
    onProgress: (stage, done, users) => {
      if (bar.show(stage, done, users) && json) print(JSON.stringify({ event: "stage", stage, users }));
    },
    onEvent: (event) => {
      bar.take(event);
      if (json) print(toJson(event));
      else if (event.event === "waiting") process.stderr.write(`Waiting: ${event.reason}.\n`);
      else if (event.event === "rebuilt")
        process.stderr.write(`Rebuilt, because the store had lost it: ${event.root}.json\n`);
    },
  });
  return { json: { ...summaryOf(result), contract, skipped: bad }, text: describe(result, bad) };
});

/** `--safe-out`: the owner is a Safe, whose owners sign. */
function bySafe(dir: string, registry: Registry, bar: Bar, json: boolean): NonNullable<PublishOptions["execute"]> {
  return (batches, plan) =>
    executeBySafe(batches, plan, {
      dir,
      now: () => Date.now(),
      getMerkleTreeRoots: (userIDs) => registry.getMerkleTreeRoots(userIDs),
      onFiles: (paths) => {
        if (json) print(JSON.stringify({ event: "exported", files: paths }));
        else
          process.stderr.write(`For the Safe's Transaction Builder:\n${paths.map((path) => `  ${path}\n`).join("")}`);
      },
      onProgress: (done, users) => {
        bar.show("waiting for the Safe", done, users);
      },
    });
}

/** `--plan-only`: what would be published; nothing is stored or sent. */
async function showPlan(args: Args, target: Target): Promise<Outcome | undefined> {
  await target.checkChainId();
  const registry = await Registry.connect(target.call, target.contract);
  using progress = new Progress();
  const { records, bad } = await loadRecords(args, progress);
  let alreadyPublished = 0;
  const plan = await makePlan(records, registry, {
    usersPerFile: args.usersPerFile,
    onAlreadyPublished: (users) => (alreadyPublished += users.length),
    onProgress: (stage, done, users) => {
      progress.update(stage, done, users);
    },
  });
  if (args.json) {
    for (const line of serializePlan(plan)) process.stdout.write(line);
    return undefined;
  }
  const lines = plan.batches.map(({ root, users, fileBytes }) => {
    return `${root}  ${users} users, a file of ${fileBytes} bytes`;
  });
  const sum = `${countUsers(plan.batches)} users to publish in ${plan.batches.length} transactions, ${alreadyPublished} have a root.`;
  return { json: {}, text: [...lines, sum, ...skippedLine(bad)].join("\n") };
}

function optionsOf({ inFlight, maxFee, accessList, confirmations, finalized, timeout }: Args) {
  if (finalized && confirmations !== 1) {
    throw new ArgumentError(
      "ARGUMENT_INVALID",
      "--finalized and --confirmations exclude each other: pass only one of them.",
    );
  }
  const lists: Record<string, boolean | undefined> = { auto: undefined, always: true, never: false };
  if (!Object.hasOwn(lists, accessList)) {
    const message = `--access-list must be auto, always or never, it is ${describeValue(accessList)}.`;
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
  return {
    finality: finalized ? ("finalized" as const) : { confirmations: atLeast("--confirmations", confirmations, 1) },
    accessList: lists[accessList],
    sending: {
      inFlight: atLeast("--in-flight", inFlight, 1),
      timeoutMs: atLeast("--timeout", timeout, 1) * 1000,
      ...(maxFee !== undefined && { maxFeePerGas: toWei(maxFee) }),
    },
  };
}

function atLeast(option: string, number: number, least: number): number {
  if (number >= least) return number;
  throw new ArgumentError("ARGUMENT_INVALID", `${option} must be ${least} or more, it is ${number}.`);
}

/** @param gwei a decimal number of 10^9 wei */
function toWei(gwei: string): bigint {
  const [, whole, fraction = ""] = /^(\d{1,9})(?:\.(\d{1,9}))?$/.exec(gwei) ?? [];
  if (whole !== undefined) return BigInt(whole + fraction.padEnd(9, "0"));
  throw new ArgumentError("ARGUMENT_INVALID", `--max-fee must be a number of gwei: ${describeValue(gwei)}.`);
}

/** The bar, and what it says beside the users: transactions, gas and its price. */
class Bar {
  readonly #progress: Progress;
  #transactions = 0;
  #included = 0;
  #gas = 0;
  #price: bigint | undefined;
  #stage: string | undefined;

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  take(event: PublishEvent): void {
    if (event.event === "planned" || event.event === "resumed") {
      this.#transactions = event.batches;
      this.#included = 0;
    } else if (event.event === "included") {
      this.#included++;
      this.#gas += event.added?.gasUsed ?? 0;
      this.#price = event.added?.gasPrice ?? this.#price;
    } else if (event.event === "reorganised") {
      this.#included--;
    }
  }

  /** Tells whether this is the first word of a stage. */
  show(stage: string, done: number, users: number): boolean {
    const price = this.#price === undefined ? "" : ` at ${describeGwei(this.#price)}`;
    const note = `${this.#included}/${this.#transactions} transactions, ${this.#gas} gas${price}`;
    this.#progress.update(stage, done, users, "users", stage === "adding roots" ? note : "");
    const begins = stage !== this.#stage;
    this.#stage = stage;
    return begins;
  }
}

function sayHowToGoOn(json: boolean): void {
  const again = ["npx", "hardhat", ...process.argv.slice(2)].map(quoted).join(" ");
  if (json) print(JSON.stringify({ event: "interrupted", goOn: again }));
  else process.stderr.write(`Stopped; nothing is lost, and nothing is half done. To go on:\n  ${again}\n`);
}

/** A word as a POSIX shell takes it. */
function quoted(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function summaryOf({ published, alreadyPublished, superseded }: PublishResult) {
  const users = published.reduce((sum, root) => sum + root.users, 0);
  const gasUsed = published.reduce((sum, root) => sum + root.gasUsed, 0);
  const cost = published.reduce((sum, root) => sum + BigInt(root.gasUsed) * root.gasPrice, 0n);
  return {
    users,
    transactions: published.length,
    gasUsed,
    gasPerUser: users === 0 ? 0 : Math.round((gasUsed / users) * 10) / 10,
    costWei: String(cost),
    alreadyPublished,
    superseded,
    published: published.map(
      ({ root, users, fileBytes, transactionHash, blockNumber, gasUsed, gasPrice, addedCount }) => {
        const transaction = { transactionHash, blockNumber, gasUsed, gasPrice: String(gasPrice), addedCount };
        return { root, users, fileBytes, ...transaction };
      },
    ),
  };
}

function describe(result: PublishResult, bad: Parameters<typeof skippedLine>[0]): string {
  const { users, transactions, gasUsed, gasPerUser, costWei, alreadyPublished, superseded } = summaryOf(result);
  return [
    ...result.published.map(({ root, users, blockNumber, gasUsed }) => {
      return `${root}  ${users} users in block ${blockNumber}, ${gasUsed} gas`;
    }),
    ...superseded.map(({ userID, root }) => `${userID}  superseded: has the root ${root}, from another publisher`),
    `${users} users published, ${alreadyPublished} had a root before and keep it.`,
    ...(transactions === 0
      ? []
      : [
          `Each key is proven. ${transactions} transactions, ${gasUsed} gas, ${gasPerUser} a user, ` +
            `${describeEther(BigInt(costWei))}.`,
        ]),
    ...skippedLine(bad),
  ].join("\n");
}

function toJson(event: PublishEvent): string {
  return JSON.stringify(event, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
}
