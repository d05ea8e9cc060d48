import swagger from "@fastify/swagger";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import type { App } from "./defineOperation.ts";

interface ApiDescription {
  title: string;
  description: string;
  tags: { name: string; description: string }[];
  securitySchemes: Record<string, { type: "http"; scheme: "bearer"; bearerFormat?: "JWT"; description: string }>;
  documentPath: string;
  pagePath: string;
}

/** The API for partners' servers and users' apps. */
export const PARTNER_API: ApiDescription = {
  title: "Keyroot partner API",
  description:
    "A partner's server creates shadow users, and the users' apps register public keys. Keyroot's specification defines the operations, except those that are marked with x-keyroot-extension.",
  tags: [
    { name: "public", description: "These operations need no access token." },
    { name: "partner", description: "These operations need the access token of a partner's server." },
    { name: "user", description: "These operations need a user's access token." },
  ],
  securitySchemes: {
    partnerToken: bearer("A partner's access token.", "JWT"),
    userToken: bearer("A user's access token.", "JWT"),
  },
  documentPath: "/openapi.json",
  pagePath: "/docs",
};

/** The API for the operator of the service. */
export const OPERATOR_API: ApiDescription = {
  title: "Keyroot operator API",
  description:
    "The service's operator creates partners and their server tokens, and publishes registered keys. All operations are extensions of Keyroot's specification.",
  tags: [{ name: "operator", description: "These operations need the admin token from the service's configuration." }],
  securitySchemes: { operatorToken: bearer("The service's admin token.") },
  documentPath: "/openapi-operator.json",
  pagePath: "/docs/operator",
};

/**
 * Serves the OpenAPI 3.1 description of all operations that are added to `scope` after this call, as JSON. It is
 * generated from the schemas that validate requests.
 * @param webhooks the requests that the service sends, by name
 */
export async function describeApi(
  scope: App,
  description: ApiDescription,
  webhooks?: Record<string, object>,
): Promise<void> {
  const { title, tags, securitySchemes, documentPath } = description;
  await scope.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title,
        version: "1.0.0",
        description: description.description,
        license: { name: "MIT", identifier: "MIT" },
      },
      servers: [{ url: "/" }],
      tags,
      components: { securitySchemes },
      ...(webhooks !== undefined && { webhooks }),
    },
    transformObject: (document) => {
      // The transformation adds the schemas of all APIs, each as input and as output.
      const transformed = jsonSchemaTransformObject(document);
      const schemas = "components" in transformed ? transformed.components.schemas : undefined;
      if (schemas !== undefined && "paths" in transformed)
        removeUnusedSchemas({ paths: transformed.paths, webhooks, schemas });
      return transformed;
    },
    transform: (route) => {
      const { schema, url } = jsonSchemaTransform(route);
      const { specified } = route.route.config ?? {};
      return { schema: specified === false ? { ...schema, "x-keyroot-extension": true } : schema, url };
    },
  });
  scope.get(documentPath, { schema: { hide: true } }, () => scope.swagger());
}

/** Removes the schemas that the document does not use, because some generators of clients make types of all schemas. */
function removeUnusedSchemas({
  paths,
  webhooks,
  schemas,
}: Record<"paths" | "webhooks", unknown> & { schemas: object }) {
  const all = new Map<string, unknown>(Object.entries(schemas));
  const used = new Set<string>();
  const use = (part: unknown) => {
    for (const [, name = ""] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      use(all.get(name));
    }
  };
  use([paths, webhooks]);
  for (const name of all.keys()) if (!used.has(name)) Reflect.deleteProperty(schemas, name);
}

function bearer(description: string, bearerFormat?: "JWT") {
  return { type: "http", scheme: "bearer", ...(bearerFormat && { bearerFormat }), description } as const;
}
