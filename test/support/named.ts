import { resolve } from "node:path";

/**
 * Returns `describe` in a test file that the command line names. In other runs, the file's tests are omitted. Hardhat loads every
 * file under test/, and these tests need programs that `npm test` does not install.
 * @param file `import.meta.filename` of the test file
 */
export const describeIfNamed = (file: string): typeof describe | (() => void) =>
  process.argv.some((path) => resolve(path) === file) ? describe : () => undefined;
