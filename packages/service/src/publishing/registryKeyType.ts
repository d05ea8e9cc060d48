import type { KeyTypeName } from "keyroot/internal/identity";
import { ArgumentError } from "../api/base/errors.ts";
import type { Databases } from "../api/database/database.ts";
import { registries } from "./tables.ts";

/** The name of the only registry. */
const NAME = "registry";

/**
 * Checks that the service, its publishers and its commands are configured for the same key type. The process that
 * starts first records its key type in the home database.
 * @throws ArgumentError CONFIGURATION_INVALID
 */
export async function requireKeyType({ home }: Databases, keyType: KeyTypeName): Promise<void> {
  const find = () => home.select().from(registries);
  let [stored] = await find();
  if (stored === undefined) {
    await home.insert(registries).values({ name: NAME, keyType }).onConflictDoNothing();
    [stored] = await find();
  }
  if (stored === undefined || stored.keyType === keyType) return;
  const message = `This database is for a registry with ${stored.keyType} keys, but KEYROOT_KEY_TYPE is ${keyType}. Set KEYROOT_KEY_TYPE=${stored.keyType}, or set DATABASE_URL to the database of the registry with ${keyType} keys.`;
  throw new ArgumentError("CONFIGURATION_INVALID", message, { expected: stored.keyType, actual: keyType });
}
