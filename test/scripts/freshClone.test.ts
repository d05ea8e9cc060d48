import { expect } from "chai";
import { execFile, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../scripts/test/root.ts";
import { everything } from "../support/everything.ts";
import { freePort } from "../support/support.ts";

const run = promisify(execFile);

/** The machine's environment: without the project's programs, and without the options of npm and Hardhat that run this test. */
function machineEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_|HARDHAT_|KEYROOT_|TEST_ALL$|FUZZ$)/i.test(name),
  );
  const env = Object.fromEntries(kept);
  const folders = (env["PATH"] ?? "").split(delimiter).filter((path) => !path.includes("node_modules"));
  return { ...env, PATH: folders.join(delimiter), CI: "1" };
}

describe("a fresh clone in a folder named keyroot", function () {
  // Ends only endless waits.
  this.timeout(3_600_000);
  let clone: string;
  const env = machineEnvironment();

  /** Runs a command to its end. The code is 0 if it succeeded. */
  const runHere = async (program: string, ...args: string[]) => {
    const ended: unknown = await run(program, args, { cwd: clone, env, maxBuffer: 2 ** 26 }).catch(
      (error: unknown) => error,
    );
    const { code = 0, stdout, stderr } = ended as { code?: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  };
  const hardhat = (...args: string[]) => runHere("npx", "--no-install", "hardhat", ...args);

  before("with the committed files, and changes that are not committed", async () => {
    clone = join(await mkdtemp(join(tmpdir(), "keyroot-clone-")), "keyroot");
    const { stdout } = await run("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: ROOT });
    for (const path of stdout.trimEnd().split("\n")) {
      await mkdir(dirname(join(clone, path)), { recursive: true });
      // A deleted file may still be in the index.
      await cp(join(ROOT, path), join(clone, path)).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      });
    }
  });
  after(() => rm(dirname(clone), { recursive: true }));

  for (const [first, ...rest] of [
    // The installation is that of `npm start`.
    ["npm start", "run", "demo", "--", "--help"],
    ["npm install", "install"],
  ] as const)
    describe(`after ${first}`, () => {
      before("installs", async () => {
        const { code, output } = await runHere("npm", ...rest);
        expect(code, output).to.equal(0);
      });

      // `npm install` only adds packages, and all other stages run with them.
      const isComplete = first === "npm start" || everything;
      if (isComplete)
        it("builds with npx hardhat build", async () => {
          const { code, output } = await hardhat("build", "--force");
          expect(output).to.match(/Compiled \d+ Solidity files with solc 0\.8\.37/);
          expect(code).to.equal(0);
        });

      it("runs the contract's tests with npx hardhat test", async () => {
        const { code, output } = await hardhat("test");
        expect(output)
          .to.match(/^\d{2,} passing \(\d+ solidity, \d{2,} mocha\)$/m)
          .and.not.match(/\bfailing\b/);
        expect(code, output).to.equal(0);
      });

      it("runs a test of other code, or names the command that installs its packages", async () => {
        const { code, output } = await hardhat("test", "--no-compile", "test/keyroot/merkle/tree.test.ts");
        const expected =
          first === "npm install" ? /^\d+ passing \(\d+ mocha\)$/m : /'fast-check'.* run: npm run bootstrap$/m;
        expect(output).to.match(expected);
        expect(code).to.equal(first === "npm install" ? 0 : 1);
      });

      if (!isComplete) return;

      it("runs one file with npx hardhat test FILE", async () => {
        const { code, output } = await hardhat("test", "test/contracts/gas.test.ts");
        expect(output).to.match(/^3 passing \(3 mocha\)$/m);
        expect(code).to.equal(0);
      });

      it("starts a chain with npx hardhat node", async () => {
        const port = String(await freePort());
        const args = ["--no-install", "hardhat", "node", "--port", port];
        const child = spawn("npx", args, { cwd: clone, env, stdio: ["ignore", "pipe", "inherit"], detached: true });
        try {
          let printed = "";
          for await (const text of child.stdout.setEncoding("utf8")) {
            printed += String(text);
            if (printed.includes("Account #0")) break;
          }
          expect(printed).to.match(new RegExp(`JSON-RPC server at http://[\\d.]+:${port}/`));
        } finally {
          process.kill(-(child.pid ?? NaN), "SIGKILL");
        }
      });

      it("deploys with npx hardhat ignition deploy", async () => {
        const { code, output } = await hardhat("ignition", "deploy", "ignition/modules/PublicKeyRegistry.ts");
        expect(output).to.match(/PublicKeyRegistry#PublicKeyRegistry - 0x[0-9a-fA-F]{40}/);
        expect(code).to.equal(0);
      });

      it("runs npx hardhat keyroot", async () => {
        const { code, output } = await hardhat("keyroot", "sample-users", "--count", "2");
        expect(output.match(/^\{"userID":/gm)).to.have.length(2);
        expect(code).to.equal(0);
      });

      // It is the last test, because the next build compiles everything again.
      it("measures the contract's coverage with npx hardhat test --coverage", async () => {
        const { code, output } = await hardhat("test", "--coverage");
        expect(output).to.match(/contracts\/PublicKeyRegistry\.sol +│ 100\.00 │ 100\.00/);
        expect(code, output).to.equal(0);
      });
    });
});
