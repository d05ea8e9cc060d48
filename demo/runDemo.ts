import type { Stack } from "@keyroot/service/stack";
import { AdminClient, type PublishedBatch } from "@keyroot/client/operator";
import { fetchBlock } from "keyroot/internal/ethereum";
import { DEFAULT_LIMITS, RPC_LIMITS, rpcCaller } from "keyroot/internal/transport";
import type { KeyRecord } from "keyroot/internal/identity";
import { generateKeyOf, loadKeyType } from "keyroot/internal/keyTypes";
import { bytesToBase64 } from "keyroot/internal/bytes";
import { publishAccountVictims } from "./accountVictims.ts";
import { attackContact, type OnRejected, type RejectedAttacks, startAttacker } from "./attackContact.ts";
import { fetchKeys, type Provisioned, provisionUsers } from "./samplePartner.ts";
import { attackRegistrations, type RegistrationAttack } from "./attacks/registrationAttacks.ts";
import { startContactsApp } from "./startContactsApp.ts";
import { DemoError } from "./demoError.ts";

const LIMITS = { maxBytes: RPC_LIMITS.maxBytes, timeoutMs: DEFAULT_LIMITS.timeoutMs };

/** The result of the demo. To stop the attacker's servers, dispose of the result. */
export interface DemoResult extends Pick<Provisioned, "bizID" | "serverToken">, RejectedAttacks, AsyncDisposable {
  records: KeyRecord[];
  published: PublishedBatch[];
  /** Number of keys that the contact's app verified. */
  verified: number;
  registrations: RegistrationAttack[];
}

/** Functions that the demo calls after its steps. */
export interface DemoListener {
  provisioned?: (provisioned: Provisioned) => void;
  registrations?: (attacks: readonly RegistrationAttack[]) => void;
  published?: (batches: readonly PublishedBatch[]) => void;
  verified?: (count: number) => void;
  rejected?: OnRejected;
}

/**
 * Runs the demo on a stack with a service:
 *
 * 1. A partner creates users, and the users' apps register keys. Two attacks on the registration fail.
 * 2. The service publishes the keys in two batches.
 * 3. A contact's app verifies each key and rejects every attack. It relies only on the checkpoint, and on no server.
 * @throws DemoError DEMO_FAILED at the first step with an unexpected outcome
 */
export async function runDemo(stack: Stack, listener: DemoListener, signal: AbortSignal): Promise<DemoResult> {
  if (stack.service === undefined) throw new DemoError("The stack has no partner service.");
  const keyType = await loadKeyType(stack.keyType ?? "curve41417");
  // The other processes start while the service creates users.
  await using app = startContactsApp(stack, signal);
  await using starting = new AsyncDisposableStack();
  const attacker = starting.use(startAttacker(signal));
  const olderBlock = await fetchBlock(rpcCaller(stack.rpcUrl, LIMITS), "latest");
  const provisioned = await provisionUsers(stack.service, { ...stack, keyType }, signal);
  listener.provisioned?.(provisioned);
  const registrations = await attackRegistrations(stack.service, { ...stack, keyType }, provisioned, signal);
  listener.registrations?.(registrations);
  const published = await new AdminClient(stack.service).publishRegistered();
  listener.published?.(published);

  const records = await fetchKeys(provisioned, signal);
  const responses = await Promise.all(
    records.map(({ userID, pubKey }) => app.verify({ userID, expectedPublicKey: pubKey })),
  );
  for (const [i, response] of responses.entries()) {
    if ("code" in response)
      throw new DemoError(`The app rejected the key of ${records[i]?.userID}. ${response.code}: ${response.message}`);
  }
  listener.verified?.(records.length);

  // The victim's key is in the last batch. Attacks use the root of the first batch where they need another batch's
  // root.
  const [firstBatch, secondBatch] = published;
  const victim = records[provisioned.users.findLastIndex(({ region }) => region === "eu-west-1")];
  if (firstBatch === undefined || secondBatch === undefined || victim === undefined) {
    throw new DemoError("The service must publish two batches.");
  }
  const accounts = await publishAccountVictims(stack, stack.contract, keyType);
  const attackersKey = bytesToBase64((await generateKeyOf(keyType.name)).publicKey);
  const context = { keyType, victim, attackersKey, otherRoot: firstBatch.root, olderBlock, accounts };
  const attacked = await attackContact(stack, { app, attacker }, context, listener.rejected);
  const { bizID, serverToken } = provisioned;
  const result = { bizID, serverToken, records, published, verified: records.length, registrations, ...attacked };
  const running = starting.move();
  return { ...result, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
