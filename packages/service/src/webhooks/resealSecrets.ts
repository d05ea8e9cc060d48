import { eq, ne } from "drizzle-orm";
import type { Database } from "../database/database.ts";
import { webhookSecrets } from "./tables.ts";
import type { WebhookKeys } from "./webhookKeys.ts";

/** Encrypts all webhook secrets again that are not under the key on the file's first line. */
export async function resealSecrets(home: Database, keys: WebhookKeys): Promise<void> {
  const isOld = ne(webhookSecrets.keyID, keys.sealingID);
  for (const { secretID, endpointID, ...old } of await home.select().from(webhookSecrets).where(isOld)) {
    const sealed = await keys.seal(await keys.open(old, endpointID), endpointID);
    await home.update(webhookSecrets).set(sealed).where(eq(webhookSecrets.secretID, secretID));
  }
}
