import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Where pages go that no group names. */
const OTHERS = "Reference";

/** The groups of the menu, in their order: title -> Markdown files of the project. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  "Start here": ["quickstart", "system", "alternatives", "upgrading"].map(inDocs),
  Examples: ["", "browser-app/", "partner-backend/", "hardhat-project/", "cron/", "contract/"].map(
    (folder) => `examples/${folder}README.md`,
  ),
  "App developers": ["verifying", "watching", "safety-code", "threat-model", "explorer"].map(inDocs),
  "Partner engineers": ["http-api", "webhooks", "dashboard"].map(inDocs),
  Operators: ["publishing", "operations", "contract", "commands", "local-chain"].map(inDocs),
  Auditors: ["auditing", "audit-guide"].map(inDocs),
  [OTHERS]: ["errors", "formats"].map(inDocs),
  Packages: ["packages/keyroot/README.md", "packages/operator/README.md", "contracts/README.md"],
  Project: ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"],
};

/** The titles of the groups, in the order of the menu. */
export const GROUP_ORDER: readonly string[] = Object.keys(GROUPS);

/** Packages, by their folders, and the entries that the API reference describes. Their other entries may change in any release. */
export const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  "packages/keyroot": [
    ...[".", "./admin", "./bundle", "./errors", "./identity", "./partner", "./safety-code"],
    ...["./store/file", "./store/indexeddb", "./user"],
  ],
  "packages/operator": [".", "./hardhat"],
  contracts: ["."],
};

/**
 * The Markdown files of the site besides the README, with their groups. Every page of `docs` is among them.
 * @param root folder of the project
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
