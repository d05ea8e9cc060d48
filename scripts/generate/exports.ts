import { join } from "node:path";
import ts from "typescript";
import { apiEntries } from "../docs/pages.ts";
import { ROOT } from "../test/root.ts";

interface ModuleExports {
  /** The name of the module in imports, such as "keyroot/bundle". */
  module: string;
  exports: { name: string; symbol: ts.Symbol }[];
}

interface PublicExports {
  program: ts.Program;
  checker: ts.TypeChecker;
  modules: ModuleExports[];
}

let read: PublicExports | undefined;

/**
 * Returns the exports of all public modules, with types. The first call takes seconds, because it reads the modules.
 */
export function readExports(): PublicExports {
  return (read ??= readOnce());
}

function readOnce(): PublicExports {
  const entries = [...apiEntries(ROOT)];
  const { options } = readTsconfig();
  const program = ts.createProgram({ rootNames: entries.map(([path]) => join(ROOT, path)), options });
  const checker = program.getTypeChecker();
  const modules = entries.map(([path, module]) => {
    const source = program.getSourceFile(join(ROOT, path));
    const entry = source && checker.getSymbolAtLocation(source);
    if (entry === undefined) throw new Error(`${module} exports nothing.`);
    const exports = checker.getExportsOfModule(entry).map((exported) => ({
      name: exported.name,
      symbol: exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported,
    }));
    return { module, exports };
  });
  return { program, checker, modules };
}

/** Reads the project's tsconfig.json. Returns the options and the included files. */
export function readTsconfig(): ts.ParsedCommandLine {
  const { config } = ts.readConfigFile(join(ROOT, "tsconfig.json"), (path) => ts.sys.readFile(path)) as {
    config: unknown;
  };
  return ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
}

/** Returns the first sentence of a symbol's doc comment. */
export function meaningOf(symbol: ts.Symbol, checker: ts.TypeChecker): string {
  return firstSentence(ts.displayPartsToString(symbol.getDocumentationComment(checker)));
}

function firstSentence(text: string): string {
  const [paragraph = ""] = text.trim().split(/\n\s*\n/);
  const line = paragraph.replace(/\s+/g, " ");
  return /^.*?[.:](?= [A-Z`]|$)/.exec(line)?.[0] ?? line;
}
