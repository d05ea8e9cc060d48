import { expect } from "chai";
import { TransportError } from "keyroot/internal/errors";
import { withRetry } from "../../../packages/operator/src/http/retry.ts";
import { failure } from "../../support/support.ts";

describe("withRetry", () => {
  describe("with a signal", () => {
    for (const [when, retryAfter] of [
      ["between two requests", undefined],
      ["during the pause that a host requests", 60],
    ] as const)
      it(`stops ${when}`, async () => {
        const ending = new AbortController();
        let asked = 0;
        const request = () => {
          asked++;
          setImmediate(() => {
            ending.abort();
          });
          return Promise.reject(new TransportError("UNREACHABLE", "The host is down.", { retryAfter }));
        };
        const retry = { retries: 1, initialDelayMs: 30_000 };
        const error = await failure(withRetry(request, retry, undefined, ending.signal));
        expect(error).to.include({ code: "ABORTED" });
        expect(asked).to.equal(1);
      });

    it("sends no request after the end", async () => {
      const request = () => Promise.reject(new Error("a request"));
      const error = await failure(withRetry(request, undefined, undefined, AbortSignal.abort()));
      expect(error).to.include({ code: "ABORTED" });
    });
  });
});
