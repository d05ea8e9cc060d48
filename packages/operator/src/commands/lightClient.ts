import { command, chainOptions, json, text } from "./defineCommand.ts";
import type { Following } from "keyroot/internal/lightClient";
import * as options from "./options.ts";

const { beacon, checkpoint } = options.lightClient;

export const lightClient = command(
  {
    summary: "Follow a beacon chain from a checkpoint to its newest finalized block",
    options: {
      beacon: { ...beacon, required: true },
      checkpoint: { ...checkpoint, required: true },
      beaconNetwork: text("network", "Network of the beacon chain", {
        choices: ["mainnet", "sepolia", "hoodi", "gnosis", "test"],
        defaultText: "test for the local stack's checkpoint, or mainnet",
      }),
      allowHttp: chainOptions.allowHttp,
      json,
    },
  },
  async (args) => {
    const { BEACON_NETWORKS, COMMITTEE_SIZE, follow, periodOf, TEST_NETWORK, timeOf } =
      await import("keyroot/internal/lightClient");
    const { checkSourceUrl, DEFAULT_LIMITS } = await import("keyroot/internal/transport");
    const { TEST_CHECKPOINT } = await import("../testing/testCheckpoint.ts");
    const { checkpointOf } = await import("./trust.ts");
    const urls = args.beacon.split(",");
    const checkpoint = checkpointOf(args);
    for (const url of urls) checkSourceUrl("beacon", url, args.allowHttp);
    const name = args.beaconNetwork ?? (checkpoint === TEST_CHECKPOINT ? "test" : "mainnet");
    const network = name === "test" ? TEST_NETWORK : BEACON_NETWORKS[name];
    const following: Following = {
      ...{ network, checkpoint, urls, state: undefined, now: Date.now },
      maxCheckpointAgeMs: network.maxCheckpointAgeMs,
    };
    const { slot, blockHash, participation } = await follow(following, {
      timeoutMs: DEFAULT_LIMITS.timeoutMs,
      allowHttp: args.allowHttp,
    });
    const startSlot = following.accepted?.[0]?.slot ?? slot;
    const ageSeconds = Math.round((Date.now() - timeOf(network, slot)) / 1000);
    const periods = periodOf(network, slot) - periodOf(network, startSlot);
    const json = { slot, blockHash: blockHash ?? null, ageSeconds, periods, participation };
    return {
      json: { network: name, chainId: network.chainId, checkpoint, ...json },
      text: [
        `The newest finalized block of ${name} is ${blockHash ?? "without an execution block"}.`,
        `  slot           ${slot}, ${ageSeconds} s old`,
        `  signed by      ${participation === 0 ? "no members, because it is the checkpoint" : `${participation} of ${COMMITTEE_SIZE} members of the sync committee`}`,
        `  checkpoint     ${checkpoint}, ${periods} committee periods earlier`,
      ].join("\n"),
    };
  },
);
