import type { Stack } from "@keyroot/service/stack";
import type { KeyRecord } from "keyroot/internal/identity";
import type { VerifyRequest, VerifyResponse } from "./contactsApp.ts";
import { DemoError } from "./demoError.ts";
import { startProcess } from "./startProcess.ts";

/** The app of a user's contact, in a separate process. */
export interface ContactsApp extends AsyncDisposable {
  /** Verifies a user's key on the stack. @param changes replace parts of the request, such as a server's address */
  verify(record: KeyRecord, changes?: Partial<VerifyRequest>): Promise<VerifyResponse>;
}

/** Starts the app's process. The process ends when the caller disposes of the app or `signal` aborts. */
export function startContactsApp(stack: Stack, signal: AbortSignal): ContactsApp {
  const { rpcUrl: rpc, merkleUrl, contract, chainId, beaconUrl } = stack;
  if (beaconUrl === undefined) throw new DemoError("The stack has no beacon endpoint.");
  const app = startProcess(new URL("contactsApp.ts", import.meta.url), signal);
  return {
    async verify({ userID, pubKey }, changes = {}) {
      const honest = { rpc, beaconUrl, merkleUrl, contract, chainId, userID, expectedPublicKey: pubKey };
      const request: VerifyRequest = { ...honest, ...changes };
      return JSON.parse(await app.request(JSON.stringify(request))) as VerifyResponse;
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}
