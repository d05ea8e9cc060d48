import { createHash } from "node:crypto";
import { join } from "node:path";
import { build, type InlineConfig, type Rolldown } from "vite";
import { PROJECT } from "./sources.ts";

/** The part of the web pages to build: the name of its folder in `src`. */
export type Part = "explorer" | "dashboard";

const LICENSES = "licenses.md";

/** The build settings that all parts share. */
export function commonConfig(part: Part): InlineConfig {
  return {
    configFile: false,
    root: join(PROJECT, "packages/web/src", part),
    base: "./",
    publicDir: false,
    logLevel: "warn",
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  };
}

/**
 * Builds the page of a part. It loads one script and one stylesheet, and contains the hash of each. Returns the files
 * by their paths relative to the page, with the page last.
 * @param define the values of constants, as code
 * @param licenses the licenses of packages in other scripts of the part
 */
export async function buildPage(
  part: Part,
  define: Record<string, string> = {},
  licenses = new Set<string>(),
): Promise<Map<string, string | Uint8Array>> {
  const output = await bundle(licenses, {
    ...commonConfig(part),
    define,
    build: {
      ...{ write: false, target: "es2022", assetsInlineLimit: 0, modulePreload: false },
      rolldownOptions: { output: { codeSplitting: false } },
    },
  });
  const files = new Map<string, string | Uint8Array>();
  let page = "";
  for (const file of output) {
    const content = file.type === "chunk" ? file.code : file.source;
    if (file.fileName === "index.html") page = String(content);
    else files.set(file.fileName, content);
  }
  const notices = ["The scripts contain code of these packages.", ...[...licenses].sort()];
  files.set("licenses.txt", `${notices.join("\n\n")}\n`);
  files.set("index.html", pin(page, files));
  return files;
}

type OutputFile = Rolldown.OutputChunk | Rolldown.OutputAsset;

/** Bundles the code, and collects the licenses of all packages in the bundle. */
export async function bundle(licenses: Set<string>, config: InlineConfig): Promise<OutputFile[]> {
  const result = await build({ ...config, build: { ...config.build, license: { fileName: LICENSES } } });
  if (!("output" in result)) throw new Error("The bundler made no output.");
  const [, ...sections] = result.output.flatMap((file) =>
    file.fileName === LICENSES && file.type === "asset" ? String(file.source).split(/^(?=## )/m) : [],
  );
  for (const section of sections) licenses.add(section.trim());
  return result.output.filter(({ fileName }) => fileName !== LICENSES);
}

/** Adds the hash of each script and stylesheet to the element that loads it. */
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

/** The hash of a file, in the form of the attribute `integrity`. */
export function integrityOf(content: string | Uint8Array): string {
  return `sha384-${createHash("sha384").update(content).digest("base64")}`;
}
