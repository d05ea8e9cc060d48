/** The environment without Hardhat's variables, which pass this run's options and config file to child processes. */
export function withoutHardhatOptions(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("HARDHAT_")));
}
