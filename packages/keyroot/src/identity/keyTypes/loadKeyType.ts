import { loadModule } from "../../engine/loadModule.ts";
import { curve41417 } from "./curve41417.ts";
import type { GeneratedKey, KeyType, KeyTypeName } from "./keyType.ts";

/** What programs do with a type that their configuration names. */
interface Row {
  load: () => KeyType | Promise<KeyType>;
  generate: () => Promise<GeneratedKey>;
}

/** One row per key type. A type is loaded when a program is configured for it. */
const KEY_TYPES: Readonly<Record<KeyTypeName, Row>> = {
  curve41417: {
    load: () => curve41417,
    generate: async () => (await loadModule(() => import("./curve41417Group.ts"))).generateKeyPair(),
  },
  x25519: {
    load: async () => (await loadModule(() => import("./x25519.ts"))).x25519,
    generate: async () => (await loadModule(() => import("./x25519.ts"))).generate(),
  },
  ed25519: {
    load: async () => (await loadModule(() => import("./ed25519.ts"))).ed25519,
    generate: async () => (await loadModule(() => import("./ed25519.ts"))).generate(),
  },
  p256: {
    load: async () => (await loadModule(() => import("./p256.ts"))).p256,
    generate: async () => (await loadModule(() => import("./p256.ts"))).generate(),
  },
  document: {
    load: async () => (await loadModule(() => import("./document.ts"))).document,
    generate: async () => (await loadModule(() => import("./document.ts"))).generate(),
  },
};

/** Loads the key type with a name from the program's configuration. */
export async function loadKeyType(name: KeyTypeName): Promise<KeyType> {
  return KEY_TYPES[name].load();
}

/**
 * Generates a key pair for samples and tests.
 * @throws EnvironmentError ENVIRONMENT_UNSUPPORTED without a secure random source
 */
export async function generateKeyOf(name: KeyTypeName): Promise<GeneratedKey> {
  return KEY_TYPES[name].generate();
}
