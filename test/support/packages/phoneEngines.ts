import { build } from "esbuild";
import { access, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { installLocked } from "./installLocked.ts";
import { ROOT } from "./installPackages.ts";

type Transform = (code: string, options: object) => Promise<{ code: string }>;

/** The engines of React Native, as programs for the command line. */
export const ENGINES = ["Hermes", "JavaScriptCore"] as const;
export type Engine = (typeof ENGINES)[number];

const JSC = "/usr/bin/jsc";
/**
 * The console and the timers, which React Native adds to each engine but which these shells do not have. The shells run
 * timers immediately, whereas these run in the order of their delays, without waiting.
 */
const HOST = `var self = globalThis;
if (!self.console) self.console = { assert() {}, warn() {} };
(function (soon) {
  var timers = [], clock = 0;
  self.setTimeout = function (work, ms) {
    var timer = { work: work, at: clock + (ms || 0) };
    timers.push(timer);
    soon(runNext, 0);
    return timer;
  };
  self.clearTimeout = function (timer) {
    timers = timers.filter(function (other) { return other !== timer; });
  };
  function runNext() {
    if (timers.length === 0) return;
    var next = timers.reduce(function (a, b) { return b.at < a.at ? b : a; });
    self.clearTimeout(next);
    clock = next.at;
    next.work();
  }
})(self.setTimeout);`;
/** The Babel transforms that are left out, because the engine supports this syntax itself. */
const KEPT = [
  ...["transform-exponentiation-operator", "transform-typeof-symbol", "transform-regenerator"],
  ...["transform-unicode-regex", "transform-unicode-property-regex", "transform-named-capturing-groups-regex"],
  ...["transform-dotall-regex", "transform-sticky-regex"],
];

/** Installs the engines and their tools. @returns the folder of the installed packages */
export function installEngines(): Promise<string> {
  return installLocked(join(ROOT, "test/keyroot/phoneEngines"), "engines");
}

/**
 * Bundles a program in one file of ES2020.
 * @param resolveDir the folder from which the program's imports are resolved
 */
export async function bundleProgram(contents: string, resolveDir: string, tools: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir },
    ...{ bundle: true, write: false, format: "iife", target: "es2020", nodePaths: [join(tools, "node_modules")] },
  });
  return outputFiles[0]?.text ?? "";
}

/**
 * Writes a program to a file, and returns the command that runs it in an engine.
 * @param data code that runs first
 */
export async function commandOf(
  engine: Engine,
  data: string,
  program: string,
  file: string,
  tools: string,
): Promise<[string, ...string[]]> {
  const isHermes = engine === "Hermes";
  await writeFile(file, `${HOST}\n${data}\n${isHermes ? await compile(program, tools) : program}`);
  if (isHermes) {
    const platform = { linux: "linux64", darwin: "osx", win32: "win64" }[process.platform as "linux"];
    const hermes = join(tools, `node_modules/hermes-engine-cli/${platform}-bin/hermes`);
    return [hermes, "-w", "-Xmicrotask-queue", file];
  }
  await access(JSC).catch((cause: unknown) => {
    throw new Error(`${JSC} is missing. Debian: apt-get install libjavascriptcoregtk-4.0-bin`, { cause });
  });
  return [JSC, file];
}

const compiled = new Map<string, Promise<string>>();

/** Compiles classes and async functions to older syntax, as React Native's preset does for this version of Hermes. */
function compile(program: string, tools: string): Promise<string> {
  const code = compiled.get(program) ?? compileNew(program, tools);
  compiled.set(program, code);
  return code;
}

async function compileNew(program: string, tools: string): Promise<string> {
  const require = createRequire(join(tools, "package.json"));
  const { transformAsync } = require("@babel/core") as { transformAsync: Transform };
  const preset = [require.resolve("@babel/preset-env"), { targets: { ie: "11" }, modules: false, exclude: KEPT }];
  const options = { configFile: false, babelrc: false, compact: true, presets: [preset] };
  return (await transformAsync(program, options)).code;
}
