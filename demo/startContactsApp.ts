import type { Stack } from "@keyroot/service/stack";
import type { VerifyRequest, VerifyResponse } from "./contactsApp.ts";
import { DemoError } from "./demoError.ts";
import { startProcess } from "./startProcess.ts";

/** The number of the app's processes. A verification needs only the processor, and most machines have several cores. */
const PROCESSES = 2;

/** The app of a user's contact, in separate processes. */
export interface ContactsApp extends AsyncDisposable {
  /**
   * Verifies a user's key in the next process. Whatever the request does not name, such as a server's address, is the
   * stack's.
   */
  verify(
    request: Pick<VerifyRequest, "userID" | "expectedPublicKey"> & Partial<VerifyRequest>,
  ): Promise<VerifyResponse>;
}

/** Starts the app's processes, which end when the caller disposes of the app or `signal` aborts. */
export function startContactsApp(stack: Stack, signal: AbortSignal): ContactsApp {
  const { rpcUrl: rpc, merkleUrl, contract, chainId, keyType = "curve41417", beaconUrl } = stack;
  if (beaconUrl === undefined) throw new DemoError("The stack has no beacon endpoint.");
  const start = () => startProcess(new URL("contactsApp.ts", import.meta.url), signal);
  const processes = Array.from({ length: PROCESSES }, start);
  return {
    async verify(changes) {
      const request: VerifyRequest = { rpc, beaconUrl, merkleUrl, contract, chainId, keyType, ...changes };
      // Take turns.
      const process = processes.shift() ?? start();
      processes.push(process);
      return JSON.parse(await process.request(JSON.stringify(request))) as VerifyResponse;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(processes.map((process) => process[Symbol.asyncDispose]()));
    },
  };
}
