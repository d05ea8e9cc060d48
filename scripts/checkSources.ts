/**
 * Checks types and lints, as `tsc && eslint .` do, with one program: both need the types of all files.
 *
 *     node scripts/checkSources.ts
 */
import { ESLint } from "eslint";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const program = createProgram(join(ROOT, "tsconfig.json"));
const diagnostics = ts.getPreEmitDiagnostics(program);
process.stdout.write(
  ts.formatDiagnosticsWithColorAndContext(diagnostics, {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => ROOT,
    getNewLine: () => "\n",
  }),
);

const eslint = new ESLint({
  cwd: ROOT,
  // This setting makes a file that tsconfig.json does not include an error.
  overrideConfig: {
    files: ["**/*.{ts,tsx}"],
    languageOptions: { parserOptions: { projectService: false, programs: [program] } },
  },
});
const results = await eslint.lintFiles(".");
const formatter = await eslint.loadFormatter("stylish");
process.stdout.write(await formatter.format(results));
const isClean = results.every(({ errorCount, warningCount }) => errorCount + warningCount === 0);
process.exitCode = diagnostics.length === 0 && isClean ? 0 : 1;

function createProgram(configPath: string): ts.Program {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: failWith };
  const config = ts.getParsedCommandLineOfConfigFile(configPath, undefined, host);
  if (config === undefined) throw new Error(`${configPath} cannot be read.`);
  config.errors.forEach(failWith);
  return ts.createProgram({ rootNames: config.fileNames, options: config.options });
}

function failWith({ messageText }: ts.Diagnostic): never {
  throw new Error(ts.flattenDiagnosticMessageText(messageText, "\n"));
}
