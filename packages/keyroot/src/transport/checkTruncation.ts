import { TransportError } from "../errors.ts";

/**
 * Rejects a compressed JSON object that is cut off. In this case, Node and some browsers return its first part without an
 * error.
 * @param name the name of the object in the error message
 * @throws TransportError FILE_HOST_ERROR
 */
export function checkTruncation(headers: Headers, bytes: Uint8Array, name: string): void {
  if (headers.has("Content-Encoding") && !/\}\s*$/.test(String.fromCharCode(...bytes.subarray(-99)))) {
    throw new TransportError("FILE_HOST_ERROR", `${name} is cut off.`);
  }
}
