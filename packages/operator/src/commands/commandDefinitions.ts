/**
 * The definition of every command that does not need Hardhat: the command's name, help, argument and options.
 * `commandHandlers.ts` adds the handlers.
 */
import type { KeyTypeName } from "keyroot/internal/identity";
import {
  chainOptions,
  type Definition,
  flag,
  integer,
  json,
  MAX_INT32,
  MAX_TIMER_SECONDS,
  type Parsed,
  text,
} from "./defineCommand.ts";

// Options of several commands. If neither the option nor the option's variable is set, the command uses the running
// local stack.
const contract = text("address", "Address of the registry", { variable: "KEYROOT_CONTRACT" });
const chain = { ...chainOptions, contract };
const merkleUrl = text("url", "URL of the file host that serves the Merkle-tree files", {
  variable: "KEYROOT_MERKLE_URL",
});
const SEVERAL_ENDPOINTS = {
  ...chain.rpc,
  description: `${chain.rpc.description}. For --trust endpoints:N, give several URLs, separated by commas`,
};
const files = (description: string) => text("dir", description, { variable: "KEYROOT_FILES" });
const requiredFiles = (description: string) => ({ ...files(description), required: true }) as const;
const auditedFiles = text("dir", "Read the files from this folder and its subfolders instead of the file host", {
  variable: "KEYROOT_FILES",
  excludes: ["merkleUrl"],
});
const block = text("tag", "Block to read, for one-endpoint, endpoints and own-node", {
  choices: ["latest", "safe", "finalized"],
  defaultText: "latest",
});
const beaconNetworks = ["mainnet", "sepolia", "hoodi", "gnosis", "test"] as const;
const beacon = {
  beacon: text(
    "url",
    "URLs of Beacon API endpoints, separated by commas. Signatures of Ethereum's sync committee must prove their blocks",
  ),
  checkpoint: text("root", "Root of a finalized beacon block that you trust: 0x and 64 lowercase hex digits"),
  beaconNetwork: text("network", "Network of the beacon chain", {
    choices: beaconNetworks,
    defaultText: "the network of --chain-id, or mainnet",
  }),
  maxCheckpointAge: integer("days", "Maximum age of the checkpoint in days", {
    min: 1,
    max: 36_500,
    defaultText: "the network's weak subjectivity period",
  }),
};
const auditors = {
  auditors: text("file", "File with the auditors' public keys, one per line"),
  threshold: integer("n", "Number of auditors that must have signed the same statement", { min: 1 }),
  statementUrls: text("urls", "URLs of the auditors' statement folders, separated by commas"),
};
const trust = {
  trust: text(
    "choice",
    "What to trust for the block: one-endpoint, endpoints:N for N endpoints in --rpc that agree, own-node, pinned-block:HASH, light-client with --beacon and --checkpoint, or auditors with --auditors, --threshold and --statement-urls",
    { defaultText: "one-endpoint" },
  ),
  block,
  ...beacon,
  ...auditors,
};
const signingKey = text("file", "File with the encrypted key of the auditor who signs");
const newKeyFile = text(
  "file",
  "Path of the new key file. The command encrypts the key with the passphrase from the file that KEYROOT_PASSPHRASE_FILE specifies",
  {
    required: true,
  },
);
const statementFolder = text("dir", "Folder for your own statements. Your web server must publish this folder");
const keyTypes = ["curve41417", "x25519", "ed25519", "p256", "document"] as const satisfies readonly KeyTypeName[];
const keyType = text("type", "Type of the registry's public keys", {
  choices: keyTypes,
  default: "curve41417",
  variable: "KEYROOT_KEY_TYPE",
});
const codeHash = text("hash", "Expected Keccak-256 hash of the contract's code: 0x and 64 hex digits");
const records = text(
  "file",
  "File of user records in JSON lines, or in CSV if its name ends in .csv. The name - means standard input",
  { required: true },
);
const planFolder = (description: string) => text("dir", description, { defaultText: ".keyroot/plans" });
const skipBad = flag("Skip bad rows instead of stopping");
const usersPerFile = integer("n", "Maximum number of users in one file", { min: 1, max: 1_000_000, default: 64 });
const recordFiles = { records, keyType, usersPerFile, skipBad };
const besideFiles = {
  brotli: flag("Also store Brotli-compressed copies of the files, named <root>.json.br", {
    variable: "KEYROOT_BROTLI",
  }),
};
const fileBytes = integer("bytes", "Maximum size of a file in bytes", { min: 1, max: MAX_INT32, default: 2 ** 24 });
const maxFee = text("gwei", "Maximum fee in gwei per unit of gas. Required unless the chain is local", {
  variable: "KEYROOT_MAX_FEE",
});
const maxPriorityFee = text("gwei", "Maximum priority fee (tip) in gwei per unit of gas. --max-fee includes it", {
  variable: "KEYROOT_MAX_PRIORITY_FEE",
  defaultText: "a quarter of --max-fee",
});
const maxCost = { variable: "KEYROOT_MAX_COST" } as const;
const transaction = {
  maxFee,
  maxPriorityFee,
  maxCost: text("eth", "Maximum cost of the transaction in ETH", maxCost),
  timeout: integer("seconds", "Maximum number of seconds to wait for the transaction's block", {
    min: 1,
    default: 600,
  }),
};
const ownership = {
  callOnly: flag("Print the call, and send nothing. You can then send the printed call with a Safe or another wallet"),
  ...transaction,
};
const user = "User id: 32 characters of zBase32";

type Given = Readonly<Record<string, unknown>>;

const REGISTRY = ["rpc", "contract"];
const FILES_OF_REGISTRY = [...REGISTRY, "merkleUrl"];

function publishNeeds({ planOnly, safeTransactions }: Given): string[] {
  if (planOnly === true) return REGISTRY;
  const limits = safeTransactions === undefined ? ["maxFee"] : [];
  return ["files", ...FILES_OF_REGISTRY, "chainId", ...limits];
}

function ownershipNeeds({ callOnly }: Given): string[] {
  return [...REGISTRY, "chainId", ...(callOnly === true ? [] : ["maxFee"])];
}

function watchNeeds({ records, files }: Given): string[] {
  const users = records === undefined ? ["userID", "publicKey"] : [];
  return [...users, ...(files === undefined ? FILES_OF_REGISTRY : REGISTRY)];
}

function auditNeeds({ compare, files }: Given): string[] {
  if (compare !== undefined) return [];
  return files === undefined ? FILES_OF_REGISTRY : REGISTRY;
}

export const DEFINITIONS = {
  "sample-users": {
    summary: "Print records of random sample users as JSON lines",
    options: { count: integer("n", "Number of users", { min: 1, default: 25 }), keyType },
  },

  "build-file": {
    summary: "Build Merkle-tree files from user records",
    options: {
      ...recordFiles,
      files: requiredFiles("Folder or s3://<bucket>/<prefix> for the files"),
      ...besideFiles,
      json,
    },
  },

  "check-file": {
    summary: "Check the name, all records and the whole tree of each Merkle-tree file",
    argument: { name: "files", description: "Paths of files named <root>.json", kind: "many" },
    options: { keyType, json },
  },

  publish: {
    summary: "Store the files of users' keys, then add their roots to the registry",
    needs: publishNeeds,
    options: {
      ...recordFiles,
      files: files("Folder or s3://<bucket>/<prefix> that the file host serves"),
      ...besideFiles,
      planOnly: flag("Show the plan without storing or sending anything"),
      safeTransactions: text(
        "dir",
        "Folder for transaction files, if a Safe owns the registry. The command writes the files, and waits until the Safe executes the transactions",
        { excludes: ["maxFee", "maxPriorityFee", "maxCost", "maxCostPerDay"] },
      ),
      plan: planFolder("Folder for the plan. If a run stops early, the next run with this folder continues the plan"),
      inFlight: integer("n", "Maximum number of pending transactions", { min: 1, default: 64 }),
      maxFee,
      maxPriorityFee,
      maxCost: text("eth", "Maximum total cost in ETH of all runs of the plan", {
        ...maxCost,
        defaultText: "an amount of gas per file and user, at the price --max-fee",
      }),
      maxCostPerDay: text("eth", "Maximum total cost in ETH of all plans within 24 hours", {
        variable: "KEYROOT_MAX_COST_PER_DAY",
      }),
      confirmations: integer("n", "Number of confirmations to wait for, including the transaction's own block", {
        min: 1,
        default: 1,
        variable: "KEYROOT_CONFIRMATIONS",
      }),
      finalized: flag("Wait until the blocks of the roots are finalized", { excludes: ["confirmations"] }),
      timeout: integer(
        "seconds",
        "Maximum number of seconds to wait without progress. The wait for a Safe has no limit",
        { min: 1, default: 600 },
      ),
      ...chain,
      merkleUrl,
      json: flag("Print each event and the result as one JSON object per line"),
    },
  },

  estimate: {
    summary: "Estimate the current cost of publishing users' keys",
    needs: () => REGISTRY,
    options: {
      ...recordFiles,
      ethPrice: text(
        "price",
        "Price of one ETH in a currency of your choice. The command also shows the cost in this currency",
      ),
      ...chain,
      json,
    },
  },

  deploy: {
    summary: "Deploy a registry, or print its address if it is deployed already",
    needs: ({ deterministic }) => [...(deterministic === true ? ["owner"] : []), "rpc", "chainId", "maxFee"],
    options: {
      owner: text("address", "Account or Safe that may add roots", { defaultText: "the deploying account" }),
      deterministic: flag(
        "Deploy with CREATE2. The registry then has the same address on every chain for the same --owner",
      ),
      ...transaction,
      ...chainOptions,
      json,
    },
  },

  "make-owner-key": {
    summary: "Create the key of a registry's owner, and store it in an encrypted file",
    options: { out: newKeyFile, json },
  },

  status: {
    summary: "Show the owner, user count and code hash of a registry",
    needs: () => REGISTRY,
    options: {
      plan: planFolder("Folder with the plan of an unfinished publish"),
      ...trust,
      ...chain,
      rpc: SEVERAL_ENDPOINTS,
      json,
    },
  },

  "transfer-ownership": {
    summary: "Offer the ownership of a registry to another account",
    needs: ownershipNeeds,
    options: {
      newOwner: text("address", "Account to which you offer the ownership", { required: true }),
      ...ownership,
      ...chain,
      json,
    },
  },

  "accept-ownership": {
    summary: "Accept the ownership of a registry. The current owner must first run transfer-ownership",
    needs: ownershipNeeds,
    options: { ...ownership, ...chain, json },
  },

  verify: {
    summary: "Verify a user's public key as an app does",
    argument: { name: "userID", description: `${user}. Optional with --bundle`, kind: "optional" },
    needs: ({ bundle }) => (bundle === undefined ? ["userID", ...FILES_OF_REGISTRY, "chainId"] : []),
    options: {
      bundle: text(
        "file",
        "File with the user's bundle. The command verifies the bundle without a network, with --trust pinned-block:HASH, auditors, or light-client and --block-proof",
        { excludes: ["statementUrls", "rpc", "merkleUrl", "beacon", "block", "maxAge"] },
      ),
      blockProof: text(
        "file",
        "File with the proof of the bundle's block. The command verifies the proof against --checkpoint",
      ),
      ...trust,
      maxAge: integer("seconds", "Maximum age of the block, or of the auditors' signatures, in seconds", { min: 0 }),
      expectedPublicKey: text(
        "base64",
        "Public key that your server returned for the user, in base64. If the published key is different, the command fails",
      ),
      keyType,
      codeHash,
      ...chain,
      rpc: SEVERAL_ENDPOINTS,
      merkleUrl,
      json,
    },
  },

  "light-client": {
    summary: "Follow a beacon chain from a checkpoint to its newest finalized block",
    options: {
      ...beacon,
      beacon: { ...beacon.beacon, required: true },
      checkpoint: { ...beacon.checkpoint, required: true },
      beaconNetwork: { ...beacon.beaconNetwork, defaultText: "test for the local stack's checkpoint, or mainnet" },
      allowHttp: chainOptions.allowHttp,
      json,
    },
  },

  explorer: {
    summary: "Write the explorer, a web page that verifies keys in the visitor's browser",
    needs: () => [...FILES_OF_REGISTRY, "chainId"],
    options: {
      out: text("dir", "Folder for the page's files", { required: true }),
      blockExplorerUrl: text("url", "URL of the chain's block explorer for links, such as https://etherscan.io"),
      visitorEndpoints: flag("Let visitors add endpoints. The page may then connect to any https host"),
      ...beacon,
      ...auditors,
      keyType,
      codeHash,
      ...chain,
      // This option has no variable. Visitors can read its URLs, and the URL in KEYROOT_RPC_URL may contain a secret.
      rpc: text(
        "url",
        "URLs of the chain's JSON-RPC endpoints, separated by commas. Visitors can read these URLs. The command ignores KEYROOT_RPC_URL, because its URL may contain a secret",
      ),
      merkleUrl,
      json,
    },
  },

  bundle: {
    summary: "Write a user's proof and bundle, for verification without a network",
    argument: { name: "userID", description: user, kind: "required" },
    needs: () => [...FILES_OF_REGISTRY, "chainId"],
    options: {
      files: requiredFiles(
        "Folder for the files <root>/<user id>.json and <root>/<user id>.bundle.json, such as the file host's folder",
      ),
      keyType,
      ...trust,
      ...chain,
      merkleUrl,
      json,
    },
  },

  audit: {
    summary: "Compare the whole history of a registry with all files, in both directions",
    needs: auditNeeds,
    options: {
      files: { ...auditedFiles, description: `${auditedFiles.description}. The audit then also covers stray files` },
      ...trust,
      trust: { ...trust.trust, excludes: ["compare"] },
      auditors: { ...auditors.auditors, description: `${auditors.auditors.description}. Also for --compare` },
      keyType,
      codeHash,
      state: text("file", "File for the audit's state. The next audit with this file skips finished work", {
        defaultText: "a file in .keyroot",
      }),
      fresh: flag("Ignore the saved state of earlier runs, and start again"),
      skipKnownFiles: flag("Skip files that an earlier audit with the same --state found valid"),
      sign: { ...signingKey, excludes: ["block", "compare"] },
      statements: statementFolder,
      interval: integer("blocks", "Number of blocks between two statements", { min: 1, default: 300 }),
      compare: text(
        "urls",
        "URLs of other auditors' statement folders, separated by commas. The command compares their statements with --statements",
      ),
      workers: integer("n", "Number of threads that check files. 0 starts one thread per CPU core", {
        min: 0,
        max: 256,
        default: 0,
      }),
      fileBytes,
      ...chain,
      rpc: SEVERAL_ENDPOINTS,
      merkleUrl,
      json,
    },
  },

  "make-auditor-key": {
    summary: "Create an auditor's signing key, and store it in an encrypted file",
    options: {
      out: newKeyFile,
      name: text("name", "Name of the auditor: a URL without https://, such as auditor.example", { required: true }),
      json,
    },
  },

  watch: {
    summary: "Watch the registry for wrong keys of users and for missing files",
    needs: watchNeeds,
    options: {
      userID: text("user", user),
      publicKey: text("base64", "User's own public key in base64"),
      records: text(
        "file",
        "File with user records, in the same format as for publish. The command watches all users in the file. Use --records instead of --user-id and --public-key",
        { excludes: ["userID", "publicKey"] },
      ),
      keyType,
      files: auditedFiles,
      every: integer("seconds", "Seconds between two polls", { min: 1, max: MAX_TIMER_SECONDS, default: 12 }),
      once: flag(
        "Poll once and exit, for example under cron. With --state, the next run continues after the last block",
      ),
      keepRunning: flag("Continue after an alarm"),
      unavailableAfter: integer(
        "seconds",
        "Number of seconds after which an unavailable file or endpoint becomes an alarm",
        { min: 0, max: MAX_INT32, default: 600, variable: "KEYROOT_UNAVAILABLE_AFTER" },
      ),
      verbose: flag("Also print each new root and each published user"),
      ...trust,
      maxAge: integer("seconds", "Maximum age of the newest block, or of the auditors' signatures, in seconds", {
        min: 0,
        max: MAX_INT32,
        defaultText: "any",
      }),
      fromBlock: integer("number", "First block to read if there is no saved state", {
        min: 0,
        defaultText: "the next new block",
      }),
      state: text(
        "file",
        "File for the last block and the findings. The next run with this file continues after this block",
        {
          defaultText: "none",
        },
      ),
      fresh: flag("Ignore the saved state, and start again"),
      alarmUrl: text("url", "URL to which the command sends alarms", { variable: "KEYROOT_ALARM_URL" }),
      alarmHost: text("hosts", "Hosts to which the command may send alarms, separated by commas"),
      alarmSecretFile: text(
        "file",
        "File with the secret for signing alarms. You can instead set the secret itself in the KEYROOT_ALARM_SECRET variable",
        { variable: "KEYROOT_ALARM_SECRET_FILE" },
      ),
      fileBytes,
      ...chain,
      rpc: SEVERAL_ENDPOINTS,
      merkleUrl,
      json: flag("Print one JSON object per line for each event"),
    },
  },
} as const satisfies Record<string, Definition>;

/** The name of a command: a key of `DEFINITIONS`. */
export type CommandName = keyof typeof DEFINITIONS;

/** The arguments of a command's handler. */
export type ArgsOf<Name extends CommandName> = Parsed<(typeof DEFINITIONS)[Name]>;
