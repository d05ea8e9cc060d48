/**
 * Loaded before all tests of a stage. Hardhat ends the process at an error that no test waits for, so the stage would
 * lose its other tests and their output. With this module, such an error fails the running test, or, between tests, the
 * stage at its end.
 */
const late: string[] = [];
let running: Mocha.Test | undefined;

process.removeAllListeners("uncaughtException");
process.removeAllListeners("unhandledRejection");
process.on("unhandledRejection", (reason) => {
  throw reason;
});

before("errors outside tests are collected", () => {
  const [failRunningTest] = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", (error, origin) => {
    if (running !== undefined && running.state === undefined) {
      failRunningTest?.(error, origin);
      return;
    }
    const text = `after "${running?.fullTitle() ?? "no test"}": ${error instanceof Error ? error.stack : String(error)}`;
    process.stderr.write(`Error outside of tests, ${text}\n`);
    late.push(text);
  });
});

beforeEach(function () {
  running = this.currentTest;
});

after("no error was thrown outside of tests", () => {
  if (late.length > 0) throw new Error(`${late.length} errors were thrown outside of tests:\n${late.join("\n")}`);
});
