import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import type { App } from "./operation.ts";

/** Adds the OpenAPI 3.1 description, made of the very schemas that validate, at /openapi.json and as a page at /docs. */
export async function describeApi(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Keyroot partner service",
        version: "1.0.0",
        description:
          "Partners provision shadow users, users register their public keys. Operations marked with x-keyroot-extension go beyond the specification of the API.",
        license: { name: "MIT", identifier: "MIT" },
      },
      servers: [{ url: "/" }],
      tags: [
        { name: "public", description: "Without a token." },
        { name: "partner", description: "With the access token of a partner's server." },
        { name: "user", description: "With a user's access token." },
        { name: "operator", description: "With the admin token of the service's configuration." },
      ],
      components: {
        securitySchemes: {
          partnerToken: {
            type: "http",
            scheme: "bearer",
            bearerFormat: "JWT",
            description: "A partner's access token.",
          },
          userToken: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "A user's access token." },
          operatorToken: { type: "http", scheme: "bearer", description: "The service's admin token." },
        },
      },
    },
    transformObject: (document) => {
      const described = jsonSchemaTransformObject(document);
      // Problems are answered only, never taken: nothing refers to their form as input.
      const forms = "components" in described ? described.components.schemas : undefined;
      if (forms !== undefined) delete forms["ProblemInput"];
      return described;
    },
    transform: (route) => {
      const { schema, url } = jsonSchemaTransform(route);
      const { specified } = route.route.config ?? {};
      return { schema: specified === false ? { ...schema, "x-keyroot-extension": true } : schema, url };
    },
  });
  await app.register(swaggerUi, { routePrefix: "/docs", staticCSP: true, uiConfig: { deepLinking: true } });
  app.get("/openapi.json", { schema: { hide: true } }, () => app.swagger());
}
