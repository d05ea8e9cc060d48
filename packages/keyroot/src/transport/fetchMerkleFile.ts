import { TransportError, VerificationError } from "../errors.ts";
import { fetchBytes, type FetchOptions } from "./fetchBytes.ts";

/**
 * Fetches the file of a root from its host (specification, "Step 2"). `parseMerkleFile` verifies it.
 * @param merkleUrl the URL under which the files are served
 * @param root 64 lowercase hex digits
 * @throws VerificationError FILE_NOT_FOUND, step "file"; TransportError FILE_HOST_ERROR, and as `fetchBytes`
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
  throw new TransportError("FILE_HOST_ERROR", `${host} answered with the HTTP status ${status}.`, { actual: status });
}
