import js from "@eslint/js";
import globals from "globals";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

const pureCore = ["packages/keyroot/src/**"];

export default defineConfig(
  {
    ignores: ["artifacts/", "build/", "cache/", "dist/", "node_modules/", "packages/*/site/", "typechain-types/"],
  },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      globals: globals.nodeBuiltin,
      parserOptions: { projectService: true },
    },
    rules: {
      eqeqeq: "error",
      "no-console": "error",
      // Messages contain numbers.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    },
  },
  {
    // The library runs in browsers: no modules of Node, no framework, and no other package of this repository.
    files: pureCore,
    // A store in a folder, which browsers cannot import.
    ignores: ["packages/keyroot/src/store/fileStore.ts"],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: ["node:*", "hardhat*", "ethers", "@nomicfoundation/*", "@keyroot/*"],
        },
      ],
      "no-restricted-globals": ["error", "process", "Buffer", "__dirname"],
    },
  },
  {
    // Node 22, which the packages support, does not have these. See packages/service/src/cleanup.ts.
    files: ["packages/{operator,service}/src/**"],
    rules: { "no-restricted-globals": ["error", "AsyncDisposableStack", "DisposableStack"] },
  },
  {
    // Plain JavaScript has no types to check.
    files: ["**/*.{js,mjs,cjs}"],
    extends: [tseslint.configs.disableTypeChecked],
  },
  {
    // Small programs that print, in browsers, Node and Hardhat's tests.
    files: ["examples/**", "scripts/docs/site.js"],
    languageOptions: { globals: { ...globals.browser, ...globals.nodeBuiltin, ...globals.mocha } },
    rules: { "no-console": "off" },
  },
  {
    // chai's assertions are expressions.
    files: ["test/**"],
    rules: { "@typescript-eslint/no-unused-expressions": "off" },
  },
);
