import type { Stack } from "@keyroot/service/stack";
import type { VerifyRequest, VerifyResponse } from "./contactsApp.ts";
import { DemoError } from "./demoError.ts";
import { startProcess } from "./startProcess.ts";

/** The app of a user's contact, in a separate process. */
export interface ContactsApp extends AsyncDisposable {
  /** Verifies a user's key. Whatever the request does not name, such as a server's address, is the stack's. */
  verify(
    request: Pick<VerifyRequest, "userID" | "expectedPublicKey"> & Partial<VerifyRequest>,
  ): Promise<VerifyResponse>;
}

/** Starts the app's process, which ends when the caller disposes of the app or `signal` aborts. */
export function startContactsApp(stack: Stack, signal: AbortSignal): ContactsApp {
  const { rpcUrl: rpc, merkleUrl, contract, chainId, keyType = "curve41417", beaconUrl } = stack;
  if (beaconUrl === undefined) throw new DemoError("The stack has no beacon endpoint.");
  const app = startProcess(new URL("contactsApp.ts", import.meta.url), signal);
  return {
    async verify(changes) {
      const request: VerifyRequest = { rpc, beaconUrl, merkleUrl, contract, chainId, keyType, ...changes };
      return JSON.parse(await app.request(JSON.stringify(request))) as VerifyResponse;
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}
