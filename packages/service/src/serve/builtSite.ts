import { headersOf, readSite } from "@keyroot/operator/shared";
import type { FastifyReply, FastifyRequest } from "fastify";
import { gzipSync } from "node:zlib";
import { ServiceError } from "../api/base/errors.ts";

/** The built files of a part of the site, and the same files compressed with gzip. */
export interface BuiltSite {
  files: ReadonlyMap<string, Uint8Array>;
  compressed: ReadonlyMap<string, Uint8Array>;
}

/** Reads the built files of a part of the site. @throws ServiceError UNAVAILABLE if they are not built */
export async function loadSite(part: "dashboard" | "reference"): Promise<BuiltSite> {
  const files = await readSite(new URL("../../site", import.meta.url), part).catch((cause: unknown) => {
    const message = "The web pages are not built. Run 'npm run build:web', and restart the service.";
    throw new ServiceError(503, "UNAVAILABLE", message, { cause });
  });
  return { files, compressed: new Map([...files].map(([name, content]) => [name, gzipSync(content)])) };
}

/** Sends a file of a site, compressed if the browser accepts it. @throws ServiceError OPERATION_UNKNOWN */
export function sendFile(
  { files, compressed }: BuiltSite,
  name: string,
  request: FastifyRequest,
  reply: FastifyReply,
  headers: Readonly<Record<string, string>>,
): FastifyReply {
  const isGzip = /\bgzip\b/.test(String(request.headers["accept-encoding"]));
  const content = (isGzip ? compressed : files).get(name);
  if (content === undefined)
    throw new ServiceError(404, "OPERATION_UNKNOWN", "The dashboard has no such file. Open /dashboard/.");
  return reply
    .headers({
      ...headersOf(name),
      ...headers,
      "Cross-Origin-Opener-Policy": "same-origin",
      "Cross-Origin-Resource-Policy": "same-origin",
      "Referrer-Policy": "no-referrer",
      Vary: "Accept-Encoding",
      ...(isGzip && { "Content-Encoding": "gzip" }),
    })
    .send(content);
}

/** Returns a content security policy from directives, which forbids everything else. */
export function policyOf(directives: readonly string[]): string {
  return ["default-src 'none'", ...directives, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"].join(
    "; ",
  );
}
