import type { HardhatPlugin } from "hardhat/types/plugins";

/**
 * Hands the build's artifacts to TypeChain in alphabetical order. They come in whatever order the disk lists them, and
 * the committed `typechain-types` would change with every build.
 */
export const typechainOrder: HardhatPlugin = {
  id: "keyroot:typechain-order",
  hookHandlers: {
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
