import { curve41417 } from "./curve41417.ts";
import type { KeyType, KeyTypeName } from "./keyType.ts";

/** One row per key type. Each type is loaded when a program is configured for it. */
const KEY_TYPES: Readonly<Record<KeyTypeName, () => KeyType | Promise<KeyType>>> = {
  curve41417: () => curve41417,
  x25519: async () => (await import("./x25519.ts")).x25519,
  ed25519: async () => (await import("./ed25519.ts")).ed25519,
  p256: async () => (await import("./p256.ts")).p256,
  document: async () => (await import("./document.ts")).document,
};

/** The names of all key types. */
export const KEY_TYPE_NAMES = Object.keys(KEY_TYPES) as readonly KeyTypeName[];

/** Loads the key type with a name from the program's configuration. */
export async function loadKeyType(name: KeyTypeName): Promise<KeyType> {
  return KEY_TYPES[name]();
}
