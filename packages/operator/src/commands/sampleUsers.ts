import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { command, integer } from "./defineCommand.ts";
import { keyType } from "./options.ts";
import { outputIsLost } from "./output.ts";

export const sampleUsers = command(
  {
    summary: "Print records of random sample users as JSON lines",
    options: { count: integer("n", "Number of users", { min: 1, default: 25 }), keyType },
  },
  async ({ count, ...args }) => {
    const identity = await import("keyroot/internal/identity");
    const { generateKeyOf, loadKeyType } = await import("keyroot/internal/keyTypes");
    const { Progress } = await import("./progress.ts");
    const type = await loadKeyType(args.keyType);
    using progress = new Progress();
    for (let i = 1; i <= count && !outputIsLost(); i++) {
      const { publicKey } = await generateKeyOf(type.name);
      const record = identity.makeKeyRecord(identity.randomUserID(), publicKey, type);
      const written = process.stdout.write(`${identity.serializeKeyRecord(record)}\n`);
      // On a terminal, the printed records already show the progress.
      if (!process.stdout.isTTY) progress.update("making key pairs", i, count);
      if (!written) await once(process.stdout, "drain").catch(() => undefined);
      // Allow Node to handle Ctrl-C between two users.
      await setImmediate();
    }
    return undefined;
  },
);
