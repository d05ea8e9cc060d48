import keyroot from "@keyroot/operator/hardhat";
import { configVariable, defineConfig } from "hardhat/config";
import { existsSync } from "node:fs";
import { tasks } from "./tasks/index.ts";

// `npm start` does not need the compiler and the test runner, and does not install them.
const canBuild = existsSync(new URL("node_modules/@nomicfoundation/hardhat-toolbox-mocha-ethers", import.meta.url));
const contract = canBuild ? (await import("./hardhat.contract.config.ts")).default : {};

export default defineConfig({
  ...contract,
  plugins: [...(contract.plugins ?? []), keyroot],
  tasks,
  networks: {
    // `--network live`: both values come from the environment or from Hardhat's encrypted keystore.
    live: { type: "http", url: configVariable("KEYROOT_RPC_URL"), accounts: [configVariable("KEYROOT_OWNER_KEY")] },
  },
  verify: { etherscan: { apiKey: configVariable("ETHERSCAN_API_KEY") } },
});
