import type { ExplorerAttack } from "@keyroot/operator/explorer";
import type { Stack } from "@keyroot/service/stack";
import { AdminClient, type PublishedBatch } from "@keyroot/service/admin";
import { bytesToBase64 } from "keyroot/bytes";
import { fetchBlock } from "keyroot/ethereum";
import { DEFAULT_LIMITS, rpcCaller } from "keyroot/transport";
import { generateKeyPair, type KeyRecord } from "keyroot/identity";
import type { AttackerConfig } from "./attacker.ts";
import { ATTACKS, type AttackContext } from "./attacks/keyAttacks.ts";
import { BEACON_ATTACKS } from "./attacks/beaconAttacks.ts";
import type { VerifyRequest, VerifyResponse } from "./contactsApp.ts";
import { fetchKeys, type Provisioned, provisionUsers } from "./samplePartner.ts";
import { attackRegistrations, type RegistrationAttack } from "./attacks/registrationAttacks.ts";
import { startProcess } from "./startProcess.ts";
import { DemoError } from "./demoError.ts";

const LIMITS = { maxBytes: DEFAULT_LIMITS.rpcBytes, timeoutMs: DEFAULT_LIMITS.timeoutMs };

/** The result of the demo. Disposing of the result stops the attacker's servers. */
export interface DemoResult extends Pick<Provisioned, "bizID" | "serverToken">, AsyncDisposable {
  records: KeyRecord[];
  published: PublishedBatch[];
  /** Number of keys that the contact's app verified. */
  verified: number;
  rejected: { attack: string; code: string }[];
  registrations: RegistrationAttack[];
  /** The attacker's servers, which visitors can try in the explorer. */
  attacks: ExplorerAttack[];
}

/** Functions that the demo calls after its steps. */
export interface DemoListener {
  provisioned?: (provisioned: Provisioned) => void;
  registrations?: (attacks: readonly RegistrationAttack[]) => void;
  published?: (batches: readonly PublishedBatch[]) => void;
  verified?: (count: number) => void;
  rejected?: (attack: string, description: string, code: string) => void;
}

/**
 * Runs the demo on a stack with a service. A partner creates users, and their apps register keys. Two attacks on the
 * registration fail. The service publishes the keys in two batches. A contact's app, which trusts only its checkpoint
 * and no server, verifies each key and rejects every attack.
 * @throws DemoError DEMO_FAILED at the first step with an unexpected outcome
 */
export async function runDemo(stack: Stack, listener: DemoListener, signal: AbortSignal): Promise<DemoResult> {
  const { rpcUrl, merkleUrl, contract, chainId, beaconUrl } = stack;
  if (stack.service === undefined) throw new DemoError("The stack has no partner service.");
  if (beaconUrl === undefined) throw new DemoError("The stack has no beacon endpoint.");
  const { hash: olderBlock } = await fetchBlock(rpcCaller(rpcUrl, LIMITS), "latest");
  const provisioned = await provisionUsers(stack.service, stack, signal);
  listener.provisioned?.(provisioned);
  const registrations = await attackRegistrations(stack.service, stack, provisioned, signal);
  listener.registrations?.(registrations);
  const published = await new AdminClient(stack.service).publishRegistered();
  listener.published?.(published);

  const records = await fetchKeys(provisioned, signal);
  await using app = startProcess(new URL("contactsApp.ts", import.meta.url), signal);
  const verify = async ({ userID, pubKey }: KeyRecord, changes: Partial<VerifyRequest> = {}) => {
    const honest = { rpc: rpcUrl, beaconUrl, merkleUrl, contract, chainId, userID, expectedPublicKey: pubKey };
    const request: VerifyRequest = { ...honest, ...changes };
    return JSON.parse(await app.request(JSON.stringify(request))) as VerifyResponse;
  };

  for (const record of records) {
    const response = await verify(record);
    if ("code" in response)
      throw new DemoError(`The key of ${record.userID} was rejected: ${response.code}: ${response.message}`);
  }
  listener.verified?.(records.length);

  // The victim is in the last batch. The root of the first batch serves as the root of another batch.
  const [firstBatch, secondBatch] = published;
  const victim = records[provisioned.users.findLastIndex(({ region }) => region === "eu-west-1")];
  if (firstBatch === undefined || secondBatch === undefined || victim === undefined) {
    throw new DemoError("There are not two batches.");
  }
  const { publicKey: attackersKey } = generateKeyPair();
  const context: AttackContext = { victim: victim.userID, attackersKey, otherRoot: firstBatch.root, olderBlock };
  const attackersPlace = { attackersKey: bytesToBase64(attackersKey), rpcUrl, merkleUrl, beaconUrl };
  const config: AttackerConfig = { ...context, ...attackersPlace };
  await using starting = new AsyncDisposableStack();
  const attacker = starting.use(startProcess(new URL("attacker.ts", import.meta.url), signal));
  const attackersUrl = await attacker.request(JSON.stringify(config));

  const rejected: DemoResult["rejected"] = [];
  const attacks: ExplorerAttack[] = [];
  const reject = async (
    { name, description, expectedCode }: { name: string; description: string; expectedCode: string },
    changes: Partial<VerifyRequest>,
  ) => {
    const response = await verify(victim, changes);
    if (!("code" in response)) throw new DemoError(`The attack ${name} was not rejected.`);
    const { code } = response;
    if (code !== expectedCode)
      throw new DemoError(`The attack ${name} was rejected with ${code}, not ${expectedCode}.`);
    rejected.push({ attack: name, code });
    listener.rejected?.(name, description, code);
  };
  for (const { name, description, expectedCode, codeWithProof = expectedCode, serverKey } of ATTACKS) {
    const changes = {
      rpc: `${attackersUrl}/${name}/rpc`,
      merkleUrl: `${attackersUrl}/${name}/files`,
      ...(serverKey && { expectedPublicKey: bytesToBase64(serverKey(context)) }),
    };
    await reject({ name, description, expectedCode: codeWithProof }, changes);
    attacks.push({ name, description, expectedCode, userID: victim.userID, ...changes });
  }
  for (const attack of BEACON_ATTACKS) await reject(attack, { beaconUrl: `${attackersUrl}/${attack.name}/beacon` });
  const { bizID, serverToken } = provisioned;
  const result = { bizID, serverToken, records, published, verified: records.length, rejected, registrations, attacks };
  const running = starting.move();
  return { ...result, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
