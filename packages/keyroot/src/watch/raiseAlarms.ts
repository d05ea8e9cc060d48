import { forEachAtOnce } from "../engine/forEachAtOnce.ts";
import type { UserID } from "../identity/userID.ts";
import { monotonicNow, withTimeout } from "../transport/timeout.ts";
import type { VerifierConfig } from "../verifier/verifierConfig.ts";
import type { Alarm, Condition } from "./alarm.ts";
import { type BundleMaker, makeAlarm } from "./makeAlarm.ts";

/** An alarm that the app has not accepted yet. */
export interface DueAlarm {
  userID: UserID;
  condition: Condition;
}

interface AlarmOptions {
  makeBundle: BundleMaker;
  onAlarm: (alarm: Alarm) => unknown;
  /** The names of alarms that the app did not accept in earlier rounds. */
  refused: Set<string>;
  /** The list to which the errors of the app's functions are added. */
  errors: unknown[];
  signal: AbortSignal;
}

/** Maximum number of alarms that are made and delivered at the same time. */
const ALARMS_AT_ONCE = 4;
/** Maximum time of all alarms in a round, as a multiple of a verification's time limit. */
const ROUND_TIMES = 3;

/**
 * Makes the alarms and passes them to the app. If an alarm fails or takes too long, it does not delay the other alarms.
 * It is repeated in later rounds, after the others.
 * @returns the conditions whose alarms the app did not accept
 */
export async function raiseAlarms(
  config: VerifierConfig,
  due: readonly DueAlarm[],
  { makeBundle, onAlarm, refused, errors, signal }: AlarmOptions,
): Promise<Set<Condition>> {
  const { timeoutMs } = config.servers.network.limits;
  const end = monotonicNow() + ROUND_TIMES * timeoutMs;
  const nameOf = ({ userID, condition }: DueAlarm) => `${userID} ${condition.id}`;
  const order = [...refused];
  const sorted = [...due].sort((a, b) => order.indexOf(nameOf(a)) - order.indexOf(nameOf(b)));
  const undelivered = new Set(due.map(({ condition }) => condition));
  await forEachAtOnce(ALARMS_AT_ONCE, sorted, async (alarm) => {
    if (monotonicNow() > end) return;
    const { userID, condition } = alarm;
    refused.delete(nameOf(alarm));
    try {
      const made = await makeAlarm(config, userID, condition, { makeBundle, errors, signal });
      await withTimeout("The function onAlarm", timeoutMs, signal, () => Promise.resolve(made).then(onAlarm));
      undelivered.delete(condition);
    } catch (error) {
      if (signal.aborted) throw error;
      refused.add(nameOf(alarm));
      errors.push(error);
    }
  });
  return undelivered;
}
