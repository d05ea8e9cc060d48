import type { HardhatPlugin } from "hardhat/types/plugins";

/**
 * Keeps the committed `typechain-types` stable:
 *
 * - TypeChain receives the artifacts in alphabetical order. By default, it receives them in the order of the file
 *   system, so the generated files would differ between builds.
 * - With `--coverage`, TypeChain does not run, because it would write the bytecode of the instrumented contracts.
 */
export const stableTypechain: HardhatPlugin = {
  id: "keyroot:stable-typechain",
  hookHandlers: {
    hre: () =>
      Promise.resolve({
        default: () =>
          Promise.resolve({
            created: ({ globalOptions }, { config }) => {
              if (globalOptions.coverage) Object.assign(config.typechain, { dontOverrideCompile: true });
              return Promise.resolve();
            },
          }),
      }),
    solidity: () =>
      Promise.resolve({
        default: () =>
          Promise.resolve({
            processArtifactsAfterSuccessfulBuild: (_context, artifactPaths) => {
              (artifactPaths as string[]).sort();
              return Promise.resolve();
            },
          }),
      }),
  },
};
