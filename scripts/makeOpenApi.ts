// Writes docs/openapi.json: what a running service answers at /openapi.json. With --check it only compares.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { openApiDescription } from "@keyroot/operator/service";

const path = fileURLToPath(new URL("../docs/openapi.json", import.meta.url));
const fresh = `${JSON.stringify(await openApiDescription(), null, 2)}\n`;
if (!process.argv.includes("--check")) {
  await writeFile(path, fresh);
} else if ((await readFile(path, "utf8")) !== fresh) {
  process.stderr.write("docs/openapi.json is not what the service answers: run 'npm run openapi', and commit it.\n");
  process.exitCode = 1;
}
