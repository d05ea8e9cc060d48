import { resolve } from "node:path";

/**
 * `describe` in a test file that is named on the command line. Otherwise its tests are left out: Hardhat loads every file
 * under test/, and these need programs that `npm test` does not install.
 * @param file `import.meta.filename` of the test file
 */
export const describeIfNamed = (file: string): typeof describe | (() => void) =>
  process.argv.some((path) => resolve(path) === file) ? describe : () => undefined;
