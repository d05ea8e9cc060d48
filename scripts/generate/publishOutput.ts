/**
 * Describes what `publish --json` prints, for docs/commands.md. The types require every event, with all fields that the
 * command prints.
 */
import type { PublishLine, PublishReport } from "@keyroot/operator/commands";

/** The lines with an event of this name. */
type LineOf<Name, Line = PublishLine> = Line extends { event: infer Event }
  ? Name extends Event
    ? Line
    : never
  : never;
/** When an event is printed, and a remark about each of its fields. */
type EventRow<Name> = readonly [when: string, fields: Record<Exclude<keyof LineOf<Name>, "event">, string>];

const SIZE = { batches: "", users: "", usersPerTransaction: "" };
const SENT = { root: "", nonce: "", hash: "", gas: "", maxFee: "wei" };
const PUBLISHED = {
  ...{ root: "", users: "their number", fileBytes: "", transactionHash: "", blockNumber: "", gasUsed: "" },
  ...{ gasPrice: "wei", dataFee: "wei", addedCount: "" },
};

const EVENTS: { readonly [Name in PublishLine["event"]]: EventRow<Name> } = {
  stage: ["A stage of the run begins.", { stage: "", users: "" }],
  resumed: ["An unfinished plan continues.", { ...SIZE, added: "roots on the chain", plannedAt: "ms since 1970" }],
  withoutRecord: [
    "A resumed plan contains users without a record.",
    { users: "their number", userIDs: "the first 20" },
  ],
  rebuilt: ["A lost file of the plan was rebuilt.", { root: "", users: "" }],
  alreadyPublished: ["Some users already have a root, and are left out.", { users: "list of `userID`, `root`" }],
  keyDiffers: [
    "For some users, the published key is not the one in the records.",
    { users: "list of `userID`, `root`, `publishedKeyID`, `keyID`" },
  ],
  notCompared: [
    "The published keys under a root could not be compared with the records.",
    { root: "", users: "their number", code: "", message: "" },
  ],
  replanned: ["Batches of the plan no longer fit into a transaction, and were divided.", SIZE],
  planned: ["A new plan is recorded.", SIZE],
  sent: ["A transaction was sent.", SENT],
  replaced: ["A transaction was sent again with the same nonce.", SENT],
  included: ["A transaction is in a block.", { root: "", nonce: "", added: "" }],
  displaced: ["Another transaction used the nonce of this transaction.", { root: "", nonce: "" }],
  reverted: [
    "A transaction was reverted. Its root gets another one.",
    { root: "", nonce: "", hash: "", blockNumber: "", gasUsed: "" },
  ],
  reorganized: ["The chain replaced the block of a transaction.", { root: "", nonce: "" }],
  exported: ["Files for the Safe are written.", { files: "" }],
  executed: [
    "The Safe has executed the transactions.",
    { published: "number of users", superseded: "list of `userID`, `root`" },
  ],
  waiting: ["The run waits for lower fees, for a response, or for finality.", { reason: "" }],
  lost: ["Some roots are no longer on the chain, and are added again.", { batches: "", users: "" }],
  published: [
    "A root is final, and the keys of all its users are verified.",
    { ...PUBLISHED, userIDs: "", superseded: "list of `userID`, `root`" },
  ],
  interrupted: ["Ctrl-C was pressed.", { resume: "the command that continues" }],
};

const REPORT: Readonly<Record<keyof PublishReport, string>> = {
  users: "number of published users",
  transactions: "number of transactions",
  gasUsed: "gas of all transactions",
  gasPerUser: "gas per user",
  costWei: "price of all transactions, in wei",
  alreadyPublished: "number of users who already had a root",
  superseded: "users to whom another publisher gave another root first: list of `userID`, `root`",
  differing: "users whose published key is not the one in the records, as in the event `keyDiffers`",
  published: `list of added roots: ${fieldsOf(PUBLISHED)}`,
  contract: "the registry's address",
  error: "only if `differing` is not empty: the error `KEY_DIFFERS`. The exit code is then 1.",
};

function fieldsOf(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, remark]) => `\`${name}\`${remark === "" ? "" : ` (${remark})`}`)
    .join(", ");
}

/** The section of docs/commands.md about `publish --json`. */
export const PUBLISH_OUTPUT = `## JSON output of publish

In a clone, with \`npm start\` in another terminal:

\`\`\`sh
npx hardhat keyroot sample-users --count 3 > users.jsonl
npx hardhat keyroot publish --records users.jsonl --json
\`\`\`

Each line is an event, and the last line is the report of the run or \`{"error":…}\`. Roots have 64 hex digits, and
transaction hashes 0x and 64 hex digits. [Watching](watching.md#events) describes the lines of \`watch --json\`.

| \`event\` | When | Fields |
| --- | --- | --- |
${Object.entries(EVENTS)
  .map(([name, [when, fields]]) => `| \`${name}\` | ${when} | ${fieldsOf(fields)} |`)
  .join("\n")}

| Field of the report | Value |
| --- | --- |
${Object.entries(REPORT)
  .map(([name, value]) => `| \`${name}\` | ${value} |`)
  .join("\n")}

\`publish --plan-only --json\` prints the plan. Its first line is
\`{"format":"keyroot-plan/1","chainId","genesisHash","contract","owner","usersPerTransaction","batches","users"}\`, where only plans for
development chains have \`genesisHash\`. Each other line is a batch, \`{"root","fileBytes","userIDs"}\`. The user ids are sorted across
all batches. If the published keys of some users are not those in the records, the last line is \`{"differing","error"}\`, with these
fields of the report.
`;
