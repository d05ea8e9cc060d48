import { expect } from "chai";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { KeyPublisher } from "../../../packages/service/src/publisher/keyPublisher.ts";
import { makeLogger } from "../../../packages/service/src/api/logger.ts";
import { every, type RepeatedTask } from "../../../packages/service/src/api/base/repeatedTasks.ts";
import { inTurn, publisherTasks } from "../../../packages/service/src/publisher/publisherTasks.ts";

const LOGGER = makeLogger("silent");

describe("tasks in turn", () => {
  /** Two tasks with equal intervals, which run `work`. `rounds` counts their rounds, by name. */
  function twoTasks(work: (name: string) => Promise<void>) {
    const rounds: Record<string, number> = { publishing: 0, comparing: 0 };
    const tasks: RepeatedTask[] = Object.keys(rounds).map((name) => ({
      name,
      intervalMs: 2,
      run: async () => {
        await work(name);
        rounds[name] = (rounds[name] ?? 0) + 1;
      },
    }));
    const stops = inTurn(tasks).map((task) => every(task, LOGGER));
    const stop = () => Promise.all(stops.map((one) => one()));
    return { rounds, stop };
  }

  it("never run at the same time, and each task gets its turn", async () => {
    let running = 0;
    let most = 0;
    const { rounds, stop } = twoTasks(async () => {
      most = Math.max(most, ++running);
      await sleep(5);
      running--;
    });
    while (Object.values(rounds).some((count) => count < 3)) await sleep(1);
    await stop();
    expect(most).to.equal(1);
  });

  it("continue after another task failed", async () => {
    const { rounds, stop } = twoTasks((name) =>
      name === "comparing" ? Promise.reject(new Error("The endpoint is unavailable.")) : Promise.resolve(),
    );
    while ((rounds["publishing"] ?? 0) < 3) await sleep(1);
    await stop();
    expect(rounds["comparing"]).to.equal(0);
  });

  it("do not start after the service has stopped", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
    const started: string[] = [];
    const { stop } = twoTasks(async (name) => {
      started.push(name);
      await released;
    });
    while (started.length === 0) await sleep(1);
    // The other task's timer fires, and its round waits.
    await sleep(10);
    const stopped = stop();
    release(undefined);
    await stopped;
    await nextTurn();
    expect(started).to.have.lengthOf(1);
  });
});

describe("the publisher's tasks", () => {
  it("never answer requests, compare roots, settle changes and publish keys at the same time", async () => {
    const steps: string[] = [];
    const step = async <Result>(name: string, result: Result) => {
      steps.push(`${name} starts`);
      await sleep(5);
      steps.push(`${name} ends`);
      return result;
    };
    const publisher = {
      recheck: () => step("comparing", { differences: [] }),
      countPublishable: () => Promise.resolve(1),
      publish: () => step("publishing", []),
      publishRequested: () => step("answering requests", undefined),
      settleChanges: () => step("settling changes", 0),
      report: () => Promise.resolve([]),
    } as unknown as KeyPublisher;
    const tasks = publisherTasks(publisher, { every: 3600, atLeast: 1 }, LOGGER);
    const { signal } = new AbortController();
    await Promise.all(tasks.map(({ run }) => run(signal)));
    expect(steps).to.deep.equal([
      ...["answering requests starts", "answering requests ends", "comparing starts", "comparing ends"],
      ...["settling changes starts", "settling changes ends", "publishing starts", "publishing ends"],
    ]);
  });
});
