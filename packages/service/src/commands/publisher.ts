import { command, integer, json, MAX_TIMER_SECONDS } from "@keyroot/operator/definition";

/**
 * The `keyroot publisher` command publishes registered keys on its schedule and on request, until Ctrl-C or SIGTERM. It
 * is configured by environment variables.
 */
export const publisher = command(
  {
    summary: "Publish registered keys until Ctrl-C. Configure it with environment variables",
    options: {
      every: integer(
        "seconds",
        "Number of seconds between the starts of two publishing rounds. 0 publishes only on request",
        { min: 0, max: MAX_TIMER_SECONDS, default: 0 },
      ),
      atLeast: integer(
        "n",
        "Minimum number of keys in a publishing round. If the hold period of fewer keys is over, the round publishes nothing",
        { min: 1, default: 1, onlyWith: { every: true } },
      ),
      json,
    },
  },
  async ({ every, atLeast, json }) => {
    const { printOutcome, untilStopped } = await import("@keyroot/operator/commands");
    const { readPublisherConfig } = await import("../config/readConfig.ts");
    const { startPublisher } = await import("../publisher/startPublisher.ts");
    const { describePublisher } = await import("./describeConfig.ts");
    const stopped = untilStopped();
    const config = { ...readPublisherConfig(process.env), ...(every > 0 && { schedule: { every, atLeast } }) };
    const running = await startPublisher(config);
    try {
      const { chainId, contract } = config.chain;
      const lines = [
        ...describePublisher(config),
        "Press Ctrl-C to stop. A publication in progress continues when a publisher starts again.",
      ];
      printOutcome({ json: { chainId, contract, every, atLeast }, text: lines.join("\n") }, json);
      await stopped;
    } finally {
      await running.close();
    }
    return undefined;
  },
);
