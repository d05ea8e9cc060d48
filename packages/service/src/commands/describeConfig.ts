import type { ResolvedPublisherConfig, Schedule } from "../config/publisherConfig.ts";
import { rateLimitsOf, type ResolvedConfig } from "../config/serviceConfig.ts";

const UNITS = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
  [1, "second"],
] as const;

/** Returns lines about publishing, rate limits and hold period, for the output of `keyroot serve`. */
export function describeService(config: ResolvedConfig): string[] {
  const { registry, holdPeriod } = config;
  const { caller, address, refused } = rateLimitsOf(config);
  const rates = [
    [caller, "for each caller"],
    [address, "for each address"],
    [refused, "refused for each address"],
  ] as const;
  const limits = rates.flatMap(([limit, whose]) => (limit === 0 ? [] : [`${limit.toLocaleString("en")} ${whose}`]));
  return [
    `Publishing         ${registry === undefined ? "off. Keys stay unpublished. Set KEYROOT_CHAIN_ID and KEYROOT_CONTRACT, and run 'keyroot publisher'" : "by the process 'keyroot publisher', with the same database"}`,
    ...(registry === undefined ? [] : [`  to               ${describeRegistry(registry)}`]),
    `Requests a minute  ${limits.length === 0 ? "no limit" : limits.join(", ")}`,
    `Hold period        ${holdPeriod === 0 ? "none. Keys can be published at once" : describeSeconds(holdPeriod)}`,
  ];
}

/** Returns lines about schedule, registry and stores, for the output of `keyroot publisher`. */
export function describePublisher({ chain, schedule }: ResolvedPublisherConfig): string[] {
  return [
    `Publishing         ${describeSchedule(schedule)}`,
    `  to               ${describeRegistry(chain)}; files in ${[...new Set(Object.values(chain.files))].join(", ")}`,
  ];
}

function describeSchedule(schedule: Schedule | undefined): string {
  const request = "on request, by the operator's console or 'keyroot publish-registered'";
  if (schedule === undefined) return `only ${request}`;
  const { every, atLeast } = schedule;
  const keys = `${atLeast.toLocaleString("en")} ${atLeast === 1 ? "key" : "keys"}`;
  return `every ${describeSeconds(every)}, from ${keys} on; also ${request}`;
}

function describeRegistry({ contract, chainId }: { contract: string; chainId: number }): string {
  return `registry ${contract}, chain ${chainId}`;
}

/** Returns a duration in its largest whole unit, such as "90 seconds" or "1 day". */
function describeSeconds(seconds: number): string {
  const [length, unit] = UNITS.find(([length]) => seconds >= length && seconds % length === 0) ?? [1, "second"];
  const count = seconds / length;
  return count === 1 ? `1 ${unit}` : `${count.toLocaleString("en")} ${unit}s`;
}
