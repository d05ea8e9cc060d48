import { makeApp } from "./app.ts";
import { makeContext } from "./context.ts";
import { OPERATOR_API, PARTNER_API } from "../api/describeApi.ts";
import { openDatabases } from "../api/database/database.ts";
import { makeSigningKey, toSigningKeys } from "../tokens/signingKeys.ts";

const NO_LIMITS = { caller: 0, address: 0, refused: 0 };

/** Generates the OpenAPI documents that the service serves. @returns the documents by file name */
export async function generateOpenApi(): Promise<Record<string, unknown>> {
  // The OpenAPI documents do not depend on a database, so the service opens no connection to this URL.
  await using databases = await openDatabases({ url: "postgres://localhost/none" });
  const signingKeys = await toSigningKeys([await makeSigningKey()]);
  const naming = { issuer: "urn:keyroot", stage: "dev", holdPeriodMs: 0 };
  await using app = await makeApp(
    makeContext({ databases, signingKeys, ...naming, rateLimits: NO_LIMITS, adminToken: undefined }),
  );
  const documents: Record<string, unknown> = {};
  for (const { documentPath } of [PARTNER_API, OPERATOR_API])
    documents[documentPath.slice(1)] = (await app.inject(documentPath)).json();
  return documents;
}
