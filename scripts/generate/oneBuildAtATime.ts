import { MultiProcessMutex } from "@nomicfoundation/hardhat-utils/synchronization";
import type { HardhatPlugin } from "hardhat/types/plugins";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

/** Far longer than a build takes. */
const LIMIT_MS = 1_800_000;

/**
 * Makes builds of the contracts in several processes wait for each other. Hardhat writes its cache to a single
 * temporary file, which two processes would otherwise both move.
 */
export const oneBuildAtATime: HardhatPlugin = {
  id: "keyroot:one-build-at-a-time",
  hookHandlers: {
    solidity: () =>
      Promise.resolve({
        default: () =>
          Promise.resolve({
            build: async (context, paths, options, next) => {
              const { cache } = context.config.paths;
              mkdirSync(cache, { recursive: true });
              const mutex = new MultiProcessMutex(join(cache, "build.lock"), LIMIT_MS);
              return mutex.use(() => next(context, paths, options));
            },
          }),
      }),
  },
};
