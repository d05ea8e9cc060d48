import { expect } from "chai";
import { hash } from "node:crypto";
import { rm } from "node:fs/promises";
import type { KeyRecord } from "keyroot/internal/identity";
import type { RpcCall } from "keyroot/internal/transport";
import { describeOnAnvil, startAnvil } from "../../support/anvil/anvil.ts";
import { lieAt } from "../../support/chain/lyingEndpoint.ts";
import { sampleRecords } from "../../support/samples.ts";
import { failure, never } from "../../support/support.ts";
import { auditedWorld, outcomeOf } from "../../support/chain/auditedWorld.ts";

const records = sampleRecords(6).sort((a, b) => (a.userID < b.userID ? -1 : 1));
const [one = never()] = records;
/** A user with a different key. */
const two = records.find(({ pubKey }) => pubKey !== one.pubKey) ?? never();
const first = records.slice(0, 2);
const second = records.slice(2, 4);
const third = records.slice(4);
const PASSED = { verdict: "passed", codes: [] };
const NAME = "state.sqlite";

describe("a resumed audit", () => {
  const world = auditedWorld();
  let firstRoot: string;
  let secondRoot: string;
  beforeEach(async () => {
    firstRoot = await world.publish(first);
    secondRoot = await world.publish(second);
  });

  const audit = async (changes: Parameters<typeof world.audit>[0] = {}, fresh = false) => {
    using state = await world.openState(NAME, { fresh });
    return outcomeOf(await world.audit({ state, ...changes }));
  };
  describe("after a passed audit", () => {
    beforeEach(async () => {
      expect(await audit()).to.deep.equal(PASSED);
    });

    it("reads only the events of newer blocks", async () => {
      const ranges: unknown[] = [];
      const record = lieAt("eth_getLogs", (forward, [range]) => {
        ranges.push((range as { fromBlock: string }).fromBlock);
        return forward();
      });
      world.lie(record);
      const head = Number(await world.fresh.call("eth_blockNumber", []));
      await world.publish(third);
      expect(await audit()).to.deep.equal(PASSED);
      expect(ranges).to.deep.equal([`0x${(head + 1).toString(16)}`]);
    });

    it("finds a file that was changed or removed after the first audit", async () => {
      await world.writeText(firstRoot, (await world.readText(firstRoot)).replace(one.pubKey, two.pubKey));
      await rm(world.pathOf(`${secondRoot}.json`));
      expect(await audit()).to.deep.equal({
        verdict: "damage",
        codes: ["FILE_INVALID ROOT_MISMATCH", "FILE_MISSING"],
      });
    });

    it("still finds damage that it has reported if it skips files that were valid", async () => {
      const text = await world.readText(firstRoot);
      await world.writeText(firstRoot, text.replace(one.pubKey, two.pubKey));
      await rm(world.pathOf(`${secondRoot}.json`));
      const damage = { verdict: "damage", codes: ["FILE_INVALID ROOT_MISMATCH", "FILE_MISSING"] };
      expect(await audit({ skipKnownFiles: true })).to.deep.equal(PASSED);
      expect(await audit()).to.deep.equal(damage);
      for (let i = 0; i < 2; i++) expect(await audit({ skipKnownFiles: true })).to.deep.equal(damage);
      await world.writeText(firstRoot, text);
      expect((await audit({ skipKnownFiles: true })).codes).to.deep.equal(["FILE_MISSING"]);
    });

    it("finds new users who are missing from their root's file", async () => {
      await world.add(
        firstRoot,
        third.map(({ userID }) => userID),
      );
      expect(await audit()).to.deep.equal({ verdict: "damage", codes: ["USER_HIDDEN"] });
    });

    it("compares users in new files with users in old files", async () => {
      await world.publish([{ ...two, userID: one.userID }, ...third]);
      expect(await audit()).to.deep.equal({ verdict: "damage", codes: ["USER_SUPERSEDED", "USER_TWO_KEYS"] });
    });

    it("accepts a file whose white space has changed", async () => {
      await world.writeText(firstRoot, (await world.readText(firstRoot)).replace("{", "{ "));
      expect(await audit()).to.deep.equal(PASSED);
      expect(await audit()).to.deep.equal(PASSED);
    });
  });

  describe("after an interrupted audit", () => {
    it("reads every file again", async () => {
      const { files } = await world.hostFiles((path) => !path.includes(secondRoot));
      expect(await audit({ files })).to.deep.equal({ verdict: "incomplete", codes: ["FILE_HOST_ERROR"] });
      for (let i = 0; i < 2; i++) {
        const again = await world.hostFiles();
        expect(await audit({ files: again.files })).to.deep.equal(PASSED);
        expect(again.requested.toSorted()).to.deep.equal([firstRoot, secondRoot].toSorted());
      }
    });

    it("reports a file that was removed after its audit", async () => {
      const { files } = await world.hostFiles((path) => !path.includes(secondRoot));
      expect(await audit({ files })).to.deep.equal({ verdict: "incomplete", codes: ["FILE_HOST_ERROR"] });
      await rm(world.pathOf(`${firstRoot}.json`));
      expect(await audit()).to.deep.equal({ verdict: "damage", codes: ["FILE_MISSING"] });
    });

    it("is incomplete if each run can read only one of two files", async () => {
      for (const served of [firstRoot, secondRoot, firstRoot]) {
        const { files } = await world.hostFiles((path) => path.includes(served));
        using state = await world.openState(NAME);
        const report = await world.audit({ state, files });
        expect(outcomeOf(report)).to.deep.equal({ verdict: "incomplete", codes: ["FILE_HOST_ERROR"] });
        expect(report).to.include({ filesRead: 1, rootCount: 2 });
      }
    });

    it("reads every file again with a fresh state", async () => {
      const { files } = await world.hostFiles((path) => !path.includes(secondRoot));
      await audit({ files });
      const again = await world.hostFiles();
      expect(await audit({ files: again.files }, true)).to.deep.equal(PASSED);
      expect(again.requested.toSorted()).to.deep.equal([firstRoot, secondRoot].toSorted());
    });

    it("passes if the endpoint failed only during the first run", async () => {
      world.lie((method, params, truth) => {
        // Only the call that reads the roots of many users has no address.
        if (method === "eth_call" && !Object.hasOwn(params[0] as object, "to")) throw new Error();
        return truth(method, params);
      });
      expect(await failure(audit())).to.include({ code: "RPC_ERROR" });
      world.lie();
      const again = await world.hostFiles();
      expect(await audit({ files: again.files })).to.deep.equal(PASSED);
      expect(again.requested).to.have.lengthOf(2);
    });
  });

  it("reads events that the endpoint withheld from the first audit", async () => {
    world.lie(lieAt("eth_getLogs", async (forward) => ((await forward()) as unknown[]).slice(1)));
    expect(await audit()).to.deep.equal({ verdict: "damage", codes: ["LOG_WITHHELD"] });
    world.lie();
    expect(await audit()).to.deep.equal(PASSED);
  });

  it("finds users who are missing from a manipulated state", async () => {
    using state = await world.openState(NAME);
    const text = await world.readText(firstRoot);
    // Record the first file without its users.
    state.recordFile(firstRoot, hash("sha256", text), new Uint8Array());
    state.save();
    expect(outcomeOf(await world.audit({ state }))).to.deep.equal({ verdict: "damage", codes: ["USER_HIDDEN"] });
  });
});

describeOnAnvil("a resumed audit after a reorganization", () => {
  const world = auditedWorld(startAnvil);
  const publish = (records: readonly KeyRecord[]) => world.publish(records);
  const audit = async () => {
    using state = await world.openState(NAME);
    return outcomeOf(await world.audit({ state }));
  };
  const call: RpcCall = (method, params) => world.fresh.call(method, params);
  const mine = (count: number) => call("anvil_mine", [`0x${count.toString(16)}`]);

  it("reports a removed root only once", async () => {
    await publish(first);
    await publish(second);
    expect(await audit()).to.deep.equal(PASSED);
    await call("anvil_rollback", [1]);
    await mine(2);
    expect(await audit()).to.deep.equal({ verdict: "damage", codes: ["ROOT_REORGANIZED"] });
    expect(await audit()).to.deep.equal(PASSED);
  });

  it("reports a root that moved to another block as a notice", async () => {
    await publish(first);
    await publish(second);
    expect(await audit()).to.deep.equal(PASSED);
    await call("anvil_rollback", [1]);
    await mine(1);
    await publish(second);
    expect(await audit()).to.deep.equal({ verdict: "passed", codes: ["CHAIN_REORGANIZED"] });
    expect(await audit()).to.deep.equal(PASSED);
  });

  it("reports the root that moved to another block and the root that was removed", async () => {
    await publish(first);
    await publish(second);
    expect(await audit()).to.deep.equal(PASSED);
    await call("anvil_rollback", [2]);
    await mine(1);
    await publish(second);
    await mine(1);
    expect(await audit()).to.deep.equal({ verdict: "damage", codes: ["CHAIN_REORGANIZED", "ROOT_REORGANIZED"] });
  });
});
