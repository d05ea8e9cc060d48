import { makeApp } from "./app.ts";
import { makeService } from "./service.ts";
import { openDatabases } from "./store/database.ts";
import { makeSigningKey, toSigningKeys } from "./tokens/signingKeys.ts";

/** The OpenAPI description as a service gives it, from one that nobody asks: docs/openapi.json is its copy. */
export async function openApiDescription(): Promise<object> {
  // Never connected to: the description does not depend on what a database holds.
  await using databases = await openDatabases({ url: "postgres://localhost/none" });
  const signingKeys = await toSigningKeys([await makeSigningKey()]);
  const naming = { issuer: "urn:keyroot", stage: "dev", bucketPrefix: "keyroot" };
  const app = await makeApp(makeService({ databases, signingKeys, ...naming, rateLimit: 0, adminToken: undefined }));
  await app.ready();
  const description = app.swagger();
  await app.close();
  return description;
}
