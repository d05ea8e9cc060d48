import { expect } from "chai";
import { mock } from "node:test";
import { sendWithRetry } from "../../packages/client/src/shared/retry.ts";
import { ArgumentError, type KeyrootError, TransportError } from "keyroot";
import { ServiceError, TransportError as ClientTransportError } from "@keyroot/client/internal";
import { failure } from "../support/support.ts";

const unreachable = new TransportError("UNREACHABLE", "no answer");
const busy = (retryAfter?: number) => new ServiceError(503, "UNAVAILABLE", "busy", { retryAfter });

describe("sendWithRetry", () => {
  /**
   * Runs a function that fails with these errors and then succeeds. Returns the requested waits in ms, without waiting.
   */
  const waitsAfter = async (errors: readonly KeyrootError[], random: number) => {
    const waits: (number | undefined)[] = [];
    const randomness = mock.method(Math, "random", () => random);
    const timers = mock.method(globalThis, "setTimeout", (resolve: () => void, ms?: number) => {
      waits.push(ms);
      queueMicrotask(resolve);
    });
    const left = [...errors];
    const send = () => {
      const error = left.shift();
      return error === undefined ? Promise.resolve("done") : Promise.reject(error);
    };
    try {
      expect(await sendWithRetry(send, { retries: errors.length })).to.equal("done");
    } finally {
      timers.mock.restore();
      randomness.mock.restore();
    }
    return waits;
  };

  it("waits a random time with a maximum that doubles up to 10 s", async () => {
    const errors = new Array<KeyrootError>(8).fill(unreachable);
    const longest = await waitsAfter(errors, 1 - Number.EPSILON);
    expect(longest.map((ms) => Math.round(ms ?? NaN))).to.deep.equal([
      300, 600, 1200, 2400, 4800, 9600, 10_000, 10_000,
    ]);
    expect(await waitsAfter(errors, 0)).to.deep.equal(errors.map(() => 0));
  });

  it("waits as long as the service requests, up to 30 s", async () => {
    expect(await waitsAfter([busy(0), busy(2), busy(30), busy(86_400)], 0.5)).to.deep.equal([0, 2000, 30_000, 30_000]);
  });

  it("throws the first error if `retries` is 0", async () => {
    const send = mock.fn(() => Promise.reject(unreachable));
    expect(await failure(sendWithRetry(send, { retries: 0 }))).to.equal(unreachable);
    expect(send.mock.callCount()).to.equal(1);
  });

  for (const error of [
    new ArgumentError("ARGUMENT_INVALID", "wrong"),
    new TransportError("ABORTED", "enough"),
    new ClientTransportError("SERVICE_ANSWER_INVALID", "no JSON"),
    new TransportError("REDIRECT_REFUSED", "elsewhere"),
    new TransportError("ANSWER_TOO_LARGE", "large"),
    new ServiceError(500, "DEFECT", "defect"),
    new TypeError("a defect"),
    new RangeError("a defect"),
  ]) {
    it(`throws ${error.name} ${"code" in error ? error.code : ""} without another attempt`, async () => {
      const send = mock.fn(() => Promise.reject(error));
      expect(await failure(sendWithRetry(send, { retries: 3 }))).to.equal(error);
      expect(send.mock.callCount()).to.equal(1);
    });
  }

  it("stops waiting when the signal aborts", async () => {
    const controller = new AbortController();
    const send = mock.fn(() => {
      queueMicrotask(() => {
        controller.abort(new Error("enough"));
      });
      return Promise.reject(busy(30));
    });
    const error = await failure(sendWithRetry(send, { retries: 3, signal: controller.signal }));
    expect(error)
      .to.include({ name: "AbortError", code: "ABORTED" })
      .and.have.nested.property("cause.message", "enough");
    expect(send.mock.callCount()).to.equal(1);
  });
});
