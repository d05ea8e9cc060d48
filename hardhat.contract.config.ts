/** The part of the configuration that concerns the contract. The results of the stage "contract proof" depend on it. */
import hardhatToolbox from "@nomicfoundation/hardhat-toolbox-mocha-ethers";
import { defineConfig } from "hardhat/config";
import { createRequire } from "node:module";
import { oneBuildAtATime } from "./scripts/generate/oneBuildAtATime.ts";
import { stableTypechain } from "./scripts/generate/stableTypechain.ts";

// The compiler is the npm package, pinned in package.json, so every machine builds the same bytecode without a download.
const solc = {
  version: "0.8.37",
  path: createRequire(import.meta.url).resolve("solc/soljson.js"),
  settings: { evmVersion: "shanghai", viaIR: true, optimizer: { enabled: true, runs: 10_000 } },
};

// `npm run test:all` and `npm run audit:contract` set FUZZ=thorough.
const isThorough = process.env["FUZZ"] === "thorough";

export default defineConfig({
  // The order matters: hooks of the first plugin run first.
  plugins: [oneBuildAtATime, stableTypechain, hardhatToolbox],
  // `npx hardhat test` runs the tests of the contract. All other tests are named: `npx hardhat test FILE`.
  paths: { tests: { mocha: "test/contracts", solidity: "test/solidity" } },
  test: {
    // Ends only endless waits.
    mocha: { timeout: 600_000 },
    solidity: {
      fuzz: { runs: isThorough ? 10_000 : 500 },
      // The handler expects the contract's errors, so a call of the handler that reverts is a failure.
      invariant: { runs: isThorough ? 256 : 32, depth: 32, failOnRevert: true },
    },
  },
  // The proof's twin is not counted.
  coverage: { skipFiles: ["test/formal/**"] },
  solidity: { profiles: { default: solc, production: solc } },
  typechain: { outDir: "typechain-types" },
});
