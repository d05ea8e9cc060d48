/**
 * A `CryptoKey` of WebCrypto, which may be impossible to export. This type has only the fields that Keyroot reads, so
 * that programs can use the declarations without a platform's type library.
 */
export interface WebCryptoKey {
  readonly type: string;
  readonly algorithm: { readonly name: string };
}

/** A private key: a bigint for Curve41417, and 32 bytes or a `CryptoKey` for the other types. */
export type PrivateKey = bigint | Uint8Array | WebCryptoKey;

/** A key pair of any type. */
export interface OwnKey {
  publicKey: Uint8Array;
  privateKey: PrivateKey;
}
