import cookie from "@fastify/cookie";
import { ServiceError } from "keyroot/errors";
import type { ServiceContext } from "../http/context.ts";
import type { App } from "../http/defineOperation.ts";
import { baseUrlOf } from "../http/origin.ts";
import { auditCalls } from "./auditCalls.ts";
import { companyCalls } from "./companyCalls.ts";
import { operatorCalls } from "./operatorCalls.ts";
import { dashboardPages } from "./pages.ts";
import { publishingCalls } from "./publishingCalls.ts";
import { serverTokenCalls } from "./serverTokenCalls.ts";
import { sessionCalls } from "./sessionCalls.ts";
import { userCalls } from "./userCalls.ts";
import { webhookCalls } from "./webhookCalls.ts";

/** Serves the dashboard for partners' staff: its page, and the calls of the page. */
export async function dashboard(app: App, context: ServiceContext): Promise<void> {
  await app.register((scope, _options, done) => {
    dashboardPages(scope);
    done();
  });
  await app.register(async (scope) => {
    await scope.register(cookie);
    // Cookies are SameSite=Strict already. This also refuses other ports and subdomains, which are the same site.
    scope.addHook("onRequest", (request, _reply, done) => {
      const { origin, "sec-fetch-site": site = "same-origin" } = request.headers;
      const own = new URL(baseUrlOf(context, request)).origin;
      if (origin === own && site === "same-origin") done();
      else done(new ServiceError(403, "ORIGIN_REFUSED", `Open the dashboard at ${own}/dashboard/.`));
    });
    sessionCalls(scope, context);
    companyCalls(scope, context);
    serverTokenCalls(scope, context);
    userCalls(scope, context);
    publishingCalls(scope, context);
    webhookCalls(scope, context);
    auditCalls(scope, context);
    operatorCalls(scope, context);
  });
}
