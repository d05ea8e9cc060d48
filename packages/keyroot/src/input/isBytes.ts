/**
 * Checks whether a value is a `Uint8Array`, also one from another window or another realm, such as Jest's `Buffer`.
 */
export function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]";
}
