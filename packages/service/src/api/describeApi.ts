import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
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
    "A partner's server creates shadow users, and the users' apps register public keys. Keyroot's specification defines only the operations without the mark x-keyroot-extension.",
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

/** The policy lets the API pages run only the service's scripts and send requests only to the service. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M8 3 4 12M8 3l4 9" stroke="#047857" stroke-width="1.5"/><circle cx="8" cy="3" r="2.5" fill="#047857"/><circle cx="4" cy="12" r="2.5" fill="#a7f3d0"/><circle cx="12" cy="12" r="2.5" fill="#a7f3d0"/></svg>';

/**
 * Serves the OpenAPI 3.1 description of all operations, as JSON and as a page. The description contains the operations
 * that are added to `scope` after this call. It is generated from the schemas that validate requests.
 * @param webhooks the requests that the service sends, by name
 */
export async function describeApi(
  scope: App,
  description: ApiDescription,
  webhooks?: Record<string, object>,
): Promise<void> {
  const { title, tags, securitySchemes, documentPath, pagePath } = description;
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
  await scope.register(swaggerUi, {
    routePrefix: pagePath,
    staticCSP: CONTENT_SECURITY_POLICY,
    theme: {
      title,
      favicon: [{ filename: "icon.svg", rel: "icon", type: "image/svg+xml", sizes: "any", content: ICON }],
    },
    // This layout omits the bar with the framework's logo. The logo would violate the content security policy.
    uiConfig: { deepLinking: true, layout: "BaseLayout" },
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
