import type { App } from "../api/defineOperation.ts";

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
