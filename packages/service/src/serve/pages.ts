/** The pages of the service: the start page, the dashboard and the API reference. */
import { headersOf, readSite } from "@keyroot/operator/shared";
import type { FastifyReply, FastifyRequest } from "fastify";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { ServiceError } from "../api/base/errors.ts";
import type { App } from "../api/defineOperation.ts";
import { OPERATOR_API, PARTNER_API } from "../api/describeApi.ts";

/** The built files of a part of the site, and the same files compressed with gzip. */
interface BuiltSite {
  files: ReadonlyMap<string, Uint8Array>;
  compressed: ReadonlyMap<string, Uint8Array>;
}

/** Serves a page at / that links to the parts of the service. */
export function startPage(app: App, explorerUrl: string | undefined): void {
  const links = [
    link("/docs", "API documentation"),
    link("/dashboard/", "Dashboard"),
    ...(explorerUrl === undefined ? [] : [link(new URL(explorerUrl).href, "Explorer")]),
  ];
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Keyroot</title><h1>Keyroot partner service</h1><ul>${links.join("")}</ul></html>`;
  app.get("/", { schema: { hide: true } }, (_request, reply) =>
    reply.headers({ "Content-Security-Policy": "default-src 'none'" }).type("text/html; charset=utf-8").send(page),
  );
}

/** @param url a serialized URL, which contains no quotation mark */
function link(url: string, text: string): string {
  return `<li><a href="${url.replaceAll("&", "&amp;")}">${text}</a></li>`;
}

/** Serves the built dashboard page and its assets under /dashboard/. The files are read at the first request. */
export function dashboardPages(app: App): void {
  let reading: Promise<BuiltSite & { policy: string }> | undefined;
  app.get("/dashboard", { schema: { hide: true } }, (_request, reply) => reply.redirect("/dashboard/", 308));
  for (const path of ["/dashboard/", "/dashboard/:name", "/dashboard/assets/:name"])
    app.get(path, { schema: { hide: true } }, async (request, reply) => {
      const { policy, ...site } = await (reading ??= loadDashboard());
      const name = request.url.split("?", 1)[0]?.slice("/dashboard/".length) ?? "";
      return sendFile(site, name === "" ? "index.html" : name, request, reply, policy);
    });
}

async function loadDashboard() {
  const site = await loadSite("dashboard");
  const scripts = [...site.files].filter(([name]) => name.endsWith(".js")).map(([, code]) => code);
  return { ...site, policy: dashboardPolicy(scripts) };
}

/** Allows only the built scripts, by hash, and requests to the service (W3C, Content Security Policy Level 3). */
function dashboardPolicy(scripts: readonly Uint8Array[]): string {
  const hashes = scripts.map((code) => `'sha384-${createHash("sha384").update(code).digest("base64")}'`);
  return policyOf([
    `script-src ${hashes.join(" ")}`,
    ...["style-src 'self'", "img-src 'self'", "connect-src 'self'"],
    ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
  ]);
}

/** Serves the built pages of the API reference. The files are read at the first request. */
export function referencePages(app: App): void {
  let reading: Promise<BuiltSite> | undefined;
  for (const [{ pagePath }, name] of [
    [PARTNER_API, "partner.html"],
    [OPERATOR_API, "operator.html"],
  ] as const)
    for (const path of [pagePath, `${pagePath}/`])
      app.get(path, { schema: { hide: true } }, async (request, reply) => {
        const site = await (reading ??= loadSite("reference"));
        return sendFile(site, name, request, reply, referencePolicy(site.files.get(name)));
      });
}

/** Allows a page's own style, by hash. The pages have no scripts and load nothing. */
function referencePolicy(page: Uint8Array = new Uint8Array()): string {
  const [, style = ""] = /<style>(.*?)<\/style>/s.exec(Buffer.from(page).toString()) ?? [];
  const hash = createHash("sha256").update(style).digest("base64");
  return policyOf([`style-src 'sha256-${hash}'`, "img-src data:"]);
}

/** Reads the built files of a part of the site. @throws ServiceError UNAVAILABLE if they are not built */
async function loadSite(part: "dashboard" | "reference"): Promise<BuiltSite> {
  const files = await readSite(new URL("../../site", import.meta.url), part).catch((cause: unknown) => {
    const message = "The web pages are not built. Run 'npm run build:web', and restart the service.";
    throw new ServiceError(503, "UNAVAILABLE", message, { cause });
  });
  return { files, compressed: new Map([...files].map(([name, content]) => [name, gzipSync(content)])) };
}

/** Sends a file of a site, compressed if the browser accepts it. @throws ServiceError OPERATION_UNKNOWN */
function sendFile(
  { files, compressed }: BuiltSite,
  name: string,
  request: FastifyRequest,
  reply: FastifyReply,
  policy: string,
): FastifyReply {
  const isGzip = /\bgzip\b/.test(String(request.headers["accept-encoding"]));
  const content = (isGzip ? compressed : files).get(name);
  if (content === undefined)
    throw new ServiceError(404, "OPERATION_UNKNOWN", "The dashboard has no such file. Open /dashboard/.");
  return reply
    .headers({
      ...headersOf(name),
      "Content-Security-Policy": policy,
      "Cross-Origin-Opener-Policy": "same-origin",
      "Cross-Origin-Resource-Policy": "same-origin",
      "Referrer-Policy": "no-referrer",
      Vary: "Accept-Encoding",
      ...(isGzip && { "Content-Encoding": "gzip" }),
    })
    .send(content);
}

/** Returns a content security policy from directives, which forbids everything else. */
function policyOf(directives: readonly string[]): string {
  return ["default-src 'none'", ...directives, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"].join(
    "; ",
  );
}
