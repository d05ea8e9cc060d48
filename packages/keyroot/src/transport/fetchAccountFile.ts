import { parseUrl } from "../engine/parseUrl.ts";
import { TransportError, VerificationError } from "../errors.ts";
import { fetchBytes, type FetchOptions } from "./fetchBytes.ts";
import { addPath } from "./url.ts";

/**
 * Fetches a user's account file from the file host. The caller must verify it.
 * @param merkleUrl the checked URL of the folder with the Merkle-tree files
 * @param userIDHex the account id as 40 hex digits
 * @param suffix `.next` for the file with a change that the registry's operator is still publishing
 */
export async function fetchAccountFile(
  merkleUrl: string,
  userIDHex: string,
  options: FetchOptions,
  suffix: "" | ".next" = "",
): Promise<Uint8Array> {
  const name = `accounts/${userIDHex}${suffix}.txt`;
  const url = addPath(merkleUrl, name);
  const { host } = parseUrl(url);
  const { status, bytes } = await fetchBytes(url, { method: "GET", cache: "no-store" }, options);
  if (status === 200) return bytes;
  if (status === 404 || status === 410) {
    const message = `${host} does not have the account file ${name}, without which no key of the user can be verified.`;
    throw new VerificationError("file", "ACCOUNT_MISSING", message, { expected: name, actual: status });
  }
  const message = `${host} returned the HTTP status ${status} for ${name}.`;
  throw new TransportError("FILE_HOST_ERROR", message, { actual: status });
}
