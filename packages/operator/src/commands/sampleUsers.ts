import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { makeKeyRecord, randomUserID, serializeKeyRecord } from "keyroot/internal/identity";
import { generateKeyOf, loadKeyType } from "keyroot/internal/keyTypes";
import type { ArgsOf } from "./commandDefinitions.ts";
import { outputIsLost } from "./output.ts";
import { Progress } from "./progress.ts";

/** `keyroot sample-users`: prints records of random users. The command discards the users' private keys. */
export default async function sampleUsers({ count, ...args }: ArgsOf<"sample-users">): Promise<undefined> {
  const keyType = await loadKeyType(args.keyType);
  using progress = new Progress();
  for (let i = 1; i <= count && !outputIsLost(); i++) {
    const { publicKey } = await generateKeyOf(keyType.name);
    const record = makeKeyRecord(randomUserID(), publicKey, keyType);
    const written = process.stdout.write(`${serializeKeyRecord(record)}\n`);
    // On a terminal, the printed records already show the progress.
    if (!process.stdout.isTTY) progress.update("making key pairs", i, count);
    if (!written) await once(process.stdout, "drain").catch(() => undefined);
    // Allow Node to handle Ctrl-C between two users.
    await setImmediate();
  }
}
