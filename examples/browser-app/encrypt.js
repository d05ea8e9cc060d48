/**
 * Replace this function with your app's encryption: it encrypts nothing, and only returns a description.
 * @param publicKey 105 bytes: a verified, uncompressed point of Curve41417
 */
export async function encrypt(publicKey, message) {
  return `${message.length} characters, encrypted to a key of ${publicKey.length} bytes`;
}
