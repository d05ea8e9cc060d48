import hardhatToolbox from "@nomicfoundation/hardhat-toolbox-mocha-ethers";
import { configVariable, defineConfig } from "hardhat/config";
import { createRequire } from "node:module";
import { typechainOrder } from "./scripts/typechainOrder.ts";
import { keyrootTasks } from "./tasks/index.ts";

// The compiler is the npm package, pinned in package.json: nothing is downloaded, every machine builds the same bytecode.
const solc = {
  version: "0.8.37",
  path: createRequire(import.meta.url).resolve("solc/soljson.js"),
  settings: { evmVersion: "shanghai", viaIR: true, optimizer: { enabled: true, runs: 10_000 } },
};

// Ten thousand runs are for `npm run audit:contract`.
const isThorough = process.env["FUZZ"] === "thorough";

export default defineConfig({
  // In this order: the hooks of the first run first.
  plugins: [typechainOrder, hardhatToolbox],
  tasks: keyrootTasks,
  networks: {
    // `--network live`: both values come from the environment or from Hardhat's encrypted keystore.
    live: { type: "http", url: configVariable("KEYROOT_RPC_URL"), accounts: [configVariable("KEYROOT_OWNER_KEY")] },
  },
  // Beside them, `test/proof` holds contracts that only the proof compiles.
  paths: { tests: { solidity: "test/solidity" } },
  test: {
    solidity: {
      fuzz: { runs: isThorough ? 10_000 : 500 },
      // No call of the handler may fail: it is the handler that knows what the contract has to refuse.
      invariant: { runs: isThorough ? 256 : 32, depth: 32, failOnRevert: true },
    },
  },
  solidity: { profiles: { default: solc, production: solc } },
  typechain: { outDir: "typechain-types" },
});
