import { requireFeature } from "../engine/requireFeature.ts";

/** Returns bytes from the system's secure random generator. @throws EnvironmentError ENVIRONMENT_UNSUPPORTED */
export function randomBytes(length: number): Uint8Array {
  const { crypto } = globalThis as { crypto?: Partial<Crypto> };
  requireFeature("crypto.getRandomValues", crypto?.getRandomValues, "react-native-get-random-values");
  return (crypto as Crypto).getRandomValues(new Uint8Array(length));
}
