/** The definitions of the command line `npx hardhat keyroot <verb>`: options here, each verb's work in its own file. */
import { emptyTask, task } from "hardhat/config";
import { ArgumentType } from "hardhat/types/arguments";
import { DEFAULT_USERS_PER_FILE } from "@keyroot/operator/publisher";
import { USERS_SLOT } from "keyroot/registry";
import { DEFAULT_LIMITS } from "keyroot/transport";
import "@keyroot/operator/commands";

const { INT, STRING_WITHOUT_DEFAULT } = ArgumentType;

const option = <Name extends string>(name: Name, description: string) =>
  ({ name, description, type: STRING_WITHOUT_DEFAULT, defaultValue: undefined }) as const;

const json = { name: "json", description: "Print one JSON object instead of text" } as const;
const rpc = option("rpc", "JSON-RPC endpoint of the chain (default: the local stack's)");
const contract = option("contract", "Address of the registry (default: the local stack's)");
const merkleUrl = option("merkleUrl", "Address that serves the Merkle-tree files (default: the local stack's)");
const blockHash = option("blockHash", "Hash of the block that counts, from a source you trust");
const chainId = {
  name: "chainId",
  description: "The chain that must answer (default: the local stack's)",
  type: INT,
  defaultValue: 0,
} as const;
const records = option("records", "File of users' records: JSON lines, or CSV where its name ends in .csv");
const skipBad = { name: "skipBad", description: "Leave bad rows out instead of stopping at them" } as const;
const usersPerFile = {
  name: "usersPerFile",
  description: "The most users of one file",
  type: INT,
  defaultValue: DEFAULT_USERS_PER_FILE,
} as const;
const service = option("service", "Address of the partner service (default: the local stack's)");
const fileBytes = {
  name: "fileBytes",
  description: "The most bytes of a file",
  type: INT,
  defaultValue: DEFAULT_LIMITS.fileBytes,
} as const;
const port = {
  name: "port",
  description: "Port of the chain, the next one serves files; a taken one gives way to the next free one, 0 is any",
  type: INT,
  defaultValue: 8545,
} as const;

export const keyrootTasks = [
  emptyTask("keyroot", "Publish users' public keys, and verify them").build(),

  task(["keyroot", "stack"], "Run chain, contract and file host on this machine until Ctrl-C")
    .addOption(port)
    .addFlag(json)
    .setAction(() => import("./stack.ts"))
    .build(),

  task(["keyroot", "deploy"], "Deploy a new registry")
    .addOption(option("owner", "Account that may add roots (default: the deploying account)"))
    .addFlag({
      name: "deterministic",
      description: "Deploy with CREATE2: same address on every chain for the same --owner; if it exists, send nothing",
    })
    .addOption(rpc)
    .addOption(chainId)
    .addFlag(json)
    .setAction(() => import("./deploy.ts"))
    .build(),

  task(["keyroot", "sample-users"], "Make records of sample users, one JSON object a line")
    .addOption({ name: "count", description: "How many", type: INT, defaultValue: 25 })
    .setAction(() => import("../packages/operator/src/commands/sample-users.ts"))
    .build(),

  task(["keyroot", "build-file"], "Make Merkle-tree files of users' records")
    .addOption(records)
    .addOption(option("out", "Folder for the files"))
    .addOption(usersPerFile)
    .addFlag(skipBad)
    .addFlag(json)
    .setAction(() => import("../packages/operator/src/commands/build-file.ts"))
    .build(),

  task(["keyroot", "check-file"], "Check Merkle-tree files: their names, every record, the whole tree")
    .addVariadicArgument({ name: "files", description: "Paths of files, <root>.json" })
    .addFlag(json)
    .setAction(() => import("../packages/operator/src/commands/check-file.ts"))
    .build(),

  task(["keyroot", "publish"], "Publish users' keys: first the files, then their roots")
    .addOption(records)
    .addOption(option("out", "Folder that the file host serves (default: the local stack's)"))
    .addOption(usersPerFile)
    .addFlag(skipBad)
    .addFlag({ name: "planOnly", description: "Show the plan; store and send nothing" })
    .addOption(
      option("safeOut", "Folder for files of the Safe that owns the registry; then wait until it has executed them"),
    )
    .addOption(option("plan", "Folder that keeps the plan until it is done (default: below .keyroot/plans)"))
    .addOption({
      name: "inFlight",
      description: "How many transactions wait for a block at once",
      type: INT,
      defaultValue: 8,
    })
    .addOption(option("maxFee", "The most gwei for a unit of gas (default: ten times the present price)"))
    .addOption({
      name: "accessList",
      description:
        "List the slots of a transaction (EIP-2930): auto, always or never; auto is where that takes less gas",
      type: ArgumentType.STRING,
      defaultValue: "auto",
    })
    .addOption({
      name: "confirmations",
      description: "Blocks that count, with the root's own",
      type: INT,
      defaultValue: 1,
    })
    .addFlag({ name: "finalized", description: "Wait until the roots are in a finalized block" })
    .addOption({ name: "timeout", description: "Seconds to wait while nothing changes", type: INT, defaultValue: 600 })
    .addOption(rpc)
    .addOption(contract)
    .addOption(merkleUrl)
    .addOption(chainId)
    .addFlag({ ...json, description: "Print one JSON object a line: what happens, and last the report" })
    .setAction(() => import("../packages/operator/src/commands/publish.ts"))
    .build(),

  task(["keyroot", "estimate"], "Tell what it would cost to publish users' keys now")
    .addOption(records)
    .addOption(usersPerFile)
    .addFlag(skipBad)
    .addOption(option("ethPrice", "What one ETH costs, in any money: the cost is shown in it, too"))
    .addOption(rpc)
    .addOption(contract)
    .addOption(chainId)
    .addFlag(json)
    .setAction(() => import("../packages/operator/src/commands/estimate.ts"))
    .build(),

  task(["keyroot", "status"], "Show what a registry says of itself")
    .addOption(rpc)
    .addOption(contract)
    .addOption(chainId)
    .addFlag(json)
    .setAction(() => import("../packages/operator/src/commands/status.ts"))
    .build(),

  task(["keyroot", "verify"], "Verify a user's public key as an app would")
    .addPositionalArgument(option("userId", "The user, 32 characters of zBase32; may be left out with --bundle"))
    .addOption(option("bundle", "File with a user's bundle, verified against --block-hash without a network"))
    .addOption(blockHash)
    .addOption(option("quorum", "How many of the endpoints of --rpc must agree"))
    .addFlag({ name: "lightClient", description: "Declare that --rpc is a light client" })
    .addFlag({ name: "proof", description: "Insist on a storage proof of the contract's answer" })
    .addOption(option("block", "Block to ask at: latest (the default), safe or finalized"))
    .addOption(option("maxAge", "How old that block may be, in seconds"))
    .addOption({
      name: "usersSlot",
      description: "Slot of the contract's mapping, for proofs; PubKeyTrust has 1",
      type: INT,
      defaultValue: USERS_SLOT,
    })
    .addOption(option("expectedPublicKey", "The key that a server handed out, in base64"))
    .addOption(option("codeHash", "Keccak-256 of the contract's code, where only that code is believed"))
    .addOption(option("rpc", `${rpc.description}; several for --quorum, with commas between them`))
    .addOption(contract)
    .addOption(merkleUrl)
    .addOption(chainId)
    .addFlag(json)
    .setAction(() => import("../packages/operator/src/commands/verify.ts"))
    .build(),

  task(["keyroot", "bundle"], "Make a user's proof and bundle, which are verified without a network")
    .addPositionalArgument({ name: "userId", description: "The user, 32 characters of zBase32" })
    .addOption(option("out", "Folder that the file host serves (default: the local stack's)"))
    .addOption(blockHash)
    .addOption(rpc)
    .addOption(contract)
    .addOption(merkleUrl)
    .addOption(chainId)
    .addFlag(json)
    .setAction(() => import("../packages/operator/src/commands/bundle.ts"))
    .build(),

  task(["keyroot", "serve"], "Run the partner service, as the environment configures it, until Ctrl-C")
    .addOption({
      name: "every",
      description: "Seconds between two rounds of publishing; 0 for none",
      type: INT,
      defaultValue: 0,
    })
    .addOption({ name: "atLeast", description: "How many keys must wait for a round", type: INT, defaultValue: 1 })
    .addFlag(json)
    .setAction(() => import("../packages/operator/src/commands/serve.ts"))
    .build(),

  task(["keyroot", "migrate"], "Give the partner service's databases the tables that this version needs")
    .addFlag(json)
    .setAction(() => import("../packages/operator/src/commands/migrate.ts"))
    .build(),

  task(["keyroot", "make-signing-key"], "Make a key that signs the partner service's access tokens")
    .addOption(option("out", "File of signing keys; where there is one, the new key becomes its last"))
    .addFlag(json)
    .setAction(() => import("../packages/operator/src/commands/make-signing-key.ts"))
    .build(),

  task(["keyroot", "create-partner"], "Create a partner company in a running partner service")
    .addOption(option("name", "The company's name, for people"))
    .addOption(service)
    .addFlag(json)
    .setAction(() => import("../packages/operator/src/commands/create-partner.ts"))
    .build(),

  task(["keyroot", "create-server-token"], "Create a partner's server token, which is shown this once")
    .addOption(option("bizId", "The partner"))
    .addOption(option("name", "A name for people; may be left out"))
    .addOption(service)
    .addFlag(json)
    .setAction(() => import("../packages/operator/src/commands/create-server-token.ts"))
    .build(),

  task(["keyroot", "publish-registered"], "Have a running partner service publish the keys that its users registered")
    .addOption(service)
    .addFlag(json)
    .setAction(() => import("../packages/operator/src/commands/publish-registered.ts"))
    .build(),

  task(["keyroot", "audit"], "Audit a registry's whole history against all files, both ways")
    .addOption(option("files", "Folder of the files, searched for stray ones as well, instead of --merkle-url"))
    .addOption(blockHash)
    .addOption(option("block", "Block to audit at: latest (the default), safe or finalized"))
    .addFlag({ name: "proof", description: "Insist on a storage proof of the number of users" })
    .addOption(option("codeHash", "Keccak-256 of the contract's code, where only that code is believed"))
    .addOption(option("state", "File in which to remember what is done (default: one in .keyroot)"))
    .addFlag({ name: "fresh", description: "Begin anew, whatever earlier runs did" })
    .addOption({
      name: "workers",
      description: "How many threads judge files; 0 is one a core",
      type: INT,
      defaultValue: 0,
    })
    .addOption(fileBytes)
    .addOption(rpc)
    .addOption(contract)
    .addOption(merkleUrl)
    .addOption(chainId)
    .addFlag(json)
    .setAction(() => import("../packages/operator/src/commands/audit.ts"))
    .build(),

  task(["keyroot", "watch"], "Watch for a key in one's name that is not one's own, and for files that go missing")
    .addOption(option("userId", "The user who watches, 32 characters of zBase32"))
    .addOption(option("publicKey", "That user's own key, in base64"))
    .addOption(option("records", "File of several users' own records, as for publish, instead of --user-id"))
    .addOption(option("files", "Folder of the files, instead of --merkle-url"))
    .addOption({
      name: "every",
      description: "Milliseconds from one look to the next",
      type: INT,
      defaultValue: 12_000,
    })
    .addFlag({ name: "once", description: "Look once and end, for cron; needs --state to look at what is new" })
    .addFlag({ name: "stay", description: "Go on after an alarm" })
    .addOption(option("block", "Look up to the latest (the default), safe or finalized block"))
    .addOption(option("fromBlock", "Block from which on roots are looked at (default: the next one)"))
    .addOption(option("state", "File in which to remember what was looked at (default: none)"))
    .addFlag({ name: "fresh", description: "Begin anew, whatever the state says" })
    .addOption(option("webhook", "Address to which alarms are sent (or the variable KEYROOT_WEBHOOK)"))
    .addOption(option("webhookHost", "Hosts to which they may be sent, with commas between them"))
    .addOption(fileBytes)
    .addOption(rpc)
    .addOption(contract)
    .addOption(merkleUrl)
    .addOption(chainId)
    .addFlag(json)
    .setAction(() => import("../packages/operator/src/commands/watch.ts"))
    .build(),

  task(["keyroot", "demo"], "Tell the story: keys published, verified, and attacks refused")
    .addFlag({ name: "stay", description: "Keep the stack running afterwards, until Ctrl-C" })
    .addOption(port)
    .addFlag(json)
    .setAction(() => import("./demo.ts"))
    .build(),
];
