/**
 * The options that several commands share. If neither an option nor a variable selects a chain, commands use the
 * running local stack.
 */
import { chainOptions, flag, integer, keyType, MAX_INT32, onlyWith, text } from "./defineCommand.ts";

const contract = text("address", "Address of the registry", { variable: "KEYROOT_CONTRACT" });
/** The chain and the registry. */
export const chain = { ...chainOptions, contract };
/** The chain and the registry of a command with `--trust`, which may ask several endpoints. */
export const chainWithTrust = {
  ...chain,
  rpc: {
    ...chain.rpc,
    description: `${chain.rpc.description}. For --trust endpoints:N, give several URLs, separated by commas`,
  },
};
export const merkleUrl = text("url", "URL of the file host that serves the Merkle-tree files", {
  variable: "KEYROOT_MERKLE_URL",
});

export const files = (description: string) => text("dir", description, { variable: "KEYROOT_FILES" });
export const requiredFiles = (description: string) => ({ ...files(description), required: true }) as const;
export const auditedFiles = (also = "") =>
  text("dir", `Read the files from this folder and its subfolders instead of the file host${also}`, {
    variable: "KEYROOT_FILES",
    excludes: ["merkleUrl"],
  });

/** The settings of `--trust light-client`. */
export const lightClient = {
  beacon: text(
    "url",
    "URLs of Beacon API endpoints, separated by commas. Signatures of Ethereum's sync committee must prove their blocks",
  ),
  checkpoint: text("root", "Root of a finalized beacon block that you trust: 0x and 64 lowercase hex digits"),
};
/** The settings of `--trust auditors`. */
export const auditorsSettings = {
  auditors: text("file", "File with the auditors' public keys, one per line"),
  threshold: integer("n", "Number of auditors that must have signed the same statement", { min: 1 }),
  statementUrls: text("urls", "URLs of the auditors' statement folders, separated by commas"),
};
const CHOOSING_A_BLOCK = ["one-endpoint", "endpoints", "own-node"];
export const block = text("tag", "Block to read, for one-endpoint, endpoints and own-node", {
  choices: ["latest", "safe", "finalized"],
  defaultText: "latest",
  onlyWith: { trust: CHOOSING_A_BLOCK },
});
/** The maximum age, for every choice of trust except a pinned block. */
export const maxAge = (description: string, rest?: { defaultText: string }) =>
  integer("seconds", description, {
    ...{ min: 0, max: MAX_INT32 },
    ...rest,
    onlyWith: { trust: [...CHOOSING_A_BLOCK, "light-client", "auditors"] },
  });
const settings = {
  lightClient: onlyWith({ trust: ["light-client"] }, lightClient),
  auditors: onlyWith({ trust: ["auditors"] }, auditorsSettings),
};
const BLOCK_SOURCES =
  "What to trust for the block: one-endpoint, endpoints:N for N endpoints in --rpc that agree, own-node, pinned-block:HASH";
/** `--trust` with the settings of every choice. */
export const trust = {
  trust: text(
    "choice",
    `${BLOCK_SOURCES}, light-client with --beacon and --checkpoint, or auditors with --auditors, --threshold and --statement-urls`,
    { default: "one-endpoint" },
  ),
  block,
  ...settings.lightClient,
  ...settings.auditors,
};
/** `--trust` of a command that relies on no auditor, such as an audit. */
export const trustWithoutAuditors = {
  trust: text("choice", `${BLOCK_SOURCES}, or light-client with --beacon and --checkpoint`, {
    default: "one-endpoint",
  }),
  ...settings.lightClient,
};

export const auditState = text(
  "file",
  "File for the audit's state. The next audit with this file skips finished work. To start again, delete the file",
  { defaultText: "a file in .keyroot" },
);
export const codeHash = text("hash", "Expected Keccak-256 hash of the contract's code: 0x and 64 hex digits");
export const newKeyFile = text(
  "file",
  "Path of the new key file, which is encrypted with the passphrase in the file that KEYROOT_PASSPHRASE_FILE names",
  { required: true },
);
export const statementFolder = text("dir", "Folder for your own statements, which your web server must publish", {
  required: true,
});
export const planFolder = (description: string) => text("dir", description, { defaultText: ".keyroot/plans" });
export const userIDForm = "User id: 32 characters of zBase32";

export { keyType };
/** User records, and their division into files. */
export const recordFiles = {
  keyType,
  records: text(
    "file",
    "File of user records in JSON lines, or in CSV if its name ends in .csv. The name - means standard input",
    { required: true },
  ),
  usersPerFile: integer("n", "Maximum number of users in one file", { min: 1, max: 1_000_000, default: 64 }),
};

/** What is stored beside the Merkle-tree files. */
export const besideFiles = {
  brotli: flag("Also store Brotli-compressed copies of the files, named <root>.json.br", {
    variable: "KEYROOT_BROTLI",
  }),
};

const maxCost = { variable: "KEYROOT_MAX_COST" } as const;
/** The limits of a command's transactions. */
export const costLimits = {
  maxFee: text("gwei", "Maximum fee in gwei per unit of gas. Required unless the chain is local", {
    variable: "KEYROOT_MAX_FEE",
  }),
  maxPriorityFee: text("gwei", "Maximum priority fee (tip) in gwei per unit of gas. --max-fee includes it", {
    variable: "KEYROOT_MAX_PRIORITY_FEE",
    defaultText: "a quarter of --max-fee",
  }),
  maxCost: text("eth", "Maximum cost of the transaction in ETH", maxCost),
};
export const maxCostOfPlan = text("eth", "Maximum total cost in ETH of all runs of the plan", {
  ...maxCost,
  defaultText: "an amount of gas per file and user, at the price --max-fee",
});
/** The limits of a command that sends one transaction. */
export const transaction = {
  ...costLimits,
  timeout: integer("seconds", "Maximum number of seconds to wait for the transaction's block", {
    min: 1,
    default: 600,
  }),
};
/** The options of `transfer-ownership` and `accept-ownership`. */
export const ownershipOptions = {
  callOnly: flag("Print the call instead of sending it, so that you can send it with a Safe or another wallet", {
    excludes: Object.keys(transaction),
  }),
  ...transaction,
};

/** What a command about a registry needs. */
export const REGISTRY = ["rpc", "contract"];
export const FILES_OF_REGISTRY = [...REGISTRY, "merkleUrl"];
/** What a command needs that reads files from a folder or from the file host. */
export const auditedNeeds = ({ files }: Readonly<Record<string, unknown>>): string[] =>
  files === undefined ? FILES_OF_REGISTRY : REGISTRY;
export const ownershipNeeds = ({ callOnly }: Readonly<Record<string, unknown>>): string[] => [
  ...REGISTRY,
  "chainId",
  ...(callOnly === true ? [] : ["maxFee"]),
];
