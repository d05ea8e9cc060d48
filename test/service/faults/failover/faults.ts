import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";
import type { NodeSettings } from "./configuration.ts";
import { ENDLESS_MS } from "../../../support/endless.ts";

/** The faults of killFailover.test.ts. Pauses use SIGSTOP, and all other faults use SIGKILL. */
export const FAULTS = [
  ...["leader killed", "leader paused", "synchronous standby killed", "leader paused briefly", "proxy killed"],
  ...["leader killed", "replica killed", "leader paused", "synchronous standby paused", "replica killed"],
] as const;
export type Fault = (typeof FAULTS)[number];

/** Time in ms for which the old leader stays paused after another node leads. */
const RESUME_AFTER_MS = 5_000;
/** The length of a brief pause in ms. It ends near the time when the leader's lock expires (ttl 5 s). */
const BRIEF_MS = { min: 3_500, max: 7_500 };
const STANDBY_PAUSE_MS = 6_000;
const DOWN_MS = 1_000;

/**
 * Injects one fault and repairs it. Returns when the cluster is complete again.
 * @param killReplica kills a replica of the service and starts it again
 */
export async function inject(fault: Fault, cluster: Cluster, killReplica: () => Promise<void>): Promise<void> {
  const { leader, standbys } = await cluster.untilReady();
  const [synchronous = leader] = standbys;
  switch (fault) {
    case "leader killed":
      await cluster.kill(leader);
      await untilOtherLeader(cluster, leader);
      cluster.restart(leader);
      break;
    case "leader paused": {
      const resume = cluster.pause(leader);
      await untilOtherLeader(cluster, leader);
      await sleep(Math.random() * RESUME_AFTER_MS);
      resume();
      break;
    }
    case "leader paused briefly":
      await pauseFor(cluster, leader, BRIEF_MS.min + Math.random() * (BRIEF_MS.max - BRIEF_MS.min));
      break;
    case "synchronous standby killed":
      await cluster.kill(synchronous);
      await sleep(DOWN_MS);
      cluster.restart(synchronous);
      break;
    case "synchronous standby paused":
      await pauseFor(cluster, synchronous, STANDBY_PAUSE_MS);
      break;
    case "proxy killed":
      await cluster.killProxy();
      await sleep(DOWN_MS);
      await cluster.restartProxy();
      break;
    case "replica killed":
      await killReplica();
      break;
  }
  await cluster.untilReady();
}

async function pauseFor(cluster: Cluster, node: NodeSettings, ms: number): Promise<void> {
  const resume = cluster.pause(node);
  await sleep(ms);
  resume();
}

async function untilOtherLeader(cluster: Cluster, old: NodeSettings): Promise<void> {
  const deadline = Date.now() + ENDLESS_MS;
  while ((await cluster.findLeader(old)) === undefined) {
    if (Date.now() > deadline) throw new Error(`No leader for ${ENDLESS_MS / 1000} s.`);
    await sleep(100);
  }
}
