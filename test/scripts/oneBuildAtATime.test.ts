import { expect } from "chai";
import type { HookContext } from "hardhat/types/hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { oneBuildAtATime } from "../../scripts/generate/oneBuildAtATime.ts";
import { never, temporaryFolder } from "../support/support.ts";

describe("builds of the contracts", () => {
  const folder = temporaryFolder();

  it("run one after the other", async () => {
    const { default: loadHandlers } = (await oneBuildAtATime.hookHandlers?.solidity?.()) ?? {};
    const { build = never() } = (await loadHandlers?.()) ?? {};
    const context = { config: { paths: { cache: folder.path } } } as unknown as HookContext;
    const steps: string[] = [];
    const next = async () => {
      steps.push("begins");
      await sleep(20);
      steps.push("ends");
      return new Map();
    };
    await Promise.all([1, 2, 3].map(() => build(context, [], undefined, next)));
    expect(steps).to.deep.equal(Array.from({ length: 3 }, () => ["begins", "ends"]).flat());
  });
});
