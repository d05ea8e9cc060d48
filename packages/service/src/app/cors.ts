import type { FastifyReply, FastifyRequest } from "fastify";
import type { App } from "./defineOperation.ts";

/** The headers that let a page of any origin read a response. No response depends on cookies. */
const RESPONSE_HEADERS = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "RateLimit, RateLimit-Policy, Retry-After, X-Request-Id",
};
/** Request headers that a page may send. */
const PREFLIGHT_HEADERS = {
  "Access-Control-Allow-Methods": "POST",
  "Access-Control-Allow-Headers": "Authorization, Content-Type",
  "Access-Control-Max-Age": "86400",
};

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether pages in browsers may call this route (CORS). Default false. */
    browsers?: boolean;
  }
}

/** Answers the preflight requests for routes that pages in browsers may call. Call it before the routes are added. */
export function answerPreflights(app: App): void {
  app.addHook("onRoute", ({ method, url, config }) => {
    if (config?.browsers !== true || method !== "POST") return;
    app.options(url, { schema: { hide: true }, config: { browsers: true } }, (_request, reply) =>
      reply.status(204).headers(PREFLIGHT_HEADERS).send(),
    );
  });
}

/** Lets pages read the response, rejected requests included, if they may call the route. */
export function allowBrowsers(request: FastifyRequest, reply: FastifyReply): void {
  if (request.routeOptions.config.browsers === true) reply.headers(RESPONSE_HEADERS);
}

/** Hides the response from pages. */
export function hideFromBrowsers(reply: FastifyReply): void {
  for (const name of Object.keys(RESPONSE_HEADERS)) reply.removeHeader(name);
}
