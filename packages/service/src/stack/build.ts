import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";

let lastBuild: Promise<unknown> = Promise.resolve();

/** Compiles changed contracts, in one build at a time: concurrent builds would replace each other's cache file. */
export function buildContracts(hre: HardhatRuntimeEnvironment): Promise<void> {
  const build = lastBuild.then(() => buildQuietly(hre));
  lastBuild = build.catch(() => undefined);
  return build;
}

/** Hardhat's quiet build also logs an empty line. It goes to standard error, because commands print JSON to standard output. */
async function buildQuietly(hre: HardhatRuntimeEnvironment): Promise<void> {
  const { log, error } = console;
  Object.assign(console, { log: error });
  try {
    await hre.tasks.getTask("build").run({ quiet: true });
  } finally {
    Object.assign(console, { log });
  }
}
