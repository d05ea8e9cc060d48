import keyroot from "@keyroot/operator/hardhat";
import mocha from "@nomicfoundation/hardhat-mocha";
import { defineConfig } from "hardhat/config";

export default defineConfig({ plugins: [mocha, keyroot] });
