import { createHash } from "node:crypto";
import { join } from "node:path";
import { build, type InlineConfig, type Rolldown } from "vite";
import { readErrorTable } from "./errorTable.ts";
import { PROJECT } from "./sources.ts";

const ROOT = join(PROJECT, "packages/web/src/explorer");

/** A script that the page fetches and pins by its hash. */
interface PinnedScript {
  /** Relative to the page. */
  url: string;
  /** As in the attribute `integrity`: sha384-<base64>. */
  integrity: string;
}

const LICENSES = "licenses.md";

const COMMON: InlineConfig = {
  configFile: false,
  root: ROOT,
  base: "./",
  publicDir: false,
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
};

/**
 * Builds the explorer's page: files by their paths relative to it. The page loads one script, one stylesheet and two
 * workers, each pinned by its hash. So all code is fixed by the page itself, and its policy allows no other.
 */
export async function buildExplorer(): Promise<Map<string, string | Uint8Array>> {
  const workers: Record<string, PinnedScript> = {};
  const licenses = new Set<string>();
  const files = new Map<string, string | Uint8Array>();
  for (const [name, external] of Object.entries(WORKERS)) {
    const code = await buildWorker(name, external, licenses);
    const url = `assets/${name}-${createHash("sha256").update(code).digest("hex").slice(0, 8)}.js`;
    files.set(url, code);
    workers[name] = { url, integrity: integrityOf(code) };
  }

  const output = await bundle(licenses, {
    ...COMMON,
    define: { WORKERS: JSON.stringify(workers), ERROR_TABLE: JSON.stringify(readErrorTable()) },
    build: {
      ...{ write: false, target: "es2022", assetsInlineLimit: 0, modulePreload: false },
      rolldownOptions: { output: { codeSplitting: false } },
    },
  });
  let page = "";
  for (const file of output) {
    const content = file.type === "chunk" ? file.code : file.source;
    if (file.fileName === "index.html") page = String(content);
    else files.set(file.fileName, content);
  }
  const notices = ["The scripts contain code of these packages.", ...[...licenses].sort()];
  files.set("licenses.txt", `${notices.join("\n\n")}\n`);
  // The page comes last, when everything that it loads is there.
  files.set("index.html", pin(page, files));
  return files;
}

/**
 * The workers, and the modules that each leaves out. Most visitors need only one endpoint's word. Stronger evidence brings
 * Ethereum's proofs, in a worker that replaces the first one.
 */
const WORKERS: Readonly<Record<string, RegExp | undefined>> = {
  basic: /\/(?:readRootAtBlock|keccak)\.ts$/,
  evidence: undefined,
};

async function buildWorker(name: string, external: RegExp | undefined, licenses: Set<string>): Promise<string> {
  const output = await bundle(licenses, {
    ...COMMON,
    build: {
      ...{ write: false, target: "es2022", modulePreload: false },
      rolldownOptions: {
        input: join(ROOT, "worker", `${name}.ts`),
        output: { codeSplitting: false },
        ...(external && { external }),
      },
    },
  });
  const [chunk, ...others] = output;
  if (chunk?.type !== "chunk" || others.length > 0) throw new Error(`The worker ${name} is not one file.`);
  return chunk.code;
}

type OutputFile = Rolldown.OutputChunk | Rolldown.OutputAsset;

/** Bundles, and collects the licences of the packages whose code is in the bundle. */
async function bundle(licenses: Set<string>, config: InlineConfig): Promise<OutputFile[]> {
  const result = await build({ ...config, build: { ...config.build, license: { fileName: LICENSES } } });
  if (!("output" in result)) throw new Error("The bundler made no output.");
  const [, ...sections] = result.output.flatMap((file) =>
    file.fileName === LICENSES && file.type === "asset" ? String(file.source).split(/^(?=## )/m) : [],
  );
  for (const section of sections) licenses.add(section.trim());
  return result.output.filter(({ fileName }) => fileName !== LICENSES);
}

/** Adds the hash of each script and stylesheet to its element. */
function pin(page: string, files: ReadonlyMap<string, string | Uint8Array>): string {
  return page.replace(
    /<(script|link)([^>]*?) (src|href)="\.\/(assets\/[^"]+\.(?:js|css))"/g,
    (all, tag, rest, name, path) => {
      const content = files.get(String(path));
      if (content === undefined) throw new Error(`The page names ${path}, which was not built.`);
      return `<${tag}${rest} ${name}="./${path}" integrity="${integrityOf(content)}"`;
    },
  );
}

function integrityOf(content: string | Uint8Array): string {
  return `sha384-${createHash("sha384").update(content).digest("base64")}`;
}
