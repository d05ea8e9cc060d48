import * as contracts from "@keyroot/contracts";
import { expect } from "chai";
import { keccak256, ZeroHash } from "ethers";
import hre from "hardhat";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { publint } from "publint";
import { generateFiles, readDeployments } from "../../scripts/generate/contractArtifacts.ts";
import { startHardhat } from "../support/chain/freshRegistry.ts";
import { packPackage } from "../support/packages/installPackages.ts";
import { withoutHardhatOptions } from "../support/processes/withoutHardhatOptions.ts";

const run = promisify(execFile);
const { root } = hre.config.paths;
const readme = await readFile(join(root, "contracts/README.md"), "utf8");

/** The README's examples in a language. */
function examples(language: string): string[] {
  return [...readme.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, "g"))].map(([, code = ""]) => code);
}

/** The registry's address in the README's examples. */
const EXAMPLE_ADDRESS = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const ALICE = `0x${"a1".repeat(20)}`;
const BOB = `0x${"b0".repeat(20)}`;
const ROOT = `0x${"01".repeat(32)}`;
const DEPLOYMENT = {
  chainId: 7,
  contract: EXAMPLE_ADDRESS,
  codeHash: contracts.publicKeyRegistryCodeHash,
  blockNumber: 1,
  transactionHash: ROOT,
};

describe("@keyroot/contracts", () => {
  let project: string;
  let chain: Awaited<ReturnType<typeof startHardhat>>;

  before("is packed and installed in an empty Hardhat project, next to a running chain", async () => {
    project = await mkdtemp(join(tmpdir(), "keyroot-contracts-"));
    chain = await startHardhat();
    const tarball = await packPackage("contracts");
    const installed = join(project, "node_modules/@keyroot/contracts");
    await mkdir(installed, { recursive: true });
    await run("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1"]);
    await mkdir(join(project, "node_modules/@openzeppelin"));
    for (const name of ["@openzeppelin/contracts", "ethers", "hardhat", "solc"]) {
      await symlink(join(root, "node_modules", name), join(project, "node_modules", name));
    }
    await writeFile(join(project, "package.json"), '{ "type": "module", "private": true }');
  });

  after(async () => {
    await chain.close();
    await rm(project, { recursive: true });
  });

  /** Runs a script in the project and returns what it printed, without the newline at the end. */
  async function runScript(name: string, code: string): Promise<string> {
    await writeFile(join(project, name), code);
    const { stdout } = await run(process.execPath, [name, chain.url], { cwd: project });
    return stdout.trimEnd();
  }

  /** A program that deploys a registry, adds a root, and prints the registry's address. */
  const DEPLOY = `
const provider = new ethers.JsonRpcProvider(process.argv[2], undefined, { cacheTimeout: -1 });
const main = async () => {
  const owner = await provider.getSigner();
  const { publicKeyRegistryAbi, publicKeyRegistryBytecode } = contracts;
  const registry = await new ethers.ContractFactory(publicKeyRegistryAbi, publicKeyRegistryBytecode, owner).deploy(owner);
  await registry.waitForDeployment();
  await (await registry.addMerkleTreeRoot("${ROOT}", "${ALICE}")).wait();
  console.log(registry.target);
};
main();
`;
  const IMPORT = `import * as contracts from "@keyroot/contracts";\nimport * as ethers from "ethers";\n`;
  const REQUIRE = `const contracts = require("@keyroot/contracts");\nconst ethers = require("ethers");\n`;

  describe("its Solidity sources", () => {
    it("compile in a Hardhat project that imports the interface and the contract", async () => {
      const [example = ""] = examples("solidity");
      expect(example).to.include('from "@keyroot/contracts/IPublicKeyRegistry.sol"');
      await mkdir(join(project, "contracts"));
      await writeFile(join(project, "contracts/OnlyPublishedUsers.sol"), example);
      const derived = `// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;
import {PublicKeyRegistry} from "@keyroot/contracts/PublicKeyRegistry.sol";
contract DerivedRegistry is PublicKeyRegistry {
    constructor() PublicKeyRegistry(msg.sender) {}
}
`;
      await writeFile(join(project, "contracts/DerivedRegistry.sol"), derived);
      const solidity = { version: "0.8.37", path: join(root, "node_modules/solc/soljson.js") };
      await writeFile(join(project, "hardhat.config.js"), `export default ${JSON.stringify({ solidity })};`);
      await run(join(root, "node_modules/.bin/hardhat"), ["build"], { cwd: project, env: withoutHardhatOptions() });
      for (const name of ["OnlyPublishedUsers", "DerivedRegistry"]) {
        const artifact = await readFile(join(project, `artifacts/contracts/${name}.sol/${name}.json`), "utf8");
        expect((JSON.parse(artifact) as { bytecode: string }).bytecode).to.match(/^0x60/);
      }
    });
  });

  describe("its ABI and bytecode", () => {
    it("deploy a registry from an ES module, and the README's examples read it", async () => {
      const address = await runScript("deploy.mjs", IMPORT + DEPLOY);
      const [read = "", check = "", compile = ""] = examples("js").map((code) =>
        code.replace(EXAMPLE_ADDRESS, address).replace("http://127.0.0.1:8545", chain.url),
      );
      expect(await runScript("read.mjs", `${read}console.log(root);`)).to.equal(ROOT);
      expect(await runScript("readBob.mjs", `${read.replace(ALICE, BOB)}console.log(root);`)).to.equal(ZeroHash);
      expect(await runScript("check.mjs", `${check}console.log("same");`)).to.equal("same");
      const failure: unknown = await runScript("checkAlice.mjs", check.replace(address, ALICE)).catch(
        (error: unknown) => error,
      );
      expect(failure).to.have.property("stderr").that.includes("Error: This is not a Keyroot registry.");
      expect(await runScript("compile.mjs", `${compile}console.log("same");`)).to.match(/same$/);
    });

    it("deploy a registry from a CommonJS module", async () => {
      const address = await runScript("deploy.cjs", REQUIRE + DEPLOY);
      expect(address).to.match(/^0x[0-9a-fA-F]{40}$/);
    });

    it("are the same in the JSON files", async () => {
      const code = `
import { publicKeyRegistryAbi } from "@keyroot/contracts";
import abi from "@keyroot/contracts/abi/PublicKeyRegistry.json" with { type: "json" };
import interfaceAbi from "@keyroot/contracts/abi/IPublicKeyRegistry.json" with { type: "json" };
import { deepEqual, equal, ok } from "node:assert";
deepEqual(abi, publicKeyRegistryAbi);
const members = new Set(abi.map((member) => JSON.stringify(member)));
equal(interfaceAbi.length, 10);
ok(interfaceAbi.every((member) => members.has(JSON.stringify(member))));
console.log("same");
`;
      expect(await runScript("json.mjs", code)).to.equal("same");
    });

    it("have the hashes that they export", () => {
      expect(keccak256(contracts.publicKeyRegistryBytecode)).to.equal(contracts.publicKeyRegistryBytecodeHash);
    });
  });

  describe("its types", () => {
    it("are literal, so that a strict TypeScript program can derive names and arguments from them", async () => {
      const program = `
import { deployments, publicKeyRegistryAbi, publicKeyRegistryBytecode, type Deployment } from "@keyroot/contracts";
type Functions = Extract<(typeof publicKeyRegistryAbi)[number], { type: "function" }>;
export const name: Functions["name"] = "getMerkleTreeRoot";
// @ts-expect-error -- there is no such function
export const unknown: Functions["name"] = "setMerkleTreeRoot";
type Input = Extract<Functions, { name: "getMerkleTreeRoot" }>["inputs"][0]["type"];
export const input: Input = "bytes20";
export const bytecode: \`0x\${string}\` = publicKeyRegistryBytecode;
export const mainnet: Deployment | undefined = deployments[1];
`;
      await writeFile(join(project, "typed.mts"), program);
      const tsc = join(root, "node_modules/typescript/bin/tsc");
      const options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "typed.mts"];
      await run(process.execPath, [tsc, ...options], { cwd: project });
    });
  });

  describe("its contents", () => {
    it("are only sources, generated files, the license and documentation", async () => {
      const { stdout } = await run("npm", ["pack", "--dry-run", "--json"], { cwd: join(root, "contracts") });
      const [pack] = JSON.parse(stdout) as [{ files: { path: string }[] }];
      expect(pack.files.map(({ path }) => path).sort()).to.deep.equal([
        "IPublicKeyRegistry.sol",
        "LICENSE",
        "PublicKeyRegistry.sol",
        "README.md",
        "abi/IPublicKeyRegistry.json",
        "abi/PublicKeyRegistry.json",
        "deployments/README.md",
        "index.d.ts",
        "index.js",
        "package.json",
        "verification/PublicKeyRegistry.json",
      ]);
    });

    it("have entry points that resolve, with types", async () => {
      const { messages } = await publint({ pkgDir: join(root, "contracts") });
      // The pattern ./deployments/*.json matches no file until there is a deployment.
      const others = messages.filter(({ code }) => code !== "EXPORTS_GLOB_NO_MATCHED_FILES");
      expect(others).to.deep.equal([]);
    });

    it("are current (to update them: npm run generate:contracts)", async () => {
      for (const [path, text] of Object.entries(await generateFiles())) {
        expect(await readFile(join(root, path), "utf8"), path).to.equal(text);
      }
    });

    it("have the license of the repository", async () => {
      const license = await readFile(join(root, "contracts/LICENSE"), "utf8");
      expect(license).to.equal(await readFile(join(root, "LICENSE"), "utf8"));
    });
  });

  describe("its deployments", () => {
    async function read(name: string, content: object): Promise<object> {
      const folder = await mkdtemp(join(project, "deployments-"));
      await writeFile(join(folder, name), JSON.stringify(content));
      await writeFile(join(folder, "README.md"), "");
      return readDeployments(folder);
    }

    async function errorOf(result: Promise<object>): Promise<string> {
      return result.then(
        () => "",
        (error: unknown) => (error as Error).message,
      );
    }

    it("are read by chain id", async () => {
      expect(await read("7.json", DEPLOYMENT)).to.deep.equal({ 7: DEPLOYMENT });
    });

    it("are rejected if a field is missing, unknown or malformed", async () => {
      for (const content of [
        { ...DEPLOYMENT, blockNumber: undefined },
        { ...DEPLOYMENT, owner: ALICE },
        { ...DEPLOYMENT, contract: DEPLOYMENT.contract.replace("F", "f") },
        { ...DEPLOYMENT, codeHash: ALICE },
        { ...DEPLOYMENT, chainId: "7" },
      ]) {
        expect(await errorOf(read("7.json", content)), JSON.stringify(content)).to.include("7.json is invalid");
      }
    });

    it("are rejected if the file's name is not the chain id", async () => {
      expect(await errorOf(read("8.json", DEPLOYMENT))).to.include(
        "8.json is the deployment on chain 7: rename the file.",
      );
    });
  });
});
