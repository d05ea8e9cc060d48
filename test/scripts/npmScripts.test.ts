import { expect } from "chai";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../scripts/test/root.ts";
import { testAll } from "../support/testSize.ts";

const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: Record<string, string> };
const NAMES = Object.keys(scripts).filter((name) => !/^pre|^bootstrap$|^postinstall$/.test(name));

/**
 * For each script, arguments with which it ends within seconds and changes nothing, and the expected output. `npm
 * start` is run by readme.test.ts.
 */
const SMALLEST: Readonly<Record<string, readonly [args: readonly string[], output: RegExp]>> = {
  demo: [["--help"], /Usage: hardhat/],
  "test:browser": [["--help"], /Usage: hardhat/],
  fuzz: [["rlp", "--minutes", "0.001"], /^rlp: \d+ documents, /],
  changeset: [["--help"], /changeset/],
  migrations: [["--help"], /drizzle-kit generate/],
};

describe("npm scripts", () => {
  it("install the locked packages first", () => {
    // The bootstrap must run in a separate shell, because a shell that ran the machine's Node would not find the newly
    // installed one.
    for (const name of NAMES)
      expect(scripts[`pre${name}`], name).to.match(/^npm run --silent bootstrap(?: -- --omit=dev)?(?:$| && )/);
  });

  it("call programs that exist", () => {
    for (const name of NAMES)
      for (const command of (scripts[name] ?? "").split(" && ")) {
        const [program = "", ...args] = command.replace(/^(?:\w+=\S+ )*(?:exec )?/, "").split(" ");
        const path = program === "node" ? (args[0] ?? "") : `node_modules/.bin/${program}`;
        if (program !== "npm") expect(existsSync(join(ROOT, path)), path).to.equal(true);
        else expect(scripts, name).to.have.property(args.at(-1) ?? "");
      }
  });

  (testAll ? describe : describe.skip)("with their smallest input", () => {
    for (const [name, [args, output]] of Object.entries(SMALLEST))
      it(`print the expected text for ${name} -- ${args.join(" ")}`, async () => {
        const words = ["run", "--silent", name, "--", ...args];
        const { stdout } = await promisify(execFile)("npm", words, { cwd: ROOT });
        expect(stdout).to.match(output);
      });
  });
});
