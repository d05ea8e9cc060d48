import { createHash } from "node:crypto";
import type { App } from "../api/defineOperation.ts";
import { type BuiltSite, loadSite, policyOf, sendFile } from "./builtSite.ts";

interface Dashboard extends BuiltSite {
  policy: string;
}

/** Serves the built dashboard page and its assets under /dashboard/. The files are read at the first request. */
export function dashboardPages(app: App): void {
  let dashboard: Promise<Dashboard> | undefined;
  app.get("/dashboard", { schema: { hide: true } }, (_request, reply) => reply.redirect("/dashboard/", 308));
  for (const path of ["/dashboard/", "/dashboard/:name", "/dashboard/assets/:name"]) {
    app.get<{ Params: { name?: string } }>(path, { schema: { hide: true } }, async (request, reply) => {
      const { policy, ...site } = await (dashboard ??= loadDashboard());
      const name = request.url.split("?", 1)[0]?.slice("/dashboard/".length) ?? "";
      return sendFile(site, name === "" ? "index.html" : name, request, reply, { "Content-Security-Policy": policy });
    });
  }
}

async function loadDashboard(): Promise<Dashboard> {
  const site = await loadSite("dashboard");
  const scripts = [...site.files].filter(([name]) => name.endsWith(".js")).map(([, code]) => hashOf(code));
  return { ...site, policy: contentSecurityPolicy(scripts) };
}

function hashOf(code: Uint8Array): string {
  return `sha384-${createHash("sha384").update(code).digest("base64")}`;
}

/** Allows only the built scripts, by hash, and requests to the service (W3C, Content Security Policy Level 3). */
function contentSecurityPolicy(scripts: readonly string[]): string {
  return policyOf([
    `script-src ${scripts.map((hash) => `'${hash}'`).join(" ")}`,
    ...["style-src 'self'", "img-src 'self'", "connect-src 'self'"],
    ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
  ]);
}
