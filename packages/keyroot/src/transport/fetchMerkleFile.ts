import { TransportError, VerificationError } from "../errors.ts";
import { fetchBytes, type FetchOptions } from "./fetchBytes.ts";
import { parseUrl } from "../engine/parseUrl.ts";
import { retryAfterOf } from "./retryAfter.ts";
import { addPath, checkSourceUrl } from "./url.ts";

/** What a host returns by mistake, by the first byte: "<" of HTML, or the first byte of gzip or zstd. */
const FAULTS: Readonly<Record<number, string>> = {
  0x3c: "a web page instead of the file",
  0x1f: "compressed bytes without the matching Content-Encoding for",
  0x28: "compressed bytes without the matching Content-Encoding for",
};

/**
 * Fetches a Merkle-tree file from the file host (docs/specification.md, "Step 2"). `parseMerkleFile` verifies the file.
 * @param merkleUrl the URL of the folder with the files
 * @param root 64 lowercase hex digits
 * @throws VerificationError FILE_NOT_FOUND, step "file"; TransportError FILE_HOST_ERROR, and the errors of
 * `fetchBytes`; ArgumentError ARGUMENT_INVALID
 * @example
 * const bytes = await fetchMerkleFile("https://files.example", root, { maxBytes: 2 ** 24, timeoutMs: 30_000 });
 * const { records } = parseMerkleFile(bytes, root);
 */
export async function fetchMerkleFile(merkleUrl: string, root: string, options: FetchOptions): Promise<Uint8Array> {
  const url = addPath(checkSourceUrl("merkleUrl", merkleUrl, options.allowHttp), `${root}.json`);
  const { host } = parseUrl(url);
  const { status, headers, bytes } = await fetchBytes(url, { method: "GET" }, options);
  if (status === 404 || status === 410) {
    const message = `${host} does not have the file ${root}.json.`;
    throw new VerificationError("file", "FILE_NOT_FOUND", message, { expected: `${root}.json`, actual: status });
  }
  if (status !== 200) {
    const message = `${host} returned the HTTP status ${status}.`;
    throw new TransportError("FILE_HOST_ERROR", message, { actual: status, status, retryAfter: retryAfterOf(headers) });
  }
  const fault = FAULTS[bytes[0] ?? 0];
  if (fault !== undefined) throw new TransportError("FILE_HOST_ERROR", `${host} returned ${fault} ${root}.json.`);
  // Node and some browsers return the first part of an incomplete compressed file without an error.
  if (headers.has("Content-Encoding") && !/\}\s*$/.test(String.fromCharCode(...bytes.subarray(-99)))) {
    throw new TransportError("FILE_HOST_ERROR", `The compressed file ${root}.json from ${host} is incomplete.`);
  }
  return bytes;
}
