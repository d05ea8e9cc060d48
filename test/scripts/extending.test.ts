import { expect } from "chai";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type * as library from "keyroot";
import { ROOT } from "../../scripts/test/root.ts";
import { type Addition, ProjectCopy } from "../support/copy/projectCopy.ts";
import { failure } from "../support/support.ts";

const TRUST = "packages/keyroot/src/trust";
const COMMANDS = "packages/operator/src/commands";
const OPERATIONS = "packages/service/src/partners/operations.ts";
const STORE = "packages/service/src/partners/partners.ts";
const CLI = "packages/operator/src/cli.ts";
const CONTRACT = "0x5fbdb2315678afecb367f032d93f642f64180aa3";
const HASH = `0x${"1".repeat(64)}`;
const USER = "4443nzngyi7hsyn9e55rgxxskar74qu4";

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

const PRINTED: Addition = {
  [`${COMMANDS}/trust.ts`]: { text: "printedBlock, ", before: "type Trust } from" },
};

/** A command: its file and its row. */
const COMMAND: Addition = {
  [`${COMMANDS}/countRecords.ts`]: {
    text: `import { command, json } from "./defineCommand.ts";

/** \`keyroot count-records\`: counts the records of a file. */
export const countRecords = command(
  { summary: "Count the records of a file", argument: { kind: "required", name: "file", description: "JSON Lines" }, options: { json } },
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

/** An API field: its line in the schema, and its value in the store, which the type checker asks for. */
const FIELD: { added: Addition; asked: Addition[] } = {
  added: {
    [OPERATIONS]: { text: `  free_users: count("users that the partner may create"),\n`, before: "  pending_keys:" },
  },
  asked: [
    {
      [STORE]: { text: "  freeUsers: number;\n", before: "  /** Number of registered public keys that are not" },
    },
    {
      [STORE]: {
        text: "      freeUsers: (partner.userLimit ?? 2 ** 31 - 1) - partner.users,\n",
        before: "      ...(keys.get(partner.bizID) ??",
      },
    },
  ],
};

describe("CONTRIBUTING.md, on a copy of the project", () => {
  let copy: ProjectCopy;

  before("makes the copy", async () => {
    copy = await ProjectCopy.make();
  });

  after(() => copy.remove());

  it("needs four rows for a block source, one for a command, and two files for an API field", async () => {
    for (const addition of [SOURCE.added, COMMAND, IMPORTED, FIELD.added]) await copy.add(addition);
    expect(await copy.filesWithErrors()).to.deep.equal([...Object.keys(SOURCE.asked), OPERATIONS].toSorted());
    for (const addition of [SOURCE.asked, PRINTED, ...FIELD.asked]) await copy.add(addition);
    expect(await copy.filesWithErrors()).to.deep.equal([]);
  });

  it("names these files", async () => {
    const text = await readFile(join(ROOT, "CONTRIBUTING.md"), "utf8");
    for (const path of Object.keys({ ...SOURCE.added, ...SOURCE.asked, ...COMMAND, ...FIELD.added }))
      if (!path.includes("printedBlock") && !path.includes("countRecords")) expect(text).to.include(basename(path));
  });

  it("makes a block source that a verifier and --trust accept", async () => {
    const { createVerifier, printedBlock } = (await copy.load("packages/keyroot/src/index.ts")) as typeof library & {
      printedBlock: typeof library.pinnedBlock;
    };
    const place = { rpc: "http://127.0.0.1:1", merkleUrl: "http://127.0.0.1:1", chainId: 1, contract: CONTRACT };
    expect(createVerifier({ ...place, trust: printedBlock(HASH) })).to.have.property("verify");
    const help = await copy.run(CLI, "verify", "--help");
    expect(help.stdout.replaceAll(/\s+/g, " ")).to.include("pinned-block:HASH");
    const args = ["--rpc", place.rpc, "--contract", CONTRACT, "--chain-id", "1", "--merkle-url", place.merkleUrl];
    const refused = await failure(copy.run(CLI, "verify", "--trust", "printed-block:0x12", ...args, USER));
    expect((refused as { stderr: string }).stderr).to.include("needs 0x and 64 lowercase hex digits");
  });

  it("makes a command that runs", async () => {
    const { stdout } = await copy.run(CLI, "count-records", "package.json", "--json");
    expect(JSON.parse(stdout)).to.have.property("count").that.is.above(10);
    expect((await copy.run(CLI, "--help")).stdout).to.include("count-records");
  });

  it("makes an API field that the OpenAPI document, the client's types and its checks have", async () => {
    await copy.run("scripts/generate/openApi.ts");
    await copy.run("scripts/generate/clientTypes.ts");
    const clientFolder = join(copy.folder, "packages/client/src/shared");
    for (const name of ["operations.ts", "answerChecks.ts"])
      expect(await readFile(join(clientFolder, name), "utf8")).to.include("free_users");
  });
});
