import { readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { CONTRACT_PROOF } from "./contractProof.ts";
import { ROOT } from "./root.ts";
import type { Stage } from "./stage.ts";

/** The part of the library's tests that runs beside the rest. */
const IDENTITIES = ["test/keyroot/account", "test/keyroot/identity"];

/** The stages of the tests. Every test file belongs to exactly one stage. */
export const STAGES: readonly Stage[] = [
  CONTRACT_PROOF,
  {
    name: "contracts",
    paths: ["test/contracts", "test/scripts/contract", "test/docs/auditGuide.test.ts"],
    except: CONTRACT_PROOF.paths,
  },
  {
    name: "commands",
    paths: ["test/operator/commands"],
    thorough: ["test/operator/commands/hardhatProject.test.ts"],
  },
  { name: "browser", paths: ["test/client/browser", "test/keyroot/browser", "test/web"], addedBy: "all" },
  {
    name: "service",
    paths: ["test/service"],
    except: ["test/service/api", "test/service/faults", "test/service/stack"],
  },
  { name: "service API", paths: ["test/service/api"], thorough: ["test/service/api/prometheus.test.ts"] },
  { name: "checks", script: "check:sources", addedBy: "all" },
  {
    name: "service with faults",
    paths: ["test/service/faults"],
    except: ["test/service/faults/rollingUpgrade.test.ts"],
    addedBy: "all",
  },
  { name: "rolling upgrade", paths: ["test/service/faults/rollingUpgrade.test.ts"], addedBy: "everything" },
  { name: "consumers", paths: ["test/consumers", "test/keyroot/phoneEngines"], addedBy: "all" },
  {
    name: "library",
    paths: ["test/keyroot"],
    except: ["test/keyroot/browser", "test/keyroot/phoneEngines", ...IDENTITIES],
    thorough: ["test/keyroot/docs.test.ts", "test/keyroot/engine/language.test.ts", "test/keyroot/package.test.ts"],
  },
  { name: "accounts and client", paths: ["test/client", ...IDENTITIES], except: ["test/client/browser"] },
  {
    name: "demo and docs",
    paths: ["test/demo", "test/docs", "test/scripts"],
    except: ["test/docs/auditGuide.test.ts", "test/scripts/contract", "test/scripts/freshClone.test.ts"],
    thorough: ["test/docs/blocks.test.ts", "test/docs/readme.test.ts", "test/scripts"],
  },
  { name: "fresh clone", paths: ["test/scripts/freshClone.test.ts"], addedBy: "all" },
  { name: "publisher", paths: ["test/operator/publisher"] },
  { name: "benchmarks", paths: ["test/bench"], addedBy: "everything" },
  {
    name: "operator and stack",
    paths: ["test/endToEnd.test.ts", "test/operator", "test/layers.test.ts", "test/service/stack"],
    except: ["test/operator/commands", "test/operator/publisher"],
    thorough: ["test/service/stack/python.test.ts", "test/service/stack/stackCommand.test.ts"],
  },
];

const isTest = (path: string) => /\.(?:test\.ts|t\.sol)$/.test(path);

/**
 * Returns the test files that each stage runs.
 * @param all true to include the files that only `npm run test:all` runs
 * @throws Error for a file that is in no stage or in two
 */
export function assignFiles(all: boolean): Map<Stage, string[]> {
  const every = STAGES.flatMap((stage) => filesOf(stage, stage.except ?? []));
  const forgotten = testFilesIn("test").filter((file) => !every.includes(file));
  const twice = every.filter((file, i) => every.indexOf(file) !== i);
  if (forgotten.length + twice.length > 0) {
    const files = [...forgotten, ...twice].join(", ");
    throw new Error(
      `These test files are in no stage or in two: ${files}. Assign each to one in scripts/test/stages.ts.`,
    );
  }
  const leftOut = ({ except = [], thorough = [] }: Stage) => (all ? except : [...except, ...thorough]);
  return new Map(STAGES.map((stage) => [stage, filesOf(stage, leftOut(stage))]));
}

/** Returns the test files in a folder, or the file itself. @param path relative to the repository */
export function testFilesIn(path: string): string[] {
  const absolute = join(ROOT, path);
  if (!statSync(absolute, { throwIfNoEntry: false })?.isDirectory()) return isTest(path) ? [path] : [];
  const found = readdirSync(absolute, { recursive: true, encoding: "utf8" });
  return found.filter(isTest).map((name) => relative(ROOT, join(absolute, name)));
}

/** Returns the test files in these paths. @param without the files and folders to omit */
function filesOf({ paths = [] }: Stage, without: readonly string[]): string[] {
  const files = paths.flatMap(testFilesIn);
  return files.filter((file) => !without.some((path) => file === path || file.startsWith(`${path}/`)));
}
