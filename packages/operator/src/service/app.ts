import type { FastifyBaseLogger, FastifyRequest } from "fastify";
import { serializerCompiler } from "fastify-type-provider-zod";
import type { z } from "zod";
import { parseJson } from "keyroot/input";
import { dashboard } from "./dashboard/index.ts";
import { makeBaseApp } from "./http/baseApp.ts";
import type { ServiceContext } from "./http/context.ts";
import { answerPreflights } from "./http/cors.ts";
import type { App } from "./http/defineOperation.ts";
import { describeApi, OPERATOR_API, PARTNER_API } from "./http/describeApi.ts";
import { toValidationError } from "./http/problem.ts";
import { operatorRoutes } from "./routes/operator.ts";
import { partnerRoutes } from "./routes/partner.ts";
import { publicRoutes } from "./routes/public.ts";
import { userRoutes } from "./routes/user.ts";

const MAX_JSON_DEPTH = 4;

export interface AppOptions {
  logger?: FastifyBaseLogger;
  /** IP addresses and networks of proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies?: string[];
  /** Adds hooks that observe every request. */
  observe?: (app: App) => void;
}

/** Creates the HTTP API as a fastify app that does not listen yet. */
export async function makeApp(context: ServiceContext, options: AppOptions = {}): Promise<App> {
  const { observe, ...baseOptions } = options;
  const { rateLimits, authenticator, refreshTokens, now } = context;
  // Only where the token is checked: elsewhere, whoever has one could send it along with guesses of other secrets.
  const isKnown = (request: FastifyRequest) =>
    request.routeOptions.config.accessToken === true && authenticator.isKnown(request, now());
  const app = makeBaseApp({
    ...baseOptions,
    countAddress: (request, reply) => {
      rateLimits.countAddress(request, reply, () => isKnown(request));
    },
    countRefused: (request, reply) => {
      rateLimits.countRefused(request, reply);
    },
    seeAlso: `: see ${PARTNER_API.documentPath}`,
  });
  app.addHook("onClose", () => refreshTokens.storeUses());
  app.addHook("onClose", () => context.publishRuns?.ended());
  observe?.(app);
  answerPreflights(app);
  parseAndValidate(app);
  app.addHook("onClose", () => context.registration[Symbol.asyncDispose]());

  await app.register(async (scope) => {
    await describeApi(scope, PARTNER_API);
    await registerRoutes(scope, publicRoutes, context);
    await registerRoutes(scope, userRoutes, context);
    await registerRoutes(scope, partnerRoutes, context);
  });
  await app.register(async (scope) => {
    await describeApi(scope, OPERATOR_API);
    await registerRoutes(scope, operatorRoutes, context);
  });
  await dashboard(app, context);
  return app;
}

/** Adds routes in a scope of their own, so that their hooks apply to them only. */
async function registerRoutes(
  app: App,
  routes: (scope: App, context: ServiceContext) => void,
  context: ServiceContext,
): Promise<void> {
  await app.register((scope, _options, done) => {
    routes(scope, context);
    done();
  });
}

/** Bodies are parsed by the strict JSON parser, validated by zod, and responses are serialized by their schema. */
function parseAndValidate(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) => {
    try {
      done(null, parseJson(body as string, MAX_JSON_DEPTH));
    } catch (error) {
      done(error as Error);
    }
  });
  app.setValidatorCompiler<z.ZodType>(({ schema }) => (value) => {
    const { success, data, error } = schema.safeParse(value, { reportInput: true });
    return success ? { value: data } : { error: toValidationError(error) };
  });
  app.setSerializerCompiler(serializerCompiler);
}
