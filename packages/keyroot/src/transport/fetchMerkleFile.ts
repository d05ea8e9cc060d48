import { TransportError, VerificationError } from "../errors.ts";
import { describeValue } from "../input/values.ts";
import { fetchBytes, type FetchOptions } from "./fetchBytes.ts";
import { parseUrl } from "../engine/parseUrl.ts";
import { retryAfterOf } from "./retryAfter.ts";
import { addPath, checkSourceUrl } from "./url.ts";

/**
 * Fetches a Merkle-tree file from the file host (docs/specification.md, "Step 2"). Use `parseMerkleFile` to verify it.
 * @param merkleUrl the URL of the folder with the files
 * @param root 64 lowercase hex digits
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
  const start = String.fromCharCode(...bytes.subarray(0, 60));
  if (/^\s*</.test(start)) {
    const message = `${host} returned a web page instead of the file ${root}.json: ${describeValue(start)}. Check the merkleUrl option.`;
    throw new TransportError("FILE_IS_HTML", message, { actual: start });
  }
  // The first byte of gzip and of zstd.
  if (bytes[0] === 0x1f || bytes[0] === 0x28) {
    const message = `${host} returned ${root}.json compressed, without the matching Content-Encoding.`;
    throw new TransportError("FILE_HOST_ERROR", message);
  }
  // Node and some browsers return the first part of an incomplete compressed file without an error.
  if (headers.has("Content-Encoding") && !/\}\s*$/.test(String.fromCharCode(...bytes.subarray(-99)))) {
    throw new TransportError("FILE_HOST_ERROR", `The compressed file ${root}.json from ${host} is incomplete.`);
  }
  return bytes;
}
