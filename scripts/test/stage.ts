/** A stage: the tests that run in one process. */
export interface Stage {
  name: string;
  /** The files and folders with the tests, relative to the project's folder. */
  paths?: readonly string[];
  /** The files and folders in `paths` that belong to another stage. */
  except?: readonly string[];
  /** The files and folders in `paths` that only `npm run test:all` includes. */
  thorough?: readonly string[];
  /** An npm script that runs instead of tests. It counts as one test, which passes if the exit code is 0. */
  script?: string;
  /**
   * The smallest run that includes the stage: `npm run test:all` or `npm run test:all -- --everything`. Default: `npm
   * test`.
   */
  addedBy?: "all" | "everything";
  /** Hardhat's configuration file. Default: `hardhat.config.ts`. */
  config?: string;
}
