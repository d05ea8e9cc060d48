/** Every command that needs no Hardhat: its name, help, argument and options. `table.ts` adds the handlers. */
import { MAX_INT32, MAX_TIMER_SECONDS } from "../input/limits.ts";
import type { Definition, Parsed } from "./definition.ts";

const text = <const Rest extends object = object>(value: string, description: string, rest?: Rest) =>
  ({ kind: "text", value, description, ...rest }) as { kind: "text"; value: string; description: string } & Rest;
const integer = <const Rest extends { min: number; max?: number; default?: number }>(
  value: string,
  description: string,
  rest: Rest,
) => ({ kind: "integer", value, description, ...rest }) as const;
const flag = (description: string) => ({ kind: "flag", description }) as const;

// Options that several commands share.
const json = flag("Print one JSON object instead of text");
const rpc = text("url", "JSON-RPC endpoint of the chain (default: the variable KEYROOT_RPC_URL, or the local stack's)");
const contract = text("address", "Address of the registry (default: the local stack's)");
const chainId = integer(
  "id",
  "Chain id that the endpoint must have; publish signs for it only (default: the variable KEYROOT_CHAIN_ID, or the local stack's)",
  { min: 1 },
);
const allowHttp = flag(
  "Allow plain http to other machines than this one, for the endpoint and the file host (default: the variable KEYROOT_ALLOW_HTTP)",
);
const chain = { rpc, contract, chainId, allowHttp };
const merkleUrl = text("url", "URL that serves the Merkle-tree files (default: the local stack's)");
const blockHash = text("hash", "Hash of the block to read, from a source that you trust");
const block = { choices: ["latest", "safe", "finalized"] } as const;
const usersSlot = integer("slot", "Storage slot of the contract's mapping, for proofs; PubKeyTrust has 1", {
  min: 0,
  default: 2,
});
const codeHash = text("hash", "Keccak-256 hash that the contract's code must have");
const records = text(
  "file",
  "File of user records: CSV if its name ends in .csv, otherwise JSON lines; - for JSON lines on standard input",
);
const skipBad = flag("Leave out bad rows instead of stopping");
const usersPerFile = integer("n", "Maximum number of users in one file", { min: 1, max: 1_000_000, default: 700 });
const recordFiles = { records, usersPerFile, skipBad };
const fileBytes = integer("bytes", "Maximum size of a file in bytes", { min: 1, max: MAX_INT32, default: 2 ** 24 });
const service = text(
  "url",
  "URL of the partner service, with its admin token in KEYROOT_ADMIN_TOKEN (default: the local stack's)",
);
const bizId = text("id", "Id of the partner, printed by create-partner and list-partners");
const maxFee = text(
  "gwei",
  "Maximum fee in gwei per unit of gas; required unless the chain is a local one (default: the variable KEYROOT_MAX_FEE)",
);
const ownership = {
  callOnly: flag("Print the call for the sender's own wallet, such as a Safe, and send nothing"),
  maxFee,
  maxCost: text("eth", "Maximum cost of the transaction in ETH (default: the variable KEYROOT_MAX_COST)"),
  timeout: integer("seconds", "Maximum number of seconds to wait for the transaction's block", {
    min: 1,
    default: 600,
  }),
};
const user = "User id, 32 characters of z-base-32";

export const DEFINITIONS = {
  "sample-users": {
    summary: "Print records of random sample users as JSON lines",
    options: { count: integer("n", "Number of users", { min: 1, default: 25 }) },
  },

  "build-file": {
    summary: "Build Merkle-tree files from user records",
    options: { ...recordFiles, out: text("dir", "Folder for the files"), json },
  },

  "check-file": {
    summary: "Check Merkle-tree files: the name, every record and the whole tree",
    argument: { name: "files", description: "Paths of files named <root>.json", kind: "many" },
    options: { json },
  },

  publish: {
    summary: "Publish users' keys: store their files, then add the roots to the registry",
    options: {
      ...recordFiles,
      out: text(
        "dir",
        "Folder or s3://<bucket>/<prefix> that the file host serves (default: the local stack's folder)",
      ),
      planOnly: flag("Show the plan; store and send nothing"),
      safeOut: text(
        "dir",
        "Folder for transaction files of the Safe that owns the registry; then wait until it executed them",
      ),
      plan: text("dir", "Folder that keeps an unfinished plan (default: a folder in .keyroot/plans)"),
      inFlight: integer("n", "Maximum number of pending transactions", { min: 1, default: 8 }),
      maxFee,
      maxCost: text(
        "eth",
        "Maximum cost of this run in ETH, at worst (default: the variable KEYROOT_MAX_COST, or an allowance per user at --max-fee)",
      ),
      checkSubgroup: flag("Also check keys as registration does, in one thread per core: about 2 ms per key"),
      accessList: text("when", "Whether transactions carry an access list (EIP-2930); auto uses the cheaper way", {
        choices: ["auto", "always", "never"],
        default: "auto",
      }),
      confirmations: integer("n", "Number of confirmations to wait for; 1 is the block of the transaction", {
        min: 1,
        default: 1,
      }),
      finalized: flag("Wait until the blocks of the roots are finalized"),
      timeout: integer("seconds", "Maximum number of seconds to wait without any progress", { min: 1, default: 600 }),
      ...chain,
      merkleUrl,
      json: flag("Print one JSON object per line: each event, then the result"),
    },
  },

  estimate: {
    summary: "Estimate the cost of publishing users' keys now",
    options: {
      ...recordFiles,
      ethPrice: text("price", "Price of one ETH in any currency, to show the cost in it"),
      ...chain,
      json,
    },
  },

  status: { summary: "Show the owner, user count and code hash of a registry", options: { ...chain, json } },

  "transfer-ownership": {
    summary: "Offer the ownership of a registry to another account, which becomes the owner when it accepts",
    options: {
      newOwner: text("address", "Account that shall own the registry"),
      ...ownership,
      ...chain,
      json,
    },
  },

  "accept-ownership": {
    summary: "Accept the ownership of a registry that transfer-ownership offered",
    options: { ...ownership, ...chain, json },
  },

  verify: {
    summary: "Verify a user's public key as an app does",
    argument: { name: "userId", description: `${user}; optional with --bundle`, kind: "optional" },
    options: {
      bundle: text("file", "File with the user's bundle, verified against --block-hash without a network"),
      blockHash,
      quorum: integer("n", "Number of endpoints in --rpc that must agree", { min: 1 }),
      lightClient: flag("Declare that --rpc is a light client"),
      proof: flag("Require a storage proof of the contract's answer"),
      block: text("tag", "Block to read (default: latest)", block),
      maxAge: integer("seconds", "Maximum age of that block in seconds", { min: 0 }),
      usersSlot,
      expectedPublicKey: text("base64", "The key that the server handed out, in base64"),
      codeHash,
      ...chain,
      rpc: text("url", `${rpc.description}; several, separated by commas, for --quorum`),
      merkleUrl,
      json,
    },
  },

  explorer: {
    summary: "Write the explorer, a page that verifies keys in the visitor's browser, as files for any web host",
    options: {
      out: text("dir", "Folder for the files"),
      visitorEndpoints: flag("Let visitors add endpoints of their own: the page may then connect to any https host"),
      usersSlot,
      codeHash,
      ...chain,
      rpc: text("url", `${rpc.description}; several, separated by commas, for visitors to choose from`),
      merkleUrl,
      json,
    },
  },

  bundle: {
    summary: "Write a user's proof and bundle, which can be verified without a network",
    argument: { name: "userId", description: user, kind: "required" },
    options: {
      out: text(
        "dir",
        "Folder for the files <root>/<user id>.json and .bundle.json; a file host serves them from there",
      ),
      blockHash,
      ...chain,
      merkleUrl,
      json,
    },
  },

  audit: {
    summary: "Audit the whole history of a registry against all files, in both directions",
    options: {
      files: text("dir", "Folder with the files, also searched for stray ones, instead of --merkle-url"),
      blockHash,
      block: text("tag", "Block to audit at (default: latest)", block),
      proof: flag("Require a storage proof of the number of users"),
      codeHash,
      state: text("file", "File that remembers finished work (default: a file in .keyroot)"),
      fresh: flag("Start over and ignore the state of earlier runs"),
      workers: integer("n", "Number of threads that check files; 0 is one per core", { min: 0, max: 256, default: 0 }),
      fileBytes,
      ...chain,
      merkleUrl,
      json,
    },
  },

  watch: {
    summary: "Watch for roots that publish a wrong key for a user, and for missing files",
    options: {
      userId: text("user", user),
      publicKey: text("base64", "That user's own public key, in base64"),
      records: text("file", "File with records of several users, as for publish, instead of --user-id"),
      files: text("dir", "Folder with the files, instead of --merkle-url"),
      every: integer("seconds", "Seconds between two polls", { min: 1, max: MAX_TIMER_SECONDS, default: 12 }),
      once: flag("Poll once and exit, for cron; with --state it continues where the last run ended"),
      stay: flag("Continue after an alarm"),
      unavailableAfter: integer(
        "seconds",
        "Seconds after which an unavailable file or endpoint is an alarm (default: the variable KEYROOT_UNAVAILABLE_AFTER, or 600)",
        { min: 0, max: MAX_INT32 },
      ),
      verbose: flag("Print each new root and each published user, not only the summary of a poll"),
      block: text("tag", "Newest block to read (default: latest)", block),
      maxAge: integer("seconds", "Maximum age of that block in seconds (default: any)", { min: 0, max: MAX_INT32 }),
      fromBlock: integer("number", "First block to read (default: the next one)", { min: 0 }),
      state: text("file", "File that remembers what was read (default: none)"),
      fresh: flag("Start over and ignore the state"),
      webhook: text("url", "URL that alarms are sent to (default: the variable KEYROOT_WEBHOOK)"),
      webhookHost: text("hosts", "Hosts that alarms may be sent to, separated by commas"),
      webhookSecretFile: text(
        "file",
        "File with the secret that signs alarms (default: the variable KEYROOT_WEBHOOK_SECRET_FILE, or the secret in KEYROOT_WEBHOOK_SECRET)",
      ),
      fileBytes,
      ...chain,
      merkleUrl,
      json: flag("Print one JSON object per line for each event"),
    },
  },

  serve: {
    summary: "Run the partner service until Ctrl-C, configured by environment variables",
    options: {
      every: integer("seconds", "Seconds between two rounds of publishing; 0 turns scheduled publishing off", {
        min: 0,
        max: MAX_TIMER_SECONDS,
        default: 0,
      }),
      atLeast: integer("n", "Minimum number of pending keys that starts a round", { min: 1, default: 1 }),
      json,
    },
  },

  migrate: { summary: "Create or update the tables in the partner service's databases", options: { json } },

  reconcile: {
    summary: "Record published keys that the partner service's databases do not know, after a restore",
    options: { json },
  },

  "make-signing-key": {
    summary: "Make a key that signs the partner service's access tokens",
    options: { out: text("file", "File of signing keys; the new key is appended if the file exists"), json },
  },

  "create-partner": {
    summary: "Create a partner company in a running partner service",
    options: { name: text("text", "Name of the company, for people"), service, json },
  },

  "create-server-token": {
    summary: "Create a partner's server token and print it once",
    options: {
      bizId,
      name: text("text", "Name of the token, for people (optional)"),
      service,
      json,
    },
  },

  invite: {
    summary:
      "Invite a person to a partner's dashboard or the operator's console, and print the link once; again for a person who lost the passkeys",
    options: {
      bizId: text("id", "Id of the partner, printed by create-partner"),
      operator: flag("Invite to the operator's console instead, which manages all partners"),
      name: text("text", "Name of the person"),
      role: text("role", "administrator, who can change everything, or reader", {
        choices: ["administrator", "reader"],
        default: "administrator",
      }),
      service,
      json,
    },
  },

  "list-partners": {
    summary: "List the partners of a running partner service with their numbers",
    options: {
      search: text("text", "A part of the name, or the beginning of the partner's id (default: all partners)"),
      service,
      json: flag("Print one JSON object per line for each partner"),
    },
  },

  "suspend-partner": {
    summary: "Refuse all tokens of a partner and of its users, until resume-partner",
    options: { bizId, service, json },
  },

  "resume-partner": { summary: "End the suspension of a partner", options: { bizId, service, json } },

  "limit-users": {
    summary: "Limit the number of users that a partner may create",
    options: {
      bizId,
      max: integer("n", "Maximum number of users", { min: 0, max: MAX_INT32 }),
      unlimited: flag("Remove the limit instead"),
      service,
      json,
    },
  },

  "list-server-tokens": {
    summary: "List a partner's server tokens, without their values",
    options: { bizId, service, json: flag("Print one JSON object per line for each token") },
  },

  "revoke-server-token": {
    summary: "Revoke a partner's server token",
    options: { tokenId: text("id", "Id of the token, printed by list-server-tokens"), service, json },
  },

  "list-audit-log": {
    summary: "List the audit log of a running partner service, the newest entries first",
    options: {
      bizId: text("id", "Only changes of this partner and its users"),
      userId: text("user", "Only changes of this user: 32 characters of z-base-32, or 40 hex digits"),
      action: text("action", "Only this action, such as serverToken.revoked"),
      actorKind: text("kind", "Only changes by actors of this kind", {
        choices: ["service", "operator", "person", "partner", "user"],
      }),
      actorId: text("id", "Only changes by the server token, user or person with this id"),
      since: text("time", "Only entries of this time or later, such as 2027-01-31 or 2027-01-31T08:00:00Z"),
      until: text("time", "Only entries before this time"),
      service,
      json: flag("Print one JSON object per line for each entry"),
    },
  },

  "publish-registered": {
    summary: "Make a running partner service publish the keys that its users registered",
    options: { service, json },
  },
} as const satisfies Record<string, Definition>;

/** The name of a command: a key of `DEFINITIONS`. */
export type CommandName = keyof typeof DEFINITIONS;

/** What a command's handler is given. */
export type ArgsOf<Name extends CommandName> = Parsed<(typeof DEFINITIONS)[Name]>;
