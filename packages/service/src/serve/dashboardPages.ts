import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { headersOf, readSite } from "@keyroot/operator/shared";
import { ServiceError } from "../api/base/errors.ts";
import type { App } from "../api/defineOperation.ts";

interface Site {
  files: ReadonlyMap<string, Uint8Array>;
  compressed: ReadonlyMap<string, Uint8Array>;
  policy: string;
}

/**
 * Serves the built dashboard page and the page's assets under /dashboard/. The app reads the dashboard's files at the
 * first request.
 */
export function dashboardPages(app: App): void {
  let site: Promise<Site> | undefined;
  app.get("/dashboard", { schema: { hide: true } }, (_request, reply) => reply.redirect("/dashboard/", 308));
  for (const path of ["/dashboard/", "/dashboard/:name", "/dashboard/assets/:name"]) {
    app.get<{ Params: { name?: string } }>(path, { schema: { hide: true } }, async (request, reply) => {
      const { files, compressed, policy } = await (site ??= loadSite());
      const name = request.url.split("?", 1)[0]?.slice("/dashboard/".length) ?? "";
      const file = name === "" ? "index.html" : name;
      const isGzip = /\bgzip\b/.test(String(request.headers["accept-encoding"]));
      const content = (isGzip ? compressed : files).get(file);
      if (content === undefined)
        throw new ServiceError(404, "OPERATION_UNKNOWN", "The dashboard has no such file. Open /dashboard/.");
      return reply
        .headers({
          ...headersOf(file),
          "Content-Security-Policy": policy,
          "Cross-Origin-Opener-Policy": "same-origin",
          "Cross-Origin-Resource-Policy": "same-origin",
          "Referrer-Policy": "no-referrer",
          Vary: "Accept-Encoding",
          ...(isGzip && { "Content-Encoding": "gzip" }),
        })
        .send(content);
    });
  }
}

async function loadSite(): Promise<Site> {
  const files = await readSite(new URL("../../site", import.meta.url), "dashboard").catch((cause: unknown) => {
    const message = "The dashboard is not built. Run 'npm run build:web', and restart the service.";
    throw new ServiceError(503, "UNAVAILABLE", message, { cause });
  });
  const scripts = [...files].filter(([name]) => name.endsWith(".js")).map(([, code]) => hashOf(code));
  const compressed = new Map([...files].map(([name, content]) => [name, gzipSync(content)]));
  return { files, compressed, policy: contentSecurityPolicy(scripts) };
}

function hashOf(code: Uint8Array): string {
  return `sha384-${createHash("sha384").update(code).digest("base64")}`;
}

/** Allows only the built scripts, by hash, and requests to the service (W3C, Content Security Policy Level 3). */
function contentSecurityPolicy(scripts: readonly string[]): string {
  return [
    "default-src 'none'",
    `script-src ${scripts.map((hash) => `'${hash}'`).join(" ")}`,
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}
