import fc from "fast-check";
import { KeyrootError } from "keyroot";
import { type Plan, plans } from "./attack.ts";
import type { Battlefield } from "./choices.ts";
import { user } from "./registries.ts";

export interface AttackReport {
  attacks: number;
  /** The number of verifications that returned the user's key. */
  accepted: number;
  /** The number of verifications that returned another key. Each is a defect. */
  falselyAccepted: number;
  /** The number of errors that are not Keyroot errors. Each is a defect. */
  unexpected: number;
  /** How often each error code occurred. */
  codes: ReadonlyMap<string, number>;
  /** fast-check's report about a defect, with the seed that repeats it. Undefined if there is no defect. */
  defect: string | undefined;
}

/** Attacks a trust choice with random plans. */
export async function attackChoice(
  { choices, attack }: Battlefield,
  name: string,
  { attacks, seed }: { attacks: number; seed: number },
): Promise<AttackReport> {
  const choice = choices[name];
  if (choice === undefined)
    throw new Error(`There is no trust choice "${name}". Choose from: ${Object.keys(choices).join(", ")}.`);
  const codes = new Map<string, number>();
  const report = { attacks: 0, accepted: 0, falselyAccepted: 0, unexpected: 0, codes };
  const property = fc.asyncProperty(plans, async (plan: Plan) => {
    report.attacks++;
    try {
      const key = await choice.verify(attack(choice, plan), plan);
      if (key === user.pubKey && !plan.expectsForged) report.accepted++;
      else {
        report.falselyAccepted++;
        throw new Error(`The verification accepted ${key}.`);
      }
    } catch (error) {
      if (!(error instanceof KeyrootError)) {
        if (!(error instanceof Error && error.message.startsWith("The verification accepted"))) report.unexpected++;
        throw error;
      }
      codes.set(error.code, (codes.get(error.code) ?? 0) + 1);
    }
  });
  const { errorInstance, counterexample } = await fc.check(property, { seed, numRuns: attacks });
  const defect =
    counterexample === null
      ? undefined
      : `seed ${seed}: ${JSON.stringify(counterexample)}\n${String((errorInstance as Error).stack)}`;
  return { ...report, defect };
}
