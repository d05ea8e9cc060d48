import { expect } from "chai";
import { COMMANDS } from "../../../packages/operator/src/commands/commandTable.ts";
import { type Definition, optionName } from "../../../packages/operator/src/commands/defineCommand.ts";
import { type RawArguments, rawName, readArguments } from "../../../packages/operator/src/commands/parseArguments.ts";
import { trustOf } from "../../../packages/operator/src/commands/trust.ts";
import * as service from "../../../packages/service/src/commands/index.ts";

/** A command's modes, with the arguments that choose them, and the modes in which each option has an effect. */
interface Row {
  /** Without modes, every option has an effect whenever the command runs. */
  modes?: Readonly<Record<string, RawArguments>>;
  /** The options with an effect in every mode, separated by spaces. */
  always: string;
  /** The options with an effect only in some modes: the modes' names, separated by spaces. */
  only?: Readonly<Record<string, string>>;
}

const REGISTRY = "rpc chainId allowHttp contract";
const RECORDS = "keyType records usersPerFile";

const TRUST = {
  one: {},
  endpoints: { trust: "endpoints:2" },
  node: { trust: "own-node" },
  pinned: { trust: "pinned-block:0x12" },
  client: { trust: "light-client" },
  auditors: { trust: "auditors" },
};
const BLOCK = "one endpoints node";
const TRUST_SETTINGS = {
  block: BLOCK,
  beacon: "client",
  checkpoint: "client",
  auditors: "auditors",
  threshold: "auditors",
  statementUrls: "auditors",
};
const MAX_AGE = `${BLOCK} client auditors`;

/** Modes of `--files` and `--merkle-url`: one of them is the source of the files. */
const audited = (modes: Readonly<Record<string, RawArguments>>) => ({ ...modes, folder: { files: "dir" } });
const HOST = (modes: object) => Object.keys(modes).join(" ");
/** An audit relies on no other auditor. */
const AUDIT_TRUST = Object.fromEntries(Object.entries(TRUST).filter(([name]) => name !== "auditors"));

/** Every option of every command. A new option needs a row here, which says when it has an effect. */
const TABLE: Readonly<Record<string, Row>> = {
  "sample-users": { always: "count keyType" },
  "make-records": { always: "csv idColumn secretFile keyType json" },
  "build-file": { always: `${RECORDS} files brotli json` },
  "check-file": { always: "keyType json" },
  publish: {
    modes: { send: {}, safe: { safeTransactions: "dir" }, plan: { planOnly: true } },
    // With --plan-only, --safe-transactions decides how many users a file may have.
    always: `${RECORDS} accountFiles ${REGISTRY} merkleUrl json`,
    only: {
      safeTransactions: "safe plan send",
      planOnly: "plan send safe",
      ...{ files: "send safe", brotli: "send safe", plan: "send safe" },
      ...{ confirmations: "send safe", timeout: "send safe" },
      ...{ maxFee: "send", maxPriorityFee: "send", maxCost: "send", maxCostPerDay: "send" },
    },
  },
  estimate: { always: `${RECORDS} ethPrice ${REGISTRY} merkleUrl json` },
  deploy: { always: "owner deterministic keyType maxFee maxPriorityFee maxCost timeout rpc chainId allowHttp json" },
  "make-owner-key": { always: "out json" },
  status: {
    modes: { ...TRUST, tagged: { block: "safe" } },
    always: `trust ${REGISTRY} json`,
    only: { ...TRUST_SETTINGS, block: `${BLOCK} tagged`, plan: "one" },
  },
  ...Object.fromEntries(
    ["transfer-ownership", "accept-ownership"].map((name): [string, Row] => [
      name,
      {
        modes: { send: {}, print: { callOnly: true } },
        always: `${name === "transfer-ownership" ? "newOwner " : ""}callOnly ${REGISTRY} json`,
        only: { maxFee: "send", maxPriorityFee: "send", maxCost: "send", timeout: "send" },
      },
    ]),
  ),
  verify: {
    modes: {
      ...TRUST,
      "bundle-pinned": { ...TRUST.pinned, bundle: "file" },
      "bundle-client": { ...TRUST.client, bundle: "file" },
      "bundle-auditors": { ...TRUST.auditors, bundle: "file" },
    },
    always: "trust expectedPublicKey accounts codeHash keyType chainId contract json",
    only: {
      ...TRUST_SETTINGS,
      bundle: HOST(TRUST).concat(" bundle-pinned bundle-client bundle-auditors"),
      blockProof: "bundle-client",
      checkpoint: "client bundle-client",
      auditors: "auditors bundle-auditors",
      threshold: "auditors bundle-auditors",
      maxAge: MAX_AGE,
      account: HOST(TRUST),
      ...{ rpc: HOST(TRUST), merkleUrl: HOST(TRUST), allowHttp: HOST(TRUST) },
    },
  },
  account: {
    modes: {
      ...{ new: { action: "new" }, rotate: { action: "rotate" }, void: { action: "void" }, show: { action: "show" } },
      offline: { action: "rotate", offline: true },
      client: { action: "rotate", ...TRUST.client },
    },
    always: "account json",
    only: {
      keys: "new rotate void offline client",
      ...{ moreKeys: "new", threshold: "new", chainId: "new", contract: "new" },
      ...{ publicKey: "new rotate offline client", keyType: "new rotate offline client" },
      signatures: "rotate void offline client",
      offline: "rotate void show offline",
      ...{ rpc: "rotate void show client", allowHttp: "rotate void show client", trust: "rotate void show client" },
      ...{ beacon: "client", checkpoint: "client" },
    },
  },
  "light-client": { always: "beacon checkpoint beaconNetwork allowHttp json" },
  explorer: {
    // The page offers every source that is configured.
    always: `out blockExplorerUrl visitorEndpoints beacon checkpoint auditors threshold statementUrls accounts codeHash keyType ${REGISTRY} merkleUrl json`,
  },
  bundle: {
    modes: TRUST,
    always: `files trust accounts account keyType ${REGISTRY} merkleUrl json`,
    only: TRUST_SETTINGS,
  },
  audit: {
    modes: audited(AUDIT_TRUST),
    always: `trust codeHash keyType accounts state skipKnownFiles ${REGISTRY} json`,
    only: {
      ...{ block: `${BLOCK} folder`, beacon: "client", checkpoint: "client" },
      ...{ files: HOST(audited(AUDIT_TRUST)), merkleUrl: HOST(AUDIT_TRUST) },
    },
  },
  "make-auditor-key": { always: "out name json" },
  "sign-statement": {
    modes: audited(AUDIT_TRUST),
    always: `key statements interval trust codeHash keyType state ${REGISTRY} json`,
    only: {
      ...{ beacon: "client", checkpoint: "client" },
      ...{ files: HOST(audited(AUDIT_TRUST)), merkleUrl: HOST(AUDIT_TRUST) },
    },
  },
  "compare-statements": { always: "statementUrls statements auditors allowHttp json" },
  watch: {
    modes: {
      ...TRUST,
      ...{ folder: { files: "dir" }, list: { records: "file" }, once: { once: true }, json: { json: true } },
      hook: { alarmUrl: "https://hook.example" },
    },
    always: `unavailableAfter keyType trust fromBlock state alarmUrl ${REGISTRY}`,
    only: {
      ...TRUST_SETTINGS,
      block: `${BLOCK} folder list once json hook`,
      maxAge: `${MAX_AGE} folder list once json hook`,
      ...{ userID: `${HOST(TRUST)} folder once json hook`, publicKey: `${HOST(TRUST)} folder once json hook` },
      ...{ records: `${HOST(TRUST)} folder list once json hook`, files: `${HOST(TRUST)} folder list once json hook` },
      merkleUrl: `${HOST(TRUST)} list once json hook`,
      ...{ once: `${HOST(TRUST)} folder list once json hook`, json: `${HOST(TRUST)} folder list once json hook` },
      ...{ every: `${HOST(TRUST)} folder list json hook`, keepRunning: `${HOST(TRUST)} folder list json hook` },
      verbose: `${HOST(TRUST)} folder list once hook`,
      alarmHost: "hook",
      // The command refuses a secret without a webhook when it reads the secret, because a variable may contain it.
      alarmSecretFile: `${HOST(TRUST)} folder list once json hook`,
    },
  },
  serve: { always: "json" },
  publisher: {
    modes: { request: {}, schedule: { every: "60" }, never: { every: "0" } },
    always: "every json",
    only: { atLeast: "schedule" },
  },
  migrate: { always: "json" },
  reconcile: { always: "json" },
  "rebuild-files": { always: "json" },
  "make-signing-key": { always: "out json" },
  "create-partner": { always: "name serviceUrl json" },
  "create-server-token": { always: "bizID name serviceUrl json" },
  invite: {
    modes: { partner: {}, operator: { operator: true } },
    always: "operator name role serviceUrl json",
    only: { bizID: "partner" },
  },
  "list-partners": { always: "search serviceUrl json" },
  "suspend-partner": { always: "bizID serviceUrl json" },
  "resume-partner": { always: "bizID serviceUrl json" },
  "limit-users": {
    modes: { limited: {}, unlimited: { unlimited: true } },
    always: "bizID unlimited serviceUrl json",
    only: { userLimit: "limited" },
  },
  "list-server-tokens": { always: "bizID serviceUrl json" },
  "revoke-server-token": { always: "tokenID serviceUrl json" },
  "list-audit-log": { always: "bizID userID action actorKind actorID since until serviceUrl json" },
  "publish-registered": { always: "serviceUrl json" },
  stack: { always: "port keyType accounts json" },
};

const definitions: Readonly<Record<string, Definition>> = {
  ...COMMANDS,
  ...service.COMMANDS,
  ...service.HARDHAT_COMMANDS,
};

describe("the options of each command", () => {
  it("are all in this table", () => {
    const listed = Object.entries(TABLE).map(([name, { always, only = {} }]) => [
      name,
      [...always.split(" "), ...Object.keys(only)].toSorted(),
    ]);
    const defined = Object.entries(definitions).map(([name, { options }]) => [name, Object.keys(options).toSorted()]);
    expect(Object.fromEntries(listed)).to.deep.equal(Object.fromEntries(defined));
  });

  for (const [name, { modes = { usual: {} }, only = {} }] of Object.entries(TABLE)) {
    it(`have an effect or are refused, in every mode of ${name}`, () => {
      const definition = definitions[name];
      if (definition === undefined) throw new Error(`There is no command ${name}.`);
      for (const [mode, chosen] of Object.entries(modes))
        for (const [option, { kind }] of Object.entries(definition.options)) {
          if (Object.hasOwn(chosen, rawName(option))) continue;
          const raw = { ...chosen, [rawName(option)]: kind === "flag" ? true : sampleOf(definition, option) };
          const { problems } = readArguments(definition, raw, {});
          const refused = problems.filter((problem) => problem.includes(optionName(option)));
          const hasEffect = only[option]?.split(" ").includes(mode) ?? true;
          expect(refused, `${optionName(option)} in the mode ${mode}`).to.have.lengthOf(hasEffect ? 0 : 1);
          if (!hasEffect) expect(refused[0]).to.match(/cannot be used with|has no effect/);
        }
    });
  }

  it("do not come from variables in modes in which they have no effect", () => {
    const environment = { KEYROOT_CHAIN_ID: "not a number", KEYROOT_MAX_FEE: "20", KEYROOT_CONTRACT: "0x12" };
    const shown = readArguments(COMMANDS.account, { action: "show" }, environment);
    expect(shown.problems).to.deep.equal([]);
    expect(shown.args).to.include({ chainId: undefined, contract: undefined });
    expect(readArguments(COMMANDS.publish, { planOnly: true }, environment).args.maxFee).to.equal(undefined);
    expect(readArguments(COMMANDS.publish, {}, environment).args.maxFee).to.equal("20");
    const hooked = { KEYROOT_ALARM_URL: "https://hook.example" };
    expect(readArguments(COMMANDS.watch, { alarmHost: "hook.example" }, hooked).problems).to.deep.equal([]);
  });
});

describe("several endpoints in --rpc", () => {
  it("are refused with a choice of trust that asks only one, so that none is ignored", async () => {
    const rpc = "https://one.example,https://two.example";
    for (const trust of ["one-endpoint", "own-node", `pinned-block:0x${"12".repeat(32)}`, "light-client", "auditors"])
      expect(await trustOf({ trust, rpc }).catch((error: unknown) => error), trust).to.include({
        code: "ARGUMENT_INVALID",
        message: `--trust ${trust.split(":", 1)[0]} asks one endpoint, but --rpc contains 2. Set one URL, or --trust endpoints:N for N endpoints that agree.`,
      });
    expect(await trustOf({ trust: "endpoints:2", rpc })).to.include({ name: "endpoints" });
  });
});

/** Returns an accepted value of an option. */
function sampleOf({ options }: Definition, name: string): string {
  const option = options[name];
  if (option?.kind === "integer") return String(Math.max(option.min, 1));
  if (name === "trust") return "one-endpoint";
  return option?.kind === "text" ? (option.choices?.[0] ?? "value") : "value";
}
