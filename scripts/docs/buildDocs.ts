/**
 * Builds the documentation site. It contains every page of `docs`, and an API reference from the doc comments of the
 * packages' public entries. The site needs no server and no network: open `build/docs/index.html`, or copy the folder
 * to any web host.
 *
 *     node scripts/docs/buildDocs.ts              into build/docs
 *     node scripts/docs/buildDocs.ts --out DIR
 *
 * The path of the first page is printed.
 */
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { makeSite } from "./makeSite.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const { values } = parseArgs({ options: { out: { type: "string", default: join(ROOT, "build", "docs") } } });
const out = resolve(values.out);
await makeSite(ROOT, out);
process.stdout.write(`${join(out, "index.html")}\n`);
