// Writes docs/openapi.json and docs/openapi-operator.json, the documents that every service serves. With --check, they
// are only compared.
import { generateOpenApi } from "@keyroot/service";
import { writeOrCheck } from "./writeOrCheck.ts";

for (const [name, document] of Object.entries(await generateOpenApi()))
  await writeOrCheck(`docs/${name}`, `${JSON.stringify(document, null, 2)}\n`);
