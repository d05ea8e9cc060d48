import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import fc from "fast-check";
import { batchingLoader } from "../../../../packages/service/src/api/database/batchingLoader.ts";

/** A statement that was sent. The test provides its result. */
interface Sent {
  items: readonly number[];
  answer: () => void;
  fail: (error: Error) => void;
}

describe("batchingLoader", () => {
  let sent: Sent[];
  let load: (item: number) => Promise<string>;
  beforeEach(() => {
    sent = [];
    load = batchingLoader(
      (items: readonly number[]) =>
        new Promise<string[]>((resolve, reject) => {
          sent.push({
            items,
            answer: () => {
              resolve(items.map((item) => `result ${item}`));
            },
            fail: reject,
          });
        }),
    );
  });
  /** Waits for the event loop turns in which statements are sent. */
  const turns = async () => {
    for (let i = 0; i < 5; i++) await setImmediate();
  };
  const itemsOf = (statements: readonly Sent[]) => statements.map(({ items }) => [...items]);

  it("sends all calls of one event-loop turn in one statement", async () => {
    const results = Promise.all([load(1), load(2), load(3)]);
    await turns();
    expect(itemsOf(sent)).to.deep.equal([[1, 2, 3]]);
    sent[0]?.answer();
    expect(await results).to.deep.equal(["result 1", "result 2", "result 3"]);
  });

  it("sends at most two statements at a time", async () => {
    const results: Promise<string>[] = [];
    for (let item = 1; item <= 6; item++) {
      results.push(load(item));
      await turns();
    }
    expect(itemsOf(sent)).to.deep.equal([[1], [2]]);
    sent[1]?.answer();
    await turns();
    expect(itemsOf(sent)).to.deep.equal([[1], [2], [3, 4, 5, 6]]);
    sent[0]?.answer();
    sent[2]?.answer();
    expect(await Promise.all(results)).to.deep.equal([1, 2, 3, 4, 5, 6].map((item) => `result ${item}`));
  });

  it("sends at most 100 items per statement", async () => {
    const results = Array.from({ length: 250 }, (_, item) => load(item));
    await turns();
    for (let i = 0; i < 3; i++) {
      sent[i]?.answer();
      await turns();
    }
    expect(sent.map(({ items }) => items.length)).to.deep.equal([100, 100, 50]);
    expect(await Promise.all(results)).to.deep.equal(Array.from({ length: 250 }, (_, item) => `result ${item}`));
  });

  it("queries an item again for each call in a later turn", async () => {
    for (let i = 0; i < 2; i++) {
      const result = load(7);
      await turns();
      sent[i]?.answer();
      expect(await result).to.equal("result 7");
    }
    expect(itemsOf(sent)).to.deep.equal([[7], [7]]);
  });

  it("rejects only the calls of a failed statement", async () => {
    const failing = [load(1), load(2)].map((result) => result.catch((error: unknown) => String(error)));
    await turns();
    sent[0]?.fail(new Error("the connection ended"));
    expect(await Promise.all(failing)).to.deep.equal(Array(2).fill("Error: the connection ended"));
    const later = load(3);
    await turns();
    sent[1]?.answer();
    expect(await later).to.equal("result 3");
  });

  it("returns results of statements that were sent after the call", async () => {
    const step = fc.oneof(fc.constant("call"), fc.constant("turn"), fc.nat(1), fc.constant("fail"));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const running = new Set<Sent>();
        let calls = 0;
        let mostRunning = 0;
        const tested = batchingLoader((items: readonly number[]) => {
          for (const item of items) expect(item).to.be.lessThan(calls);
          const { promise, resolve, reject } = Promise.withResolvers<string[]>();
          const one = {
            items,
            answer: () => {
              resolve(items.map((item) => `result ${item}`));
            },
            fail: reject,
          };
          running.add(one);
          mostRunning = Math.max(mostRunning, running.size);
          return promise.finally(() => running.delete(one));
        });
        const results: Promise<string>[] = [];
        const call = (item: number) => results.push(tested(item).catch((error: unknown) => `${String(error)} ${item}`));
        for (const each of steps) {
          if (each === "call") call(calls++);
          else if (each === "turn") await turns();
          else if (each === "fail") [...running][0]?.fail(new Error("failed"));
          else [...running][each]?.answer();
        }
        while (running.size > 0 || (await turns(), running.size > 0)) {
          [...running][0]?.answer();
          await turns();
        }
        const expected = (item: number) => [`result ${item}`, `Error: failed ${item}`];
        (await Promise.all(results)).forEach((result, item) => expect(expected(item)).to.include(result));
        expect(results).to.have.length(calls);
        expect(mostRunning).to.be.at.most(2);
      }),
    );
  });
});
