import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { ArgumentError } from "keyroot/errors";
import { makeKeyRecord, serializeKeyRecord } from "keyroot/identity";
import { generateKeyPair } from "keyroot/identity";
import { randomUserID } from "keyroot/identity";
import { command, outputIsLost } from "./command.ts";
import { Progress } from "./progress.ts";

/** `keyroot sample-users`: records of users that nobody is, one JSON object a line; their private keys are forgotten. */
export default command(async ({ count }: { count: number; json?: boolean }) => {
  if (count < 1) throw new ArgumentError("ARGUMENT_INVALID", `--count must be 1 or more, it is ${count}.`);
  using progress = new Progress();
  // Until all are made, or nobody reads on.
  for (let i = 1; i <= count && !outputIsLost(); i++) {
    const record = makeKeyRecord(randomUserID(), generateKeyPair().publicKey);
    const written = process.stdout.write(`${serializeKeyRecord(record)}\n`);
    // The records themselves show how far it is where they go to a terminal.
    if (!process.stdout.isTTY) progress.update("making key pairs", i, count);
    if (!written) await once(process.stdout, "drain").catch(() => undefined);
    // Lets Ctrl-C through.
    await setImmediate();
  }
  return undefined;
});
