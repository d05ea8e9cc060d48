import { parseUrl } from "../../engine/parseUrl.ts";
import { TransportError } from "../../errors.ts";
import { fetchBytes, type FetchOptions } from "../../transport/fetchBytes.ts";
import { addPath } from "../../transport/url.ts";
import { MAX_STATEMENT_BYTES } from "./statement.ts";

export type StatementLimits = Omit<FetchOptions, "maxBytes">;

/**
 * The fraction of a verification's time limit that one round of requests may take. Even if a host does not respond,
 * most of the time then remains for other requests.
 */
const ROUND_SHARE = 0.2;

export function limitsOfRound(http: StatementLimits): StatementLimits {
  return { ...http, timeoutMs: Math.max(1, Math.floor(http.timeoutMs * ROUND_SHARE)) };
}

/**
 * Fetches a statement from a folder of statements.
 * @param name the file name without `.txt`: `latest` or a block number
 */
export async function fetchStatement(folder: string, name: string, limits: StatementLimits): Promise<Uint8Array> {
  const url = addPath(folder, `${name}.txt`);
  const options = { ...limits, maxBytes: MAX_STATEMENT_BYTES };
  const { status, bytes } = await fetchBytes(url, { method: "GET", cache: "no-store" }, options);
  if (status === 200) return bytes;
  const message = `${parseUrl(url).host} returned the HTTP status ${status} for ${name}.txt.`;
  throw new TransportError("FILE_HOST_ERROR", message, { actual: status });
}
