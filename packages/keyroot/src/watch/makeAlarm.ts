import { KeyrootError } from "../errors.ts";
import type { UserID } from "../identity/userID.ts";
import type { Bundle } from "../verifier/bundle.ts";
import type { MakeBundleOptions } from "../verifier/makeBundle.ts";
import { withTimeout } from "../transport/timeout.ts";
import { oneEndpoint } from "../trust/oneEndpoint.ts";
import { pinnedBlock } from "../trust/pinnedBlock.ts";
import type { VerifierConfig } from "../verifier/verifierConfig.ts";
import type { Alarm, Condition } from "./alarm.ts";
import { isoTime } from "./alarmConditions.ts";

/** The type of the `makeBundle` function of `keyroot/bundle`. */
export type BundleMaker = (userID: UserID, options: MakeBundleOptions) => Promise<{ bundle: Bundle }>;

/** Makes the alarm for a condition. It includes a bundle if an endpoint provides the necessary proof. */
export async function makeAlarm(
  config: VerifierConfig,
  userID: UserID,
  { code, message, slotID, facts }: Condition,
  { makeBundle, errors, signal }: { makeBundle: BundleMaker; errors: unknown[]; signal: AbortSignal },
): Promise<Alarm> {
  const { registry, servers, now } = config;
  const { chainId, contract } = registry;
  const time = isoTime(now());
  const { hash } = (facts.now ?? facts.published)?.evidence.block ?? {};
  /** Returns undefined if a key, a file or a proof is missing. */
  const make = async (signal: AbortSignal) => {
    const trust = hash === undefined ? oneEndpoint() : pinnedBlock(hash);
    for (const rpc of servers.endpoints) {
      try {
        return (await makeBundle(slotID ?? userID, { ...registry, ...servers.network, trust, rpc, signal })).bundle;
      } catch (error) {
        if (!(error instanceof KeyrootError)) throw error;
      }
    }
    return undefined;
  };
  // The alarm is more important than its evidence.
  const { timeoutMs } = servers.network.limits;
  const bundle = await withTimeout("The function makeBundle", timeoutMs, signal, make).catch((error: unknown) => {
    errors.push(error);
    return undefined;
  });
  const file = { format: "keyroot-alarm-v1", code, time, chainId, contract, userID, message, ...facts, bundle };
  return { code, userID, message, file: { name: `${userID}.alarm.json`, text: JSON.stringify(file) } };
}
