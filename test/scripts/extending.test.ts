import { expect } from "chai";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type * as library from "keyroot";
import type * as answers from "../../packages/service/src/api/answerFrom.ts";
import { ROOT } from "../../scripts/test/root.ts";
import { type Addition, ProjectCopy } from "../support/copy/projectCopy.ts";

const TRUST = "packages/keyroot/src/trust";
const COMMANDS = "packages/operator/src/commands";
const PARTNERS = "packages/service/src/partners";

/** A block source: the file, its name, its export, and the rows that the type checker asks for. */
const SOURCE: { added: Addition; asked: Addition } = {
  added: {
    [`${TRUST}/printedBlock.ts`]: {
      text: `import { checkText } from "../input/options.ts";
import { LOWERCASE_HASH } from "../ethereum/rpcValues.ts";
import { makeTrust, type Trust } from "./trust.ts";

/** Trusts the hash of a block that a newspaper printed. */
export function printedBlock(hash: string): Trust {
  checkText("The hash of printedBlock", hash, "a hash, 0x and 64 lowercase hex digits", LOWERCASE_HASH);
  const block = { hash, endpoints: [] };
  return makeTrust("printed-block", () => ({
    name: "printed-block",
    storageProof: true,
    tag: "latest",
    findBlock: () => Promise.resolve(block),
    accepts: ({ block }) => block?.hash === hash,
  }));
}
`,
    },
    "packages/keyroot/src/evidence.ts": { text: `"printed-block" | `, before: '"one-endpoint" |' },
    "packages/keyroot/src/index.ts": {
      text: `export { printedBlock } from "./trust/printedBlock.ts";\n`,
      before: "export { pinnedBlock }",
    },
  },
  asked: {
    [`${COMMANDS}/describeSource.ts`]: {
      text: `    "printed-block": "the block hash that a newspaper printed",\n`,
      before: '    "own-node"',
    },
    [`${COMMANDS}/trust.ts`]: {
      text: `  "printed-block": { value: "HASH", make: (_, value) => printedBlock(hashOf(value)) },\n`,
      before: '  "own-node": {',
    },
  },
};

/** A command: its file and its row. */
const COMMAND: Addition = {
  [`${COMMANDS}/countRecords.ts`]: {
    text: `import { command, json } from "./defineCommand.ts";

/** \`keyroot count-records\`: counts the records of a file. */
export const countRecords = command(
  { summary: "Count the records of a file", argument: { kind: "one", name: "file", description: "JSON Lines" }, options: { json } },
  async ({ file }) => {
    const { readLines } = await import("./inputFiles.ts");
    const count = (await readLines(file)).length;
    return { json: { count }, text: String(count) };
  },
);
`,
  },
  [`${COMMANDS}/commandTable.ts`]: { text: `  "count-records": countRecords,\n`, before: `  "check-file": checkFile,` },
};
const IMPORTED: Addition = {
  [`${COMMANDS}/commandTable.ts`]: {
    text: `import { countRecords } from "./countRecords.ts";\n`,
    before: "import type { Command }",
  },
};

/** An API field: its line in the schema, and the value that the type checker asks the store for. */
const FIELD: { added: Addition; asked: Addition } = {
  added: {
    [`${PARTNERS}/operations.ts`]: {
      text: `  free_users: count("users that the partner may create"),\n`,
      before: "  pending_keys:",
    },
  },
  asked: {
    [`${PARTNERS}/partners.ts`]: {
      text: "  freeUsers: number;\n",
      before: "  /** Number of registered public keys that are not",
    },
  },
};

describe("CONTRIBUTING.md, on a copy of the project", () => {
  let copy: ProjectCopy;

  before("makes the copy", async () => {
    copy = await ProjectCopy.make();
  });

  after(() => copy.remove());

  const sectionOf = async (title: string) => {
    const text = await readFile(join(ROOT, "CONTRIBUTING.md"), "utf8");
    return text.split(/^## /m).find((section) => section.startsWith(title)) ?? "";
  };

  it("names the files of a block source, a command and an API field, and the type checker asks for their rows", async () => {
    for (const addition of [SOURCE.added, COMMAND, IMPORTED, FIELD.added]) await copy.add(addition);
    const asked = Object.keys({ ...SOURCE.asked, ...FIELD.asked });
    expect(await copy.filesWithErrors()).to.deep.equal([...asked, `${PARTNERS}/operations.ts`].toSorted());
  });
});
