import keyroot from "@keyroot/operator/hardhat";
import hardhatToolbox from "@nomicfoundation/hardhat-toolbox-mocha-ethers";
import { configVariable, defineConfig } from "hardhat/config";
import { createRequire } from "node:module";
import { stableTypechain } from "./scripts/generate/stableTypechain.ts";
import { tasks } from "./tasks/index.ts";

// The compiler is the npm package, pinned in package.json, so every machine builds the same bytecode without a download.
const solc = {
  version: "0.8.37",
  path: createRequire(import.meta.url).resolve("solc/soljson.js"),
  settings: { evmVersion: "shanghai", viaIR: true, optimizer: { enabled: true, runs: 10_000 } },
};

// `npm run audit:contract` sets FUZZ=thorough.
const isThorough = process.env["FUZZ"] === "thorough";

export default defineConfig({
  // The order matters: hooks of the first plugin run first.
  plugins: [stableTypechain, hardhatToolbox, keyroot],
  tasks,
  networks: {
    // `--network live`: both values come from the environment or from Hardhat's encrypted keystore.
    live: { type: "http", url: configVariable("KEYROOT_RPC_URL"), accounts: [configVariable("KEYROOT_OWNER_KEY")] },
  },
  // Not `test`: `test/formal` contains contracts that only the proof compiles.
  paths: { tests: { solidity: "test/solidity" } },
  test: {
    // Ends only endless waits: most tests take less than 1 s, and 30 s on a machine with much other load.
    mocha: { timeout: 120_000 },
    solidity: {
      fuzz: { runs: isThorough ? 10_000 : 500 },
      // The handler expects the contract's errors, so a call of the handler that reverts is a failure.
      invariant: { runs: isThorough ? 256 : 32, depth: 32, failOnRevert: true },
    },
  },
  // Not counted: the proof's twin, and the reader, which runs as the bytecode in readMerkleTreeRoots.ts.
  coverage: { skipFiles: ["test/formal/**", "contracts/MerkleTreeRootsReader.sol"] },
  solidity: { profiles: { default: solc, production: solc } },
  verify: { etherscan: { apiKey: configVariable("ETHERSCAN_API_KEY") } },
  typechain: { outDir: "typechain-types" },
});
