/**
 * Runs Hardhat like `npx hardhat`, but faster. Node strips the types itself, so Hardhat does not start `tsx`, which
 * takes half of the processor time of its start.
 */
const internal = import.meta.resolve("hardhat/package.json").replace(/package\.json$/, "dist/src/internal/");
const { main } = (await import(`${internal}cli/main.js`)) as { main: (words: string[]) => Promise<void> };
const { resetGlobalHardhatRuntimeEnvironment } = (await import(`${internal}global-hre-instance.js`)) as {
  resetGlobalHardhatRuntimeEnvironment: () => void;
};

// This process may have run Hardhat before.
resetGlobalHardhatRuntimeEnvironment();
await main(process.argv.slice(2));
