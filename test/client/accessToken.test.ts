import { expect } from "chai";
import { AccessToken } from "../../packages/client/src/shared/accessToken.ts";
import { failure } from "../support/support.ts";

const HOUR = 3_600_000;

/** Creates a token in the service's format, but with an invalid signature. */
function jwt(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "EdDSA" })}.${part(claims)}.c2ln`;
}

describe("AccessToken", () => {
  /**
   * Creates a client. Each exchange returns a new token for four hours. The service's clock is `ahead` ms ahead of the
   * client's.
   */
  function setUp({ ahead = 0 } = {}) {
    const state = { now: 1_800_000_000_000, exchanges: 0 };
    const exchange = async () => {
      state.exchanges++;
      await Promise.resolve();
      const iat = Math.floor((state.now + ahead) / 1000);
      return jwt({ iat, exp: iat + 14_400, jti: state.exchanges });
    };
    return { state, token: new AccessToken(exchange, () => state.now) };
  }

  it("keeps a token until one minute before it expires", async () => {
    const { state, token } = setUp();
    const first = await token.get();
    state.now += 4 * HOUR - 60_001;
    expect(await token.get()).to.equal(first);
    expect(state.exchanges).to.equal(1);
    state.now += 1;
    expect(await token.get()).not.to.equal(first);
    expect(state.exchanges).to.equal(2);
  });

  it("keeps a token for its lifetime if the service's clock differs", async () => {
    for (const ahead of [-24 * HOUR, 24 * HOUR]) {
      const { state, token } = setUp({ ahead });
      const first = await token.get();
      state.now += 3 * HOUR;
      expect(await token.get()).to.equal(first);
      state.now += HOUR;
      expect(await token.get()).not.to.equal(first);
    }
  });

  it("replaces a rejected token once for all callers", async () => {
    const { state, token } = setUp();
    const refused = await token.get();
    const others = await Promise.all(Array.from({ length: 50 }, () => token.replace(refused)));
    expect(new Set(others).size).to.equal(1);
    expect(await token.replace(refused)).to.equal(others[0]);
    expect(state.exchanges).to.equal(2);
  });

  it("returns the token to waiting callers after other callers abort", async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const token = new AccessToken(() => promise, Date.now);
    const controller = new AbortController();
    const aborted = token.get(controller.signal);
    const waiting = token.get(new AbortController().signal);
    controller.abort(new Error("enough"));
    expect(await failure(aborted))
      .to.include({ code: "ABORTED" })
      .and.have.nested.property("cause.message", "enough");
    expect(await failure(token.get(AbortSignal.abort()))).to.include({ code: "ABORTED" });
    const expected = jwt({ iat: 1, exp: 2 });
    resolve(expected);
    expect(await waiting).to.equal(expected);
  });

  it("sends a new request after a failure", async () => {
    let fails = true;
    const expected = jwt({ iat: 1, exp: 2 });
    const token = new AccessToken(
      () => (fails ? Promise.reject(new Error("down")) : Promise.resolve(expected)),
      Date.now,
    );
    const abortedToo = failure(token.get(AbortSignal.abort()));
    expect(await failure(token.get())).to.have.property("message", "down");
    expect(await abortedToo).to.include({ code: "ABORTED" });
    fails = false;
    expect(await token.get()).to.equal(expected);
  });

  it("rejects a token that is not a JWT with iat and exp", async () => {
    const good = jwt({ iat: 1, exp: 2 });
    const claims = [
      {},
      { iat: 1 },
      { exp: 2 },
      { iat: 2, exp: 2 },
      { iat: "1", exp: "2" },
      { iat: 1, exp: null },
      [1, 2],
      7,
    ];
    const texts = ["", "a.b.c", `${good}\r\nX: y`, `${good}.x`, good.slice(0, -4), `${"x".repeat(10_000)}${good}`];
    for (const text of [...texts, ...claims.map((claims) => jwt(claims as object))]) {
      const error = await failure(new AccessToken(() => Promise.resolve(text), Date.now).get());
      expect(error)
        .to.include({ name: "TransportError", code: "SERVICE_ANSWER_INVALID" })
        .and.not.have.property("cause");
    }
  });
});
