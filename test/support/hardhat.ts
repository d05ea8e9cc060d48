/**
 * `npx hardhat`, faster: Node strips the types itself, as it does for the program, so Hardhat does not start `tsx`. That takes
 * half of the processor time of its start.
 */
const { main } = (await import(
  import.meta.resolve("hardhat/package.json").replace(/package\.json$/, "dist/src/internal/cli/main.js")
)) as {
  main: (words: string[]) => Promise<void>;
};

await main(process.argv.slice(2));
