import { loadModule } from "../../engine/loadModule.ts";
import { curve41417 } from "./curve41417.ts";
import type { GeneratedKey, KeyType, KeyTypeName } from "./keyType.ts";

/** The modules of all types except the default. A type is loaded when a program is configured for it. */
const MODULES = {
  x25519: () => loadModule(() => import("./x25519.ts")),
  ed25519: () => loadModule(() => import("./ed25519.ts")),
  p256: () => loadModule(() => import("./p256.ts")),
  document: () => loadModule(() => import("./document.ts")),
};

/** Loads the key type with a name from the program's configuration. */
export async function loadKeyType(name: KeyTypeName): Promise<KeyType> {
  if (name === "curve41417") return curve41417;
  const types: Partial<Record<KeyTypeName, unknown>> = await MODULES[name]();
  return types[name] as KeyType;
}

/**
 * Generates a key pair for samples and tests.
 * @throws EnvironmentError ENVIRONMENT_UNSUPPORTED without a secure random source
 */
export async function generateKeyOf(name: KeyTypeName): Promise<GeneratedKey> {
  if (name === "curve41417") return (await loadModule(() => import("./curve41417Group.ts"))).generateKeyPair();
  return (await MODULES[name]()).generate();
}
