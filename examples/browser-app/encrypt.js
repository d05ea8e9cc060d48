/**
 * The place of your app's encryption. This one encrypts nothing: it only says what it would do.
 * @param publicKey 105 bytes: a verified, uncompressed point of Curve41417
 */
export async function encrypt(publicKey, message) {
  return `${message.length} characters, encrypted to a key of ${publicKey.length} bytes`;
}
