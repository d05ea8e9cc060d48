import cookie from "@fastify/cookie";
import { serializerCompiler } from "fastify-type-provider-zod";
import type { z } from "zod";
import { addOperation } from "../api/addOperation.ts";
import { type BaseAppOptions, makeBaseApp } from "../api/baseApp.ts";
import type { ServiceContext } from "./context.ts";
import { answerPreflights } from "../api/cors.ts";
import { type App, tokenCallerOf } from "../api/defineOperation.ts";
import { describeApi, OPERATOR_API, PARTNER_API } from "../api/describeApi.ts";
import { operations } from "./operations.ts";
import { dashboardPages, referencePages, startPage } from "./pages.ts";
import { toValidationError } from "../api/problem.ts";
import { webhooks } from "../webhooks/eventSchemas.ts";
import { parseBody, withoutNulls } from "../api/requestBody.ts";

export interface AppOptions extends Pick<BaseAppOptions, "logger" | "trustedProxies" | "recordAddresses"> {
  observe?: (app: App) => void;
}

/** Creates the HTTP API as a fastify app that does not listen yet. */
export async function makeApp(context: ServiceContext, options: AppOptions = {}): Promise<App> {
  const { observe, ...baseOptions } = options;
  const app = makeBaseApp({
    ...baseOptions,
    limits: context.rateLimits,
    seeAlso: ` See ${PARTNER_API.documentPath}.`,
  });
  app.addHook("onClose", () => context.refreshTokens.storeUses());
  observe?.(app);
  answerPreflights(app);
  parseAndValidate(app);
  app.addHook("onClose", () => context.registration[Symbol.asyncDispose]());

  await app.register(cookie);
  for (const description of [PARTNER_API, OPERATOR_API])
    await app.register(async (scope) => {
      await describeApi(scope, description, description === PARTNER_API ? webhooks : undefined);
      for (const operation of operations)
        if ((tokenCallerOf(operation) === "operator") === (description === OPERATOR_API))
          addOperation(scope, context, operation);
    });
  app.get("/.well-known/jwks.json", { schema: { hide: true } }, (_request, reply) =>
    reply.header("Cache-Control", "public, max-age=300").send(context.signingKeys.jwks),
  );
  startPage(app, context.explorerUrl);
  dashboardPages(app);
  referencePages(app);
  return app;
}

/** Parses request bodies, validates them with zod, and serializes responses by schema. */
function parseAndValidate(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) => {
    try {
      done(null, parseBody(body as string));
    } catch (error) {
      done(error as Error);
    }
  });
  app.setValidatorCompiler<z.ZodType>(({ schema }) => (value) => {
    const { success, data, error } = schema.safeParse(withoutNulls(schema, value), { reportInput: true });
    return success ? { value: data } : { error: toValidationError(error) };
  });
  // Without a Content-Type and a body, nothing was parsed.
  app.addHook("preValidation", (request, _reply, done) => {
    if (request.method === "POST" && request.body === undefined) request.body = {};
    done();
  });
  app.setSerializerCompiler(serializerCompiler);
}
