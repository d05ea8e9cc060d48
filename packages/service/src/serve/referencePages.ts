import { createHash } from "node:crypto";
import { OPERATOR_API, PARTNER_API } from "../api/describeApi.ts";
import type { App } from "../api/defineOperation.ts";
import { type BuiltSite, loadSite, policyOf, sendFile } from "./builtSite.ts";

/** Serves the built pages of the API reference. The app reads them at the first request. */
export function referencePages(app: App): void {
  let reading: Promise<BuiltSite> | undefined;
  for (const [{ pagePath }, name] of [
    [PARTNER_API, "partner.html"],
    [OPERATOR_API, "operator.html"],
  ] as const)
    for (const path of [pagePath, `${pagePath}/`])
      app.get(path, { schema: { hide: true } }, async (request, reply) => {
        const site = await (reading ??= loadSite("reference"));
        return sendFile(site, name, request, reply, { "Content-Security-Policy": policyFor(site.files.get(name)) });
      });
}

/** Allows a page's own style, by hash. The pages have no scripts and load nothing. */
function policyFor(page: Uint8Array = new Uint8Array()): string {
  const [, style = ""] = /<style>(.*?)<\/style>/s.exec(Buffer.from(page).toString()) ?? [];
  const hash = createHash("sha256").update(style).digest("base64");
  return policyOf([`style-src 'sha256-${hash}'`, "img-src data:"]);
}
