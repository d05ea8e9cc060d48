import { overrideTask } from "hardhat/config";
import { HardhatPluginError } from "hardhat/plugins";

/**
 * `npx hardhat test`. If a package is missing, the error contains the remedy. This happens after `npm start`, which
 * installs the packages for the contract's tests, but not the packages for all other tests.
 */
export const mochaTask = overrideTask(["test", "mocha"])
  .setInlineAction(async (args, _hre, runSuper) => {
    try {
      return (await runSuper(args)) as unknown;
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith("Cannot find package "))) throw error;
      const message = `${error.message}. To install the packages for all tests, run: npm run bootstrap`;
      throw new HardhatPluginError("keyroot", message, error);
    }
  })
  .build();
