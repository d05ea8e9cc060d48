/** Every command that needs no Hardhat: its name, help, argument and options. `table.ts` adds the handlers. */
import { MAX_INT32, MAX_TIMER_SECONDS } from "../shared/limits.ts";
import { chainOptions, type Definition, flag, integer, json, type Parsed, text } from "./definition.ts";

// Options that several commands share. Without an option and its variable, a command uses the local stack.
const contract = text("address", "Address of the registry", { variable: "KEYROOT_CONTRACT" });
const chain = { ...chainOptions, contract };
const merkleUrl = text("url", "URL of the file host, which serves the Merkle-tree files", {
  variable: "KEYROOT_MERKLE_URL",
});
const files = (description: string) => text("dir", description, { variable: "KEYROOT_FILES" });
const auditedFiles = text("dir", "Read the files from this folder instead of the file host", {
  variable: "KEYROOT_FILES",
  excludes: ["merkleUrl"],
});
const pinned = text("hash", "A block that you trust: the hash of the block to read");
const block = { choices: ["latest", "safe", "finalized"], defaultText: "latest" } as const;
const quorum = integer("n", "Several endpoints: the number of endpoints in --rpc that must agree", { min: 1 });
const lightClient = flag("A light client that you run: declare that --rpc is one");
const usersSlot = integer("slot", "Storage slot of the contract's mapping, for storage proofs; PubKeyTrust has 1", {
  min: 0,
  default: 2,
});
const beaconNetworks = ["mainnet", "sepolia", "hoodi", "gnosis", "test"] as const;
const beacon = {
  beacon: text("url", "Ethereum's sync committee: Beacon API endpoint, or several separated by commas"),
  checkpoint: text("root", "Root of a finalized beacon block that you trust: 0x and 64 lowercase hex digits"),
  beaconNetwork: text("network", "Network of the beacon chain; without it, that of --chain-id, or mainnet", {
    choices: beaconNetworks,
  }),
  maxCheckpointAge: integer("days", "Maximum age of the checkpoint in days", {
    min: 1,
    max: 36_500,
    defaultText: "the network's weak subjectivity period",
  }),
};
const beaconExcludes = ["quorum", "pinned", "lightClient", "block"] as const;
const auditors = {
  auditors: text("file", "Auditors: file with their public keys, one per line", {
    excludes: [...beaconExcludes, "beacon"],
  }),
  threshold: integer("n", "Number of auditors that must have signed", { min: 1 }),
  statementUrls: text("urls", "Folders with the auditors' statements, separated by commas"),
};
const signingKey = text("file", "Auditor's key file, which signs");
const statementFolder = text("dir", "Folder of the auditor's statements, which a web server publishes");
const codeHash = text("hash", "Keccak-256 hash that the contract's code must have");
const records = text(
  "file",
  "File of user records: CSV if it ends in .csv, otherwise JSON lines; - for standard input",
);
const plan = text("dir", "Folder of the plan, so that a later run can resume it", { defaultText: ".keyroot/plans" });
const skipBad = flag("Leave out bad rows instead of stopping");
const usersPerFile = integer("n", "Maximum number of users in one file", { min: 1, max: 1_000_000, default: 700 });
const recordFiles = { records, usersPerFile, skipBad };
const fileBytes = integer("bytes", "Maximum size of a file in bytes", { min: 1, max: MAX_INT32, default: 2 ** 24 });
const maxFee = text("gwei", "Maximum fee in gwei per unit of gas; required unless the chain is local", {
  variable: "KEYROOT_MAX_FEE",
});
const maxCost = { variable: "KEYROOT_MAX_COST" } as const;
const transaction = {
  maxFee,
  maxCost: text("eth", "Maximum cost of the transaction in ETH", maxCost),
  timeout: integer("seconds", "Maximum number of seconds to wait for the transaction's block", {
    min: 1,
    default: 600,
  }),
};
const ownership = {
  callOnly: flag("Print the call for the sender's own wallet, such as a Safe, and send nothing"),
  ...transaction,
};
const user = "User id, 32 characters of z-base-32";

type Given = Readonly<Record<string, unknown>>;

const REGISTRY = ["rpc", "contract"];
const FILES_OF_REGISTRY = [...REGISTRY, "merkleUrl"];

function publishNeeds({ planOnly, safeTransactions }: Given): string[] {
  if (planOnly === true) return ["records", ...REGISTRY];
  const limits = safeTransactions === undefined ? ["maxFee"] : [];
  return ["records", "files", ...FILES_OF_REGISTRY, "chainId", ...limits];
}

function ownershipNeeds({ callOnly }: Given): string[] {
  return [...REGISTRY, "chainId", ...(callOnly === true ? [] : ["maxFee"])];
}

function watchNeeds({ records, files }: Given): string[] {
  const users = records === undefined ? ["userID", "publicKey"] : [];
  return [...users, ...(files === undefined ? FILES_OF_REGISTRY : REGISTRY)];
}

export const DEFINITIONS = {
  "sample-users": {
    summary: "Print records of random sample users as JSON lines",
    options: { count: integer("n", "Number of users", { min: 1, default: 25 }) },
  },

  "build-file": {
    summary: "Build Merkle-tree files from user records",
    needs: () => ["records", "files"],
    options: { ...recordFiles, files: files("Folder or s3://<bucket>/<prefix> for the files"), json },
  },

  "check-file": {
    summary: "Check Merkle-tree files: the name, every record and the whole tree",
    argument: { name: "files", description: "Paths of files named <root>.json", kind: "many" },
    options: { json },
  },

  publish: {
    summary: "Publish users' keys: store their files, then add the roots to the registry",
    needs: publishNeeds,
    options: {
      ...recordFiles,
      files: files("Folder or s3://<bucket>/<prefix> that the file host serves"),
      planOnly: flag("Show the plan; store and send nothing"),
      safeTransactions: text("dir", "Write transaction files for the Safe that owns the registry, then wait for it", {
        excludes: ["maxFee", "maxCost", "maxCostPerDay"],
      }),
      plan,
      inFlight: integer("n", "Maximum number of pending transactions", { min: 1, default: 8 }),
      maxFee,
      maxCost: text("eth", "Maximum cost of the plan in ETH, over all its runs", {
        ...maxCost,
        defaultText: "an allowance per user at --max-fee",
      }),
      maxCostPerDay: text("eth", "Maximum cost in ETH of all plans within 24 hours", {
        variable: "KEYROOT_MAX_COST_PER_DAY",
      }),
      checkSubgroup: flag("Also check keys as registration does, in one thread per core: about 2 ms per key"),
      accessList: text("when", "When transactions carry an access list (EIP-2930); auto: if it is cheaper", {
        choices: ["auto", "always", "never"],
        default: "auto",
      }),
      confirmations: integer("n", "Number of confirmations to wait for; 1 is the block of the transaction", {
        min: 1,
        default: 1,
        variable: "KEYROOT_CONFIRMATIONS",
      }),
      finalized: flag("Wait until the blocks of the roots are finalized", { excludes: ["confirmations"] }),
      timeout: integer("seconds", "Maximum number of seconds to wait without any progress", { min: 1, default: 600 }),
      ...chain,
      merkleUrl,
      json: flag("Print one JSON object per line: each event, then the result"),
    },
  },

  estimate: {
    summary: "Estimate the cost of publishing users' keys now",
    needs: ({ compare }) => ["records", ...(compare === undefined ? REGISTRY : [])],
    options: {
      ...recordFiles,
      ethPrice: text("price", "Price of one ETH in any currency, to show the cost in it"),
      lastYear: flag("Also show the base fees of the last year, read from 53 blocks"),
      compare: text(
        "prices",
        "Compare chains without a registry: NAME=GWEI or NAME=URL for ethereum, gnosis and own, NAME=GWEI+GWEI_PER_BYTE or NAME=URL for optimism, base and arbitrum; separated by commas",
        { excludes: ["rpc", "contract", "chainId", "lastYear"] },
      ),
      ...chain,
      json,
    },
  },

  deploy: {
    summary: "Deploy a registry, or report the one that exists",
    needs: ({ deterministic }) => [...(deterministic === true ? ["owner"] : []), "rpc", "chainId", "maxFee"],
    options: {
      owner: text("address", "Account or Safe that may add roots", { defaultText: "the account that deploys" }),
      deterministic: flag("Deploy with CREATE2: the same address on every chain for the same --owner"),
      ...transaction,
      ...chainOptions,
      json,
    },
  },

  "make-owner-key": {
    summary: "Make the key of a registry's owner, in an encrypted file",
    needs: () => ["out"],
    options: {
      out: text("file", "File for the key, encrypted with the passphrase in KEYROOT_PASSPHRASE_FILE"),
      json,
    },
  },

  status: {
    summary: "Show the owner, user count and code hash of a registry",
    needs: () => REGISTRY,
    options: {
      plan,
      ...beacon,
      ...auditors,
      auditors: { ...auditors.auditors, excludes: ["beacon"] },
      ...chain,
      json,
    },
  },

  "transfer-ownership": {
    summary: "Offer the ownership of a registry to another account, which becomes the owner when it accepts",
    needs: (given) => ["newOwner", ...ownershipNeeds(given)],
    options: {
      newOwner: text("address", "Account that becomes the owner when it accepts"),
      ...ownership,
      ...chain,
      json,
    },
  },

  "accept-ownership": {
    summary: "Accept the ownership of a registry that transfer-ownership offered",
    needs: ownershipNeeds,
    options: { ...ownership, ...chain, json },
  },

  verify: {
    summary: "Verify a user's public key as an app does",
    argument: { name: "userID", description: `${user}; optional with --bundle`, kind: "optional" },
    needs: ({ bundle }) => (bundle === undefined ? ["userID", ...FILES_OF_REGISTRY, "chainId"] : []),
    options: {
      bundle: text("file", "File with the user's bundle, verified against --pinned or --auditors without a network", {
        excludes: ["statementUrls", "rpc", "merkleUrl", "quorum", "lightClient", "block", "maxAge"],
      }),
      blockProof: text("file", "File with the proof of the bundle's block, verified against --checkpoint", {
        excludes: ["pinned", "beacon"],
      }),
      pinned,
      quorum,
      lightClient,
      ...beacon,
      beacon: { ...beacon.beacon, excludes: [...beaconExcludes, "bundle"] },
      ...auditors,
      storageProof: flag("Require a storage proof of the contract's answer"),
      block: text("tag", "Block to read", block),
      maxAge: integer("seconds", "Maximum age of that block in seconds", { min: 0 }),
      usersSlot,
      expectedPublicKey: text(
        "base64",
        "Public key that the server returned, in base64; the published key must be equal",
      ),
      codeHash,
      ...chain,
      rpc: { ...chain.rpc, description: `${chain.rpc.description}; several, separated by commas, for --quorum` },
      merkleUrl,
      json,
    },
  },

  "light-client": {
    summary: "Follow a beacon chain from a checkpoint to its newest finalized block",
    options: {
      ...beacon,
      allowHttp: chainOptions.allowHttp,
      json,
    },
  },

  explorer: {
    summary: "Write the files of the explorer, a page that verifies keys in the visitor's browser",
    needs: () => ["out", ...FILES_OF_REGISTRY, "chainId"],
    options: {
      out: text("dir", "Folder for the page's files"),
      blockExplorerUrl: text("url", "URL of the chain's own explorer, such as https://etherscan.io, for links"),
      visitorEndpoints: flag("Let visitors add endpoints: the page may then connect to any https host"),
      ...beacon,
      ...auditors,
      // Visitors can choose one of both.
      auditors: { ...auditors.auditors, excludes: [] },
      usersSlot,
      codeHash,
      ...chain,
      // Without the variable, because every visitor reads the endpoint, and the variable's URL may contain a secret.
      rpc: text(
        "url",
        `${chain.rpc.description}; several, separated by commas, for visitors to choose from; all of them see it, so KEYROOT_RPC_URL is not used`,
      ),
      merkleUrl,
      json,
    },
  },

  bundle: {
    summary: "Write a user's Merkle proof and bundle, which can be verified without a network",
    argument: { name: "userID", description: user, kind: "required" },
    needs: () => ["files", ...FILES_OF_REGISTRY, "chainId"],
    options: {
      files: files("Folder for <root>/<user id>.json and .bundle.json, such as the file host's"),
      pinned,
      ...beacon,
      beacon: {
        ...beacon.beacon,
        excludes: ["pinned"],
      },
      ...auditors,
      auditors: { ...auditors.auditors, excludes: ["pinned", "beacon"] },
      ...chain,
      merkleUrl,
      json,
    },
  },

  audit: {
    summary: "Audit the whole history of a registry against all files, in both directions",
    needs: ({ compare, files }) => (compare !== undefined ? [] : files !== undefined ? REGISTRY : FILES_OF_REGISTRY),
    options: {
      files: { ...auditedFiles, description: `${auditedFiles.description}; stray files are audited too` },
      pinned: { ...pinned, excludes: ["block"] },
      block: text("tag", "Block to audit at", block),
      ...beacon,
      beacon: { ...beacon.beacon, excludes: [...beaconExcludes, "ownNode", "compare"] },
      storageProof: flag("Require a storage proof of the number of users"),
      codeHash,
      state: text("file", "File for finished work, which the next audit skips", { defaultText: "a file in .keyroot" }),
      fresh: flag("Start over and ignore the state of earlier runs"),
      sign: { ...signingKey, excludes: ["pinned", "block", "compare"] },
      statements: statementFolder,
      interval: integer("blocks", "Distance of the blocks for which auditors sign statements", {
        min: 1,
        default: 300,
      }),
      quorum,
      ownNode: flag("Declare that you run the endpoint in --rpc, for --sign"),
      lightClient,
      compare: text(
        "urls",
        "Other auditors' folders of statements, separated by commas: compare them with --statements",
      ),
      auditors: text("file", auditors.auditors.description),
      workers: integer("n", "Number of threads that check files; 0 is one per core", { min: 0, max: 256, default: 0 }),
      fileBytes,
      ...chain,
      merkleUrl,
      json,
    },
  },

  "make-auditor-key": {
    summary: "Make a key that signs an auditor's statements, in an encrypted file",
    needs: () => ["out", "name"],
    options: {
      out: text("file", "File for the key, encrypted with the passphrase in KEYROOT_PASSPHRASE_FILE"),
      name: text("name", "The auditor's name: a URL without its scheme, such as auditor.example"),
      json,
    },
  },

  "sign-auditor-list": {
    summary: "Sign a list of auditors that replaces the present one, and merge other auditors' signatures",
    needs: () => [
      "newAuditors",
      "newThreshold",
      "sequence",
      "auditors",
      "threshold",
      "statements",
      "contract",
      "chainId",
    ],
    options: {
      newAuditors: text("file", "File with the new auditors: a public key and the URL of the statements per line"),
      newThreshold: integer("n", "Number of new auditors that must sign a statement", { min: 1 }),
      sequence: integer("n", "Number of the list; the first that replaces the original auditors has 1", { min: 1 }),
      auditors: text("file", auditors.auditors.description),
      threshold: auditors.threshold,
      statements: statementFolder,
      sign: signingKey,
      merge: text(
        "urls",
        "Other auditors' folders of statements, separated by commas, with signatures of the same list",
      ),
      contract,
      chainId: chainOptions.chainId,
      allowHttp: chainOptions.allowHttp,
      json,
    },
  },

  watch: {
    summary: "Watch for roots that publish a wrong key for a user, and for missing files",
    needs: watchNeeds,
    options: {
      userID: text("user", user),
      publicKey: text("base64", "That user's own public key, in base64"),
      records: text("file", "File with records of several users, as for publish, instead of --user-id", {
        excludes: ["userID", "publicKey"],
      }),
      files: auditedFiles,
      every: integer("seconds", "Seconds between two polls", { min: 1, max: MAX_TIMER_SECONDS, default: 12 }),
      once: flag("Poll once and exit, for cron; with --state it continues where the last run ended"),
      keepRunning: flag("Continue after an alarm"),
      unavailableAfter: integer("seconds", "Seconds after which an unavailable file or endpoint is an alarm", {
        min: 0,
        max: MAX_INT32,
        default: 600,
        variable: "KEYROOT_UNAVAILABLE_AFTER",
      }),
      verbose: flag("Also print each new root and each published user, after the summary of each poll"),
      block: text("tag", "Newest block to read", block),
      ...beacon,
      beacon: { ...beacon.beacon, excludes: ["block"] },
      ...auditors,
      auditors: { ...auditors.auditors, excludes: ["block", "beacon"] },
      maxAge: integer("seconds", "Maximum age of that block in seconds", {
        min: 0,
        max: MAX_INT32,
        defaultText: "any",
      }),
      fromBlock: integer("number", "First block to read", { min: 0, defaultText: "the next one" }),
      state: text("file", "File for the last block and its findings, where the next run continues", {
        defaultText: "none",
      }),
      fresh: flag("Start over and ignore the state"),
      alarmUrl: text("url", "URL that alarms are sent to", { variable: "KEYROOT_ALARM_URL" }),
      alarmHost: text("hosts", "Hosts that alarms may be sent to, separated by commas"),
      alarmSecretFile: text(
        "file",
        "File with the secret that signs alarms; the secret can be in KEYROOT_ALARM_SECRET",
        {
          variable: "KEYROOT_ALARM_SECRET_FILE",
        },
      ),
      fileBytes,
      ...chain,
      merkleUrl,
      json: flag("Print one JSON object per line for each event"),
    },
  },
} as const satisfies Record<string, Definition>;

/** The name of a command: a key of `DEFINITIONS`. */
export type CommandName = keyof typeof DEFINITIONS;

/** The arguments of a command's handler. */
export type ArgsOf<Name extends CommandName> = Parsed<(typeof DEFINITIONS)[Name]>;
