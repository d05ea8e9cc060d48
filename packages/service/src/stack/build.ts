import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";

let lastBuild: Promise<unknown> = Promise.resolve();

/** Compiles changed contracts, one build at a time. Concurrent builds would overwrite the same cache file. */
export function buildContracts(hre: HardhatRuntimeEnvironment): Promise<void> {
  const build = lastBuild.then(() => buildQuietly(hre));
  lastBuild = build.catch(() => undefined);
  return build;
}

/** Sends an empty line from Hardhat's quiet build to standard error. Standard output is for the command's JSON. */
async function buildQuietly(hre: HardhatRuntimeEnvironment): Promise<void> {
  const { log, error } = console;
  Object.assign(console, { log: error });
  try {
    await hre.tasks.getTask("build").run({ quiet: true });
  } finally {
    Object.assign(console, { log });
  }
}
