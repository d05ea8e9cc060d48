import { rateLimitsOf, type ResolvedConfig } from "../config/config.ts";

const UNITS = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
  [1, "second"],
] as const;

/** Returns lines about publishing, rate limits and hold period, for the output of `keyroot serve` and of the stack. */
export function describeConfig(config: ResolvedConfig): string[] {
  const { chain, schedule, holdPeriod } = config;
  const { caller, address, refused } = rateLimitsOf(config);
  const rates = [
    [caller, "for each caller"],
    [address, "for each address"],
    [refused, "refused for each address"],
  ] as const;
  const limits = rates.flatMap(([limit, whose]) => (limit === 0 ? [] : [`${limit.toLocaleString("en")} ${whose}`]));
  return [
    `Publishing         ${chain === undefined ? "off. Keys stay unpublished. Set KEYROOT_RPC_URL, KEYROOT_CHAIN_ID, KEYROOT_CONTRACT and KEYROOT_FILES" : describeSchedule(schedule)}`,
    ...(chain === undefined ? [] : [`  to               ${describeTarget(chain)}`]),
    `Requests a minute  ${limits.length === 0 ? "no limit" : limits.join(", ")}`,
    `Hold period        ${holdPeriod === 0 ? "none. Keys can be published at once" : describeSeconds(holdPeriod)}`,
  ];
}

function describeSchedule(schedule: ResolvedConfig["schedule"]): string {
  if (schedule === undefined) return "only on request, by the operator's console or 'keyroot publish-registered'";
  const { every, atLeast } = schedule;
  return `every ${describeSeconds(every)}, from ${atLeast.toLocaleString("en")} ${atLeast === 1 ? "key" : "keys"} on`;
}

function describeTarget({ chainId, contract, files }: NonNullable<ResolvedConfig["chain"]>): string {
  return `registry ${contract}, chain ${chainId}; files in ${[...new Set(Object.values(files))].join(", ")}`;
}

/** Returns a duration in its largest whole unit, such as "90 seconds" or "1 day". */
function describeSeconds(seconds: number): string {
  const [length, unit] = UNITS.find(([length]) => seconds >= length && seconds % length === 0) ?? [1, "second"];
  const count = seconds / length;
  return count === 1 ? `1 ${unit}` : `${count.toLocaleString("en")} ${unit}s`;
}
