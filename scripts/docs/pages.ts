import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Manifest } from "../package/manifest.ts";

/** The group for pages that are in no other group. */
const OTHERS = "Reference";

/** The groups of the menu, from top to bottom. Each title has a list of Markdown files of the project. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  "Start here": ["index", "quickstart", "system", "alternatives", "upgrading"].map(inDocs),
  Examples: [
    "examples/README.md",
    ...[
      "browser-app",
      "vite-react",
      "react-native",
      "native-app",
      "partner-backend",
      "hardhat-project",
      "cron",
      "contract",
      "python",
    ].map((folder) => `examples/${folder}/README.md`),
  ],
  "App developers": [
    "verifying",
    "platforms",
    "accounts",
    "key-types",
    "trust",
    "watching",
    "safety-code",
    "threat-model",
    "cache",
    "explorer",
  ].map(inDocs),
  "Partner engineers": ["api-concepts", "api-clients", "webhooks", "dashboard"].map(inDocs),
  Operators: [
    ...[
      "publishing",
      "costs",
      "choosing-a-chain",
      "contract",
      "install",
      "variables",
      "backup",
      "scaling",
      "monitoring",
    ],
    ...["commands"],
  ].map(inDocs),
  Auditors: ["auditing"].map(inDocs),
  [OTHERS]: ["specification", "formats", "errors"].map(inDocs),
  Packages: [
    "packages/keyroot/README.md",
    "packages/operator/README.md",
    "packages/service/README.md",
    "contracts/README.md",
  ],
  Project: ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"],
};

/** The titles of the groups, in the order of the menu. */
export const GROUP_ORDER: readonly string[] = Object.keys(GROUPS);

/**
 * The packages by folder, with the entries that the API reference describes. Other entries may change in any release.
 */
const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  "packages/keyroot": [
    ...[".", "./account", "./auditors", "./bundle", "./key-types", "./light-client", "./merkle", "./records"],
    "./safety-code",
    ...["./store/file", "./store/indexeddb", "./store/key-value"],
  ],
  "packages/operator": [".", "./hardhat"],
  "packages/client": ["./operator", "./partner", "./user"],
  "packages/service": ["."],
  contracts: ["."],
};

/**
 * Returns the Markdown files of the site, except the README, with the group of each. They include every page in `docs`.
 * @param root the folder of the project
 */
export function sitePages(root: string): Map<string, string> {
  const pages = new Map(
    Object.entries(GROUPS).flatMap(([group, paths]) => paths.map((path) => [path, group] as const)),
  );
  for (const name of readdirSync(join(root, "docs"))) {
    const path = `docs/${name}`;
    if (name.endsWith(".md") && !pages.has(path)) pages.set(path, OTHERS);
  }
  return pages;
}

function inDocs(name: string): string {
  return `docs/${name}.md`;
}

/** Returns the entries of the API reference: the path of each source, with the name that programs import. */
export function apiEntries(root: string): Map<string, string> {
  const entries = new Map<string, string>();
  for (const [folder, subpaths] of Object.entries(ENTRIES)) {
    const { name, exports } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest;
    for (const subpath of subpaths) {
      const target = exports[subpath];
      const source = typeof target === "string" ? target : (target?.["types"] ?? target?.["default"]);
      if (typeof source !== "string") throw new Error(`${name} has no entry ${subpath}.`);
      entries.set(join(folder, source), join(name, subpath));
    }
  }
  return entries;
}
