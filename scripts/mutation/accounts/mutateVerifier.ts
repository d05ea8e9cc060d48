/**
 * Mutation testing of the verifier of accounts. Each mutant must fail a test vector, the reference model or a test of
 * accounts, or be listed in `scripts/mutation/accounts/equivalentMutants.json` with the reason why it changes nothing.
 *
 *     node scripts/mutation/accounts/mutateVerifier.ts             all modules
 *     node scripts/mutation/accounts/mutateVerifier.ts MODULE …    some of them, such as account/account.ts
 *
 * The exit code is 1 if a mutant survives that is not listed, or if a listed one does not survive.
 */
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { type ModuleMutant, mutantsOfModule } from "./mutantsOfModule.ts";

const LIBRARY = new URL("../../../packages/keyroot/src/", import.meta.url);
const EQUIVALENT = new URL("equivalentMutants.json", import.meta.url);
/** A module that decides about accounts. */
interface Module {
  /** Its functions that write texts or make errors, and have no mutants. */
  except: string[];
  /** The tests in `test/keyroot/account` that run for mutants which the vectors and the model do not find. */
  tests: string[];
}

const MODULES: Record<string, Module> = {
  "account/account.ts": { except: ["makeAccount", "copyKey", "invalidAccount"], tests: ["keyStatement"] },
  "account/accountFile.ts": { except: ["serializeAccountFile"], tests: ["keyStatement", "vectors"] },
  "account/keyStatement.ts": {
    except: ["keyStatementText", "makeKeyStatement", "checkKeySize", "invalidStatement"],
    tests: ["keyStatement"],
  },
  "account/objection.ts": { except: ["objectionText", "makeObjection"], tests: ["keyStatement"] },
  "account/recoveryKey.ts": { except: ["normalizeSignature"], tests: ["keyStatement"] },
  "verifier/accountSlot.ts": { except: ["accountFileBytes"], tests: ["bundles", "verify", "watch"] },
  "verifier/contactAccounts.ts": { except: ["olderThanVerified"], tests: ["lists"] },
};
/** Modules that each mutant loads again: the library, and what uses it. */
const RELOADED =
  /\/packages\/keyroot\/src\/|\/accountReader\.ts$|\/data\/vectors\.ts$|\/mutation\/accounts\/checks\.ts$/;

/** Maximum time of a run of tests in ms. A mutant can make them wait for ever. */
const TEST_LIMIT_MS = 180_000;
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const LOADER = new URL("loadMutant.ts", import.meta.url).href;

interface Listed {
  module: string;
  inFunction: string;
  from: string;
  to: string;
  reason: string;
}

let current: { id: number; url: string; source: string } = { id: 0, url: "", source: "" };
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    const [, id] = /\?mutant=(\d+)$/.exec(context.parentURL ?? "") ?? [];
    return id !== undefined && RELOADED.test(resolved.url)
      ? { ...resolved, url: `${resolved.url}?mutant=${id}` }
      : resolved;
  },
  load(url, context, next) {
    if (url !== `${current.url}?mutant=${current.id}`) return next(url, context);
    return { format: "module-typescript", source: current.source, shortCircuit: true };
  },
});

/** Returns the check that finds a mutant, or undefined. */
async function findFailure(module: string, source: string): Promise<string | undefined> {
  current = { id: current.id + 1, url: new URL(module, LIBRARY).href, source };
  const url = new URL(`checks.ts?mutant=${current.id}`, import.meta.url).href;
  const { findFailure: run } = (await import(url)) as typeof import("./checks.ts");
  try {
    return await run();
  } catch (error) {
    return `error: ${(error as Error).message}`;
  }
}

/** Runs the tests of accounts with a mutant. @returns whether they all pass */
function passesTests(module: string, tests: readonly string[], source: string): boolean {
  const env = {
    ...process.env,
    MUTANT: JSON.stringify({ url: new URL(module, LIBRARY).href, source }),
    NODE_OPTIONS: `--import=${LOADER}`,
  };
  const hardhat = ["node_modules/hardhat/dist/src/cli.js", "test", "mocha", "--no-compile", "--bail"];
  const files = tests.map((name) => `test/keyroot/account/${name}.test.ts`);
  return spawnSync(process.execPath, [...hardhat, ...files], { cwd: ROOT, env, timeout: TEST_LIMIT_MS }).status === 0;
}

const listed = JSON.parse(await readFile(EQUIVALENT, "utf8")) as Listed[];
let [mutants, killed] = [0, 0];
const chosen = process.argv.slice(2);
for (const [module, { except, tests }] of Object.entries(MODULES)) {
  if (chosen.length > 0 && !chosen.includes(module)) continue;
  const source = await readFile(new URL(module, LIBRARY), "utf8");
  const failure = await findFailure(module, source);
  if (failure !== undefined) throw new Error(`The unchanged module ${module} fails: ${failure}`);
  if (!passesTests(module, tests, source)) throw new Error(`The tests fail with the unchanged module ${module}.`);
  const survivors: ModuleMutant[] = [];
  const isSame = (one: Listed) => (other: ModuleMutant) =>
    one.inFunction === other.inFunction && one.from === other.from && one.to === other.to;
  const here = listed.filter((one) => one.module === module);
  for (const mutant of mutantsOfModule(source, except)) {
    mutants++;
    if ((await findFailure(module, mutant.source)) !== undefined || !passesTests(module, tests, mutant.source)) {
      killed++;
      continue;
    }
    survivors.push(mutant);
    if (!here.some((one) => isSame(one)(mutant))) fail(`survived: ${JSON.stringify(nameOf(module, mutant))}`);
  }
  for (const one of here)
    if (!survivors.some(isSame(one))) fail(`listed, but does not survive: ${JSON.stringify(one)}`);
  process.stdout.write(`${module}: ${mutants} mutants so far, ${killed} found\n`);
}
process.stdout.write(`${JSON.stringify({ mutants, killed, equivalent: listed.length })}\n`);

function fail(finding: string): void {
  process.stdout.write(`${finding}\n`);
  process.exitCode = 1;
}

function nameOf(module: string, { inFunction, from, to }: ModuleMutant): Omit<Listed, "reason"> {
  return { module, inFunction, from, to };
}
