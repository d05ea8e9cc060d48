/**
 * The entry `keyroot/key-types`, with the types of public keys that a registry can publish. Pass one of them as the
 * `keyType` option. Bundlers keep only the code of the types that an app imports.
 */
export { curve41417 } from "./identity/keyTypes/curve41417.ts";
export { document } from "./identity/keyTypes/document.ts";
export { ed25519 } from "./identity/keyTypes/ed25519.ts";
export type { KeyType, KeyTypeName } from "./identity/keyTypes/keyType.ts";
export { p256 } from "./identity/keyTypes/p256.ts";
export { x25519 } from "./identity/keyTypes/x25519.ts";
