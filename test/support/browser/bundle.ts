import { build, type BuildOptions } from "esbuild";
import { basename } from "node:path";

/** The output of an app's bundler: chunks, by their names. */
export interface Bundle {
  chunks: ReadonlyMap<string, Uint8Array>;
  /** The chunk that a page loads. */
  entry: string;
  /** `entry` and all chunks that it imports statically. The others are loaded on demand. */
  initial: readonly string[];
  /** Returns the chunks with code of a module that has these words in its path. */
  chunksWith: (words: string) => string[];
}

/**
 * Bundles and minifies a module for browsers. Each dynamic import becomes a chunk of its own.
 * @param folder where imports are resolved from: this one (the sources), or an app's
 */
export async function bundle(
  contents: string,
  options: Pick<BuildOptions, "logLevel" | "splitting"> = {},
  folder = import.meta.dirname,
): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: folder },
    ...{ bundle: true, splitting: true, minify: true, format: "esm", platform: "browser" },
    ...{ outdir: "chunks", write: false, metafile: true, ...options },
  });
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
  const entry = "stdin.js";
  const initial = new Set([entry]);
  // The loop also visits chunks that it adds to the set.
  for (const chunk of initial) {
    for (const { kind, path } of outputs.get(chunk)?.imports ?? []) {
      if (kind === "import-statement") initial.add(basename(path));
    }
  }
  return {
    chunks: new Map(outputFiles.map(({ path, contents }) => [basename(path), contents])),
    entry,
    initial: [...initial],
    chunksWith: (words) =>
      [...outputs].flatMap(([chunk, { inputs }]) =>
        Object.entries(inputs).some(([path, { bytesInOutput }]) => bytesInOutput > 0 && path.includes(words))
          ? [chunk]
          : [],
      ),
  };
}
