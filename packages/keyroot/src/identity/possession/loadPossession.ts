import { loadModule } from "../../engine/loadModule.ts";
import { possession as curve41417 } from "./curve41417.ts";
import type { KeyTypeName } from "../keyTypes/keyType.ts";
import type { PossessionMethod } from "./method.ts";

/** One row per key type. Undefined if the key itself cannot prove possession. */
const METHODS: Readonly<Record<KeyTypeName, (() => PossessionMethod | Promise<PossessionMethod>) | undefined>> = {
  curve41417: () => curve41417,
  x25519: async () => (await loadModule(() => import("./x25519.ts"))).possession,
  ed25519: async () => (await loadModule(() => import("./signing.ts"))).ed25519Possession,
  p256: async () => (await loadModule(() => import("./signing.ts"))).p256Possession,
  document: undefined,
};

/** Loads the proof of possession of a type. @returns undefined if the key itself cannot prove possession */
export async function loadPossession(name: KeyTypeName): Promise<PossessionMethod | undefined> {
  return METHODS[name]?.();
}
