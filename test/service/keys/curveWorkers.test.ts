import { expect } from "chai";
import { readdirSync } from "node:fs";
import { constants, getPriority } from "node:os";
import { CurveWorkers } from "../../../packages/service/src/keys/curveWorkers.ts";
import { FairQueue } from "../../../packages/service/src/keys/fairQueue.ts";
import { add, BASE, encode, multiply, pointsOfSmallOrder } from "../../support/data/curve41417.ts";
import { samplePublicKeys } from "../../support/samples.ts";
import { failure } from "../../support/support.ts";

describe("FairQueue", () => {
  it("takes turns between owners", () => {
    const queue = new FairQueue<string>(10);
    for (const job of ["a1", "a2", "a3", "b1", "c1", "c2"]) queue.add(job.charAt(0), job);
    const taken = Array.from({ length: 7 }, () => queue.next());
    expect(taken).to.deep.equal(["a1", "b1", "c1", "a2", "c2", "a3", undefined]);
    expect(queue.isEmpty).to.equal(true);
  });

  it("rejects only the jobs of an owner beyond the limit", () => {
    const queue = new FairQueue<number>(2);
    expect([1, 2, 3].map((job) => queue.add("a", job))).to.deep.equal([true, true, false]);
    expect(queue.add("b", 4)).to.equal(true);
    queue.next();
    expect(queue.add("a", 5)).to.equal(true);
  });
});

describe("CurveWorkers", () => {
  const workers = new CurveWorkers();
  after(() => workers[Symbol.asyncDispose]());
  const [publicKey = new Uint8Array()] = samplePublicKeys;
  const request = {
    ...{ service: "https://keys.test", registry: undefined, nonce: new Uint8Array(32), expires: 1 },
    ...{ userID: "y".repeat(32), publicKey },
  };

  it("checks keys and reports the reason for a rejection", async () => {
    expect(await workers.run("a", request))
      .to.have.property("response")
      .with.length(32);
    const [, ofOrderTwo = BASE] = pointsOfSmallOrder();
    const wrong = { ...request, publicKey: encode(add(multiply(5n, BASE), ofOrderTwo)) };
    expect(await failure(workers.run("a", wrong))).to.include({ code: "PUBLIC_KEY_NOT_PRIME_ORDER" });
  });

  it("runs at a lower priority than the thread that serves requests", async function () {
    // Only Linux has a priority for each thread.
    if (process.platform !== "linux") return this.skip();
    await workers.run("a", request);
    const threads = readdirSync("/proc/self/task").map(Number);
    const lower = threads.filter((thread) => getPriority(thread) === constants.priority.PRIORITY_BELOW_NORMAL);
    expect(lower).not.to.be.empty;
    expect(lower).not.to.include(process.pid);
  });

  it("takes turns between partners and limits the jobs of each", async () => {
    const order: string[] = [];
    const run = async (owner: string) => {
      await workers.run(owner, request);
      order.push(owner);
    };
    const flood = Array.from({ length: 80 }, () => run("flood").catch((error: unknown) => error));
    await run("other");
    const refused = (await Promise.all(flood)).filter((error) => error !== undefined);
    // The jobs before it had already begun.
    expect(order.indexOf("other")).to.be.at.most(8);
    expect(refused).not.to.be.empty;
    for (const error of refused) expect(error).to.include({ code: "RATE_LIMITED", status: 429, retryAfter: 1 });
  });

  it("rejects unfinished and later jobs when it closes", async () => {
    const closing = new CurveWorkers();
    const jobs = Array.from({ length: 20 }, (_, i) => failure(closing.run(String(i % 3), request)));
    await closing[Symbol.asyncDispose]();
    for (const error of [...(await Promise.all(jobs)), await failure(closing.run("a", request))])
      expect(error).to.include({ code: "UNAVAILABLE", status: 503, retryAfter: 1 });
  });
});
