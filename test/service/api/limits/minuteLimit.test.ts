import { expect } from "chai";
import { setImmediate as turn } from "node:timers/promises";
import { MinuteLimit, type ShareCount } from "../../../../packages/service/src/api/limits/minuteLimit.ts";

const LIMIT = 100;
const STEP = LIMIT / 10;
const ADDRESS = "192.0.2.1";

describe("MinuteLimit", () => {
  const clock = performance.now.bind(performance);
  let now: number;
  beforeEach(() => {
    now = 1_000_000;
    performance.now = () => now;
  });
  afterEach(() => {
    performance.now = clock;
  });

  /** The count of all replicas. It restarts a minute after its first report. */
  function sharedCount() {
    const reports: number[] = [];
    let [counted, ends] = [0, 0];
    const share: ShareCount = async (_address, requests) => {
      await turn();
      if (now >= ends) [counted, ends] = [0, now + 60_000];
      counted += requests;
      reports.push(requests);
      return { requests: counted, endsInMs: ends - now };
    };
    return { share, reports };
  }
  /** Sends requests to the replicas in turns. @returns the number of accepted requests */
  async function accepted(requests: number, replicas: MinuteLimit[]): Promise<number> {
    let count = 0;
    for (let i = 0; i < requests; i++) {
      if (replicas[i % replicas.length]?.count(ADDRESS).exceeded === false) count++;
      await turn();
      await turn();
    }
    return count;
  }

  it("limits one replica exactly, in every minute", async () => {
    for (const share of [undefined, sharedCount().share]) {
      const limit = new MinuteLimit(LIMIT, share);
      for (let minute = 0; minute < 3; minute++) {
        expect(await accepted(2 * LIMIT, [limit])).to.equal(LIMIT);
        now += 60_001;
      }
    }
  });

  it("lets each replica exceed the limit by at most a tenth", async () => {
    for (const size of [2, 3, 5]) {
      const { share } = sharedCount();
      const replicas = Array.from({ length: size }, () => new MinuteLimit(LIMIT, share));
      for (let minute = 0; minute < 3; minute++) {
        expect(await accepted(3 * LIMIT, replicas)).to.be.within(LIMIT - size * STEP, LIMIT + size * STEP);
        now += 60_001;
      }
    }
  });

  it("accepts an address that stays below the limit in every minute", async () => {
    const { share } = sharedCount();
    const replicas = [new MinuteLimit(LIMIT, share), new MinuteLimit(LIMIT, share)];
    for (let i = 0; i < 10 * LIMIT; i++) {
      expect(replicas[i % 2]?.count(ADDRESS).exceeded).to.equal(false);
      await turn();
      await turn();
      // This makes 80 requests per minute.
      now += 750;
    }
  });

  it("shares a count at most ten times per minute", async () => {
    const { share, reports } = sharedCount();
    await accepted(50 * LIMIT, [new MinuteLimit(LIMIT, share)]);
    expect(reports).to.deep.equal(Array.from({ length: 10 }, () => STEP));
  });

  it("does not share the next count before the previous one is answered", async () => {
    let [reports, pending] = [0, 0];
    const share: ShareCount = () => {
      reports++;
      pending++;
      return new Promise(() => undefined);
    };
    expect(await accepted(3 * LIMIT, [new MinuteLimit(LIMIT, share)])).to.equal(LIMIT);
    expect([reports, pending]).to.deep.equal([1, 1]);
  });

  it("uses its own count if sharing fails", async () => {
    for (const share of [() => Promise.reject(new Error("no database")), () => Promise.resolve(undefined)])
      expect(await accepted(3 * LIMIT, [new MinuteLimit(LIMIT, share)])).to.equal(LIMIT);
  });

  it("reports the remaining requests and the reset time", () => {
    const limit = new MinuteLimit(2);
    expect(limit.exceeded(ADDRESS)).to.equal(undefined);
    expect(limit.count(ADDRESS)).to.deep.equal({ limit: 2, remaining: 1, resetSeconds: 60, exceeded: false });
    now += 10_500;
    expect(limit.count(ADDRESS)).to.deep.equal({ limit: 2, remaining: 0, resetSeconds: 50, exceeded: false });
    const over = { limit: 2, remaining: 0, resetSeconds: 50, exceeded: true };
    expect(limit.count(ADDRESS)).to.deep.equal(over);
    expect(limit.exceeded(ADDRESS)).to.deep.equal(over);
    expect(limit.exceeded("192.0.2.2")).to.equal(undefined);
  });

  it("drops the counters of old addresses if there are more than 100,000", () => {
    const limit = new MinuteLimit(1);
    for (let i = 0; i <= 100_000; i++) limit.count(`address ${i}`);
    expect(limit.exceeded("address 0")).to.equal(undefined);
    expect(limit.exceeded("address 1")).to.have.property("exceeded", true);
  });
});
