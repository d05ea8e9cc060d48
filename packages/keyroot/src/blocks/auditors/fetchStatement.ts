import { parseUrl } from "../../engine/parseUrl.ts";
import { TransportError } from "../../errors.ts";
import { fetchBytes, type FetchOptions } from "../../transport/fetchBytes.ts";
import { addPath } from "../../transport/url.ts";
import { MAX_AUDITOR_LIST_BYTES } from "./auditorList.ts";
import { MAX_ROOTS_BYTES } from "./rootTree.ts";
import { MAX_STATEMENT_BYTES } from "./statement.ts";

export type StatementLimits = Omit<FetchOptions, "maxBytes">;

/**
 * The fraction of a verification's time limit for one round of requests. The rest of the time remains for other
 * requests if a host does not respond.
 */
const ROUND_SHARE = 0.2;

export function limitsOfRound(http: StatementLimits): StatementLimits {
  return { ...http, timeoutMs: Math.max(1, Math.floor(http.timeoutMs * ROUND_SHARE)) };
}

/**
 * Fetches a statement from a folder of statements.
 * @param name the file name without `.txt`: `latest` or a block number
 * @throws TransportError FILE_HOST_ERROR, and the errors of `fetchBytes`
 */
export function fetchStatement(folder: string, name: string, limits: StatementLimits): Promise<Uint8Array> {
  return fetchFile(folder, `${name}.txt`, { ...limits, maxBytes: MAX_STATEMENT_BYTES });
}

/** Fetches the list of all roots from a folder of statements. @throws the errors of `fetchStatement` */
export function fetchRoots(folder: string, limits: StatementLimits): Promise<Uint8Array> {
  return fetchFile(folder, "roots.txt", { ...limits, maxBytes: MAX_ROOTS_BYTES });
}

/**
 * Fetches a list of auditors from a folder of statements. @param sequence the number of the list @throws the errors of
 * `fetchStatement`
 */
export function fetchAuditorList(folder: string, sequence: number, limits: StatementLimits): Promise<Uint8Array> {
  return fetchFile(folder, `auditors-${sequence}.txt`, { ...limits, maxBytes: MAX_AUDITOR_LIST_BYTES });
}

/** Fetches a file from a folder. @throws the errors of `fetchStatement` */
export async function fetchFile(folder: string, name: string, options: FetchOptions): Promise<Uint8Array> {
  const url = addPath(folder, name);
  const { status, bytes } = await fetchBytes(url, { method: "GET" }, options);
  if (status === 200) return bytes;
  const message = `${parseUrl(url).host} returned the HTTP status ${status} for ${name}.`;
  throw new TransportError("FILE_HOST_ERROR", message, { actual: status });
}
