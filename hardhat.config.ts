import hardhatToolbox from "@nomicfoundation/hardhat-toolbox-mocha-ethers";
import { defineConfig } from "hardhat/config";
import { createRequire } from "node:module";

// The compiler is the npm package, pinned in package.json: nothing is downloaded, every machine builds the same bytecode.
const solc = {
  version: "0.8.37",
  path: createRequire(import.meta.url).resolve("solc/soljson.js"),
  settings: { evmVersion: "shanghai", optimizer: { enabled: true, runs: 1_000_000 } },
};

export default defineConfig({
  plugins: [hardhatToolbox],
  solidity: { profiles: { default: solc, production: solc } },
  typechain: { outDir: "typechain-types" },
});
