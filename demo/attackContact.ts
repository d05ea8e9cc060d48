import type { ExplorerAttacks } from "@keyroot/operator/explorer";
import type { Stack } from "@keyroot/service/stack";
import type { AttackerConfig } from "./attacker.ts";
import { type AttackContext, targetOf } from "./attacks/attack.ts";
import { ATTACKS } from "./attacks/attacks.ts";
import { DemoError } from "./demoError.ts";
import type { ContactsApp } from "./startContactsApp.ts";
import { type LineProcess, startProcess } from "./startProcess.ts";

/** The outcome of the attacks. */
export interface RejectedAttacks {
  rejected: { attack: string; code: string }[];
  /** The attacks that visitors can run in the explorer. */
  attacks: ExplorerAttacks;
}

/** Called after an attack is rejected. @param code the error code that the app reports */
export type OnRejected = (attack: (typeof ATTACKS)[number], code: string) => void;

/** Starts the attacker's process, which ends when the caller disposes of it or `signal` aborts. */
export function startAttacker(signal: AbortSignal): LineProcess {
  return startProcess(new URL("attacker.ts", import.meta.url), signal);
}

/** Starts the attacker's servers between a client and a stack. */
export async function startAttacks(
  attacker: LineProcess,
  { rpcUrl, merkleUrl, beaconUrl = "" }: Stack,
  context: AttackContext,
): Promise<ExplorerAttacks> {
  const config: AttackerConfig = { context, keyType: context.keyType.name, rpcUrl, merkleUrl, beaconUrl };
  const url = await attacker.request(JSON.stringify(config));
  const list = ATTACKS.map((attack) => {
    const { name, attacker, description, expectedCode, target } = attack;
    const sendsFalseKey = target !== undefined;
    return { name, attacker, description, expectedCode, ...targetOf(attack, context), sendsFalseKey };
  });
  return { url, list };
}

/**
 * Runs every attack on a contact's app, from a separate process between the app and its servers.
 * @throws DemoError DEMO_FAILED if an attack is not rejected with the expected code
 */
export async function attackContact(
  stack: Stack,
  { app, attacker }: { app: ContactsApp; attacker: LineProcess },
  context: AttackContext,
  onRejected?: OnRejected,
): Promise<RejectedAttacks> {
  const attacks = await startAttacks(attacker, stack, context);
  // The app's processes divide the attacks among themselves.
  const running = ATTACKS.map((attack) => {
    const { userID, sentKey: expectedPublicKey, contract } = targetOf(attack, context);
    const server = `${attacks.url}/${attack.name}`;
    const servers = { rpc: `${server}/rpc`, merkleUrl: `${server}/files`, beaconUrl: `${server}/beacon` };
    const registry = contract === undefined ? {} : { contract, accounts: true };
    const responding = app.verify({ userID, expectedPublicKey, ...servers, ...registry });
    // The loop below reports the first failure.
    responding.catch(() => undefined);
    return { attack, responding };
  });
  const rejected: RejectedAttacks["rejected"] = [];
  for (const { attack, responding } of running) {
    const { name, expectedCode } = attack;
    const response = await responding;
    if (!("code" in response)) throw new DemoError(`The app did not reject the attack ${name}.`);
    const { code } = response;
    if (code !== expectedCode)
      throw new DemoError(`The app rejected the attack ${name} with ${code} instead of ${expectedCode}.`);
    rejected.push({ attack: name, code });
    onRejected?.(attack, code);
  }
  return { rejected, attacks };
}
