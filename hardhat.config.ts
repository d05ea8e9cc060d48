import keyroot from "@keyroot/operator/hardhat";
import { configVariable, defineConfig } from "hardhat/config";
import contract from "./hardhat.contract.config.ts";
import { tasks } from "./tasks/index.ts";

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
