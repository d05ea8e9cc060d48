import type { ExplorerAttack } from "@keyroot/operator/explorer";
import type { Stack } from "@keyroot/service/stack";
import { bytesToBase64 } from "keyroot/internal/bytes";
import { generateKeyPair, type KeyRecord } from "keyroot/internal/identity";
import type { AttackerConfig } from "./attacker.ts";
import { BEACON_ATTACKS } from "./attacks/beaconAttacks.ts";
import { type AttackContext, ATTACKS } from "./attacks/keyAttacks.ts";
import type { VerifyRequest } from "./contactsApp.ts";
import { DemoError } from "./demoError.ts";
import type { ContactsApp } from "./startContactsApp.ts";
import { type LineProcess, startProcess } from "./startProcess.ts";

/** The user under attack, and data that attacks use. */
export interface Victim extends Pick<AttackContext, "otherRoot" | "olderBlock"> {
  record: KeyRecord;
}

/** The outcome of the attacks. */
export interface RejectedAttacks {
  rejected: { attack: string; code: string }[];
  /** The attacks that visitors can try in the explorer, with the attacker's servers. */
  attacks: ExplorerAttack[];
}

/** Called after an attack is rejected. @param code the error code that the app reports */
export type OnRejected = (attack: string, description: string, code: string) => void;

/** Starts the attacker's process. The process ends when the caller disposes of the process or `signal` aborts. */
export function startAttacker(signal: AbortSignal): LineProcess {
  return startProcess(new URL("attacker.ts", import.meta.url), signal);
}

/**
 * Runs every attack on a contact's app. The attacker is a separate process between the app and the app's servers.
 * @throws DemoError DEMO_FAILED if an attack is not rejected with the expected code
 */
export async function attackContact(
  { rpcUrl, merkleUrl, beaconUrl = "" }: Stack,
  { app, attacker }: { app: ContactsApp; attacker: LineProcess },
  { record: victim, otherRoot, olderBlock }: Victim,
  onRejected?: OnRejected,
): Promise<RejectedAttacks> {
  const { publicKey: attackersKey } = generateKeyPair();
  const context: AttackContext = { victim: victim.userID, attackersKey, otherRoot, olderBlock };
  const attackersPlace = { attackersKey: bytesToBase64(attackersKey), rpcUrl, merkleUrl, beaconUrl };
  const config: AttackerConfig = { ...context, ...attackersPlace };
  const attackersUrl = await attacker.request(JSON.stringify(config));

  const rejected: RejectedAttacks["rejected"] = [];
  const attacks: ExplorerAttack[] = [];
  const reject = async (
    { name, description, expectedCode }: { name: string; description: string; expectedCode: string },
    changes: Partial<VerifyRequest>,
  ) => {
    const response = await app.verify(victim, changes);
    if (!("code" in response)) throw new DemoError(`The app did not reject the attack ${name}.`);
    const { code } = response;
    if (code !== expectedCode)
      throw new DemoError(`The app rejected the attack ${name} with ${code} instead of ${expectedCode}.`);
    rejected.push({ attack: name, code });
    onRejected?.(name, description, code);
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
  return { rejected, attacks };
}
