import hardhatToolbox from "@nomicfoundation/hardhat-toolbox-mocha-ethers";
import { configVariable, defineConfig } from "hardhat/config";
import { createRequire } from "node:module";
import { keyrootTasks } from "./tasks/index.ts";

// solc 0.8.37's own sequence of optimizer steps with one more E ("equal store eliminator") before its last L ("load
// resolver"): a read of a mapping and the write after it then hash the key once, which saves 60 gas for each user.
const optimizerSteps =
  "dfDvulfnTUtnIfxa[r]EscLMVcul[j]Trpeulxa[r]cLviufM" +
  "CTUca[r]ELSsTFOtfDnca[r]IulcscCTUtviufMx[scCTUt]TOntnfDIulviufMjmul[jul]VcTOculjmul:fDnTOcmuO";

// The compiler is the npm package, pinned in package.json: nothing is downloaded, every machine builds the same bytecode.
const solc = {
  version: "0.8.37",
  path: createRequire(import.meta.url).resolve("solc/soljson.js"),
  settings: {
    evmVersion: "shanghai",
    viaIR: true,
    optimizer: { enabled: true, runs: 10_000, details: { yul: true, yulDetails: { optimizerSteps } } },
  },
};

export default defineConfig({
  plugins: [hardhatToolbox],
  tasks: keyrootTasks,
  networks: {
    // `--network live`: both values come from the environment or from Hardhat's encrypted keystore.
    live: { type: "http", url: configVariable("KEYROOT_RPC_URL"), accounts: [configVariable("KEYROOT_OWNER_KEY")] },
  },
  solidity: { profiles: { default: solc, production: solc } },
  typechain: { outDir: "typechain-types" },
});
