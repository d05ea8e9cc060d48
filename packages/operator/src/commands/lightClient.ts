import {
  BEACON_NETWORKS,
  COMMITTEE_SIZE,
  follow,
  type Following,
  periodOf,
  TEST_NETWORK,
  timeOf,
} from "keyroot/internal/lightClient";
import { checkSourceUrl, DEFAULT_LIMITS } from "keyroot/internal/transport";
import { checkpointOf } from "./trust.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import type { Outcome } from "./host.ts";
import { TEST_CHECKPOINT } from "../testing/testCheckpoint.ts";

/** `keyroot light-client`: finds the newest finalized block that a checkpoint and the sync committees prove. */
export default async function lightClient(args: ArgsOf<"light-client">): Promise<Outcome> {
  const urls = args.beacon.split(",");
  const { checkpoint, maxCheckpointAgeMs } = checkpointOf(args);
  for (const url of urls) checkSourceUrl("beacon", url, args.allowHttp);
  const name = args.beaconNetwork ?? (checkpoint === TEST_CHECKPOINT ? "test" : "mainnet");
  const network = name === "test" ? TEST_NETWORK : BEACON_NETWORKS[name];
  const following: Following = {
    ...{ network, checkpoint, urls, state: undefined, now: Date.now },
    maxCheckpointAgeMs: maxCheckpointAgeMs ?? network.maxCheckpointAgeMs,
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
}
