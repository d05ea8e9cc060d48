import { defineConfig } from "hardhat/config";
import { createRequire } from "node:module";

const path = createRequire(import.meta.url).resolve("solc/soljson.js");

export default defineConfig({ solidity: { version: "0.8.37", path } });
