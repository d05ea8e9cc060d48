import { TransportError, VerificationError } from "../errors.ts";
import { fetchBytes, type FetchOptions } from "./fetchBytes.ts";

/**
 * Fetches a root's file from its host (specification, "Step 2"). Nothing of it has been checked.
 * @param merkleUrl the address under which files are served
 * @param root 64 hex digits in lower case
 * @throws VerificationError FILE_NOT_FOUND; TransportError FILE_HOST_ERROR, and as `fetchBytes`
 */
export async function fetchMerkleFile(merkleUrl: string, root: string, options: FetchOptions): Promise<Uint8Array> {
  const url = new URL(merkleUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/${root}.json`;
  const { host } = url;
  const { status, bytes } = await fetchBytes(url.href, { method: "GET" }, options);
  if (status === 200) return bytes;
  if (status === 404 || status === 410) {
    const message = `${host} does not have the file ${root}.json.`;
    throw new VerificationError("file", "FILE_NOT_FOUND", message, { expected: `${root}.json`, actual: status });
  }
  throw new TransportError("FILE_HOST_ERROR", `${host} answers with the HTTP status ${status}.`, { actual: status });
}
