import type { FastifyReply, FastifyRequest } from "fastify";
import type { App } from "./defineOperation.ts";

/** Headers that let web pages of any origin read a response. No response with these headers depends on cookies. */
const RESPONSE_HEADERS = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "RateLimit, RateLimit-Policy, Retry-After, X-Request-Id",
};
/** Request headers that a web page of another origin may send. */
const PREFLIGHT_HEADERS = {
  "Access-Control-Allow-Methods": "POST",
  "Access-Control-Allow-Headers": "Authorization, Content-Type",
  "Access-Control-Max-Age": "86400",
};

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether web pages of any origin may call this route (CORS). Default: false. */
    browsers?: boolean;
  }
}

/** Responds to preflight requests for the routes that web pages may call. Call it before you add these routes. */
export function answerPreflights(app: App): void {
  app.addHook("onRoute", ({ method, url, config }) => {
    if (config?.browsers !== true || method !== "POST") return;
    app.options(url, { schema: { hide: true }, config: { browsers: true } }, (_request, reply) =>
      reply.status(204).headers(PREFLIGHT_HEADERS).send(),
    );
  });
}

/** Lets web pages read a response, including errors, if they may call its route. */
export function allowBrowsers(request: FastifyRequest, reply: FastifyReply): void {
  if (request.routeOptions.config.browsers === true) reply.headers(RESPONSE_HEADERS);
}

/** Prevents web pages of other origins from reading the response. */
export function hideFromBrowsers(reply: FastifyReply): void {
  for (const name of Object.keys(RESPONSE_HEADERS)) reply.removeHeader(name);
}
