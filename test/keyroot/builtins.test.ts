import { expect } from "chai";
import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type KeyRecord } from "keyroot";
import { makeMerkleFile, makeMerkleProof } from "keyroot/merkle";
import { statementText } from "../support/auditors/statementHost.ts";
import { signedBy, testAuditors } from "../support/auditors/testAuditor.ts";
import { cannedAnswers } from "../support/data/cannedAnswers.ts";
import { CONTRACT, plainBundle } from "../support/data/plainBundle.ts";
import { type Preparation, SCRIPT } from "../support/data/replacedBuiltins.ts";
import { sampleRecords, textOf } from "../support/samples.ts";
import { ANSWER } from "../support/servers/scriptedService.ts";

/** Time of the auditors' signatures in seconds since 1970. */
const TIME = 1_800_000_000;

/**
 * Functions that throw BUILTIN_REPLACED after the import of merkle-tree-gen. Their curve library uses methods that
 * merkle-tree-gen replaces.
 */
const ON_CURVES = ["verifyStatement"];

interface Output {
  results: Record<string, string>;
  wrong: string[];
  /** Number of pairs of one call and one replaced method. */
  count: number;
  /** Number of pairs in which the call reads the replaced method. */
  run: number;
}

/** Creates a statement of two auditors. */
function auditedInput() {
  const signers = testAuditors("a", "b");
  const place = { chainId: 1, contract: CONTRACT };
  const text = statementText(place, { number: 300, hash: `0x${"cd".repeat(32)}`, timestamp: TIME });
  return { statement: signedBy(signers, text), keys: signers.map(({ key }) => key), place, time: TIME };
}

/** Runs all public functions in a separate process. */
async function runPrepared(preparation: Preparation): Promise<Output> {
  const records = sampleRecords(3) as [KeyRecord, KeyRecord, KeyRecord];
  const file = makeMerkleFile(records);
  const [first, second] = file.records as [KeyRecord, KeyRecord];
  const wrong = { ...first, pubKey: second.pubKey };
  const { answers, options } = cannedAnswers(file);
  const { bundle, pinned } = plainBundle(makeMerkleProof(file, first.userID));
  const input = {
    ...{ records: file.records, wrong, file: textOf(file), root: file.tree.root, bundle, pinned, answers },
    forged: textOf(file).replace(first.pubKey, second.pubKey),
    query: { userID: first.userID, chainId: 1, contract: CONTRACT },
    options: { chainId: options.chainId, contract: options.contract },
    serviceAnswer: ANSWER,
    audited: auditedInput(),
  };
  const run = promisify(execFile)(process.execPath, [SCRIPT, preparation, JSON.stringify(input)], {
    maxBuffer: 2 ** 26,
  });
  return JSON.parse((await run).stdout) as Output;
}

describe("public functions, in a process with changed built-in methods", () => {
  let usual: Output;

  before(async () => {
    usual = await runPrepared("none");
  });

  it("return a result only for valid data before the change", () => {
    const failed = Object.entries(usual.results).flatMap(([name, result]) => (result === "error" ? [name] : []));
    expect(failed.filter((name) => !/ of (?:a|an)(?:other)? | off | with a changed/.test(name))).to.deep.equal([
      "makeBundle",
    ]);
    expect(failed).to.include.members(["parseMerkleFile of a changed file", "verifyBundle of another block"]);
  });

  it("that create a verifier return no wrong result after any array method is replaced", () => {
    expect(usual.count).to.be.above(2_000);
    expect(usual.run).to.be.above(500);
    expect(usual.wrong).to.deep.equal([]);
  });

  for (const preparation of ["merkle-tree-gen before", "merkle-tree-gen after", "frozen"] as const) {
    it(`return the usual results except on curves, with the preparation "${preparation}"`, async () => {
      const { results } = await runPrepared(preparation);
      if (preparation !== "frozen")
        for (const name of ON_CURVES) {
          expect(results[name], name).to.equal("error");
          results[name] = usual.results[name] ?? "";
        }
      expect(results).to.deep.equal(usual.results);
    });
  }

  it("avoid the methods that merkle-tree-gen replaces", () => {
    const root = join(import.meta.dirname, "../../packages/keyroot/src");
    const files = globSync("**/*.ts", { cwd: root });
    expect(files).to.have.length.above(50);
    for (const file of files)
      expect(readFileSync(join(root, file), "utf8"), file).not.to.match(
        /\bArray\.from\(|\.find(?:Last)?\(|Object\.(?:is|values)\(/,
      );
  });
});
