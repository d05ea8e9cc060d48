import { resolve } from "node:path";

/**
 * Returns `describe` if the command line names the test file. In other runs, the file's tests are omitted. This is
 * necessary because Hardhat loads every file under test/, and these tests need programs that `npm test` does not
 * install.
 * @param file `import.meta.filename` of the test file
 */
export const describeIfNamed = (file: string): typeof describe | (() => void) =>
  process.argv.some((path) => resolve(path) === file) ? describe : () => undefined;
