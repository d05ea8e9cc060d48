// Writes docs/openapi.json and docs/openapi-operator.json, the documents that every service serves. With --check, it only
// compares them.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { generateOpenApi } from "@keyroot/service";

for (const [name, document] of Object.entries(await generateOpenApi())) {
  const path = fileURLToPath(new URL(`../../docs/${name}`, import.meta.url));
  const fresh = `${JSON.stringify(document, null, 2)}\n`;
  if (!process.argv.includes("--check")) {
    await writeFile(path, fresh);
  } else if ((await readFile(path, "utf8").catch(() => "")) !== fresh) {
    process.stderr.write(`docs/${name} is outdated: run 'npm run generate', and commit the result.\n`);
    process.exitCode = 1;
  }
}
