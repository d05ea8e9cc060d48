import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";

let lastBuild: Promise<unknown> = Promise.resolve();

/** Compiles what changed. One build at a time: two at once take Hardhat's cache file away from each other. */
export function buildContracts(hre: HardhatRuntimeEnvironment): Promise<void> {
  const build = lastBuild.then(() => buildQuietly(hre));
  lastBuild = build.catch(() => undefined);
  return build;
}

/** Even Hardhat's quiet build logs an empty line: it goes to stderr, since stdout is where commands print JSON. */
async function buildQuietly(hre: HardhatRuntimeEnvironment): Promise<void> {
  const { log, error } = console;
  Object.assign(console, { log: error });
  try {
    await hre.tasks.getTask("build").run({ quiet: true });
  } finally {
    Object.assign(console, { log });
  }
}
