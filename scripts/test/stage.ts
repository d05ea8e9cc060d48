/** The tests of one process. */
export interface Stage {
  name: string;
  /** Files and folders below the project's folder. */
  paths?: readonly string[];
  /** Files and folders in `paths` that belong to another stage. */
  except?: readonly string[];
  /** Files and folders in `paths` that only `npm run test:all` runs. */
  thorough?: readonly string[];
  /** An npm script that runs instead of tests. It counts as one test, and passes with exit code 0. */
  script?: string;
  /** true: only `npm run test:all` runs the stage. */
  allOnly?: boolean;
  /** Hardhat's configuration file. Default: `hardhat.config.ts`. */
  config?: string;
}
