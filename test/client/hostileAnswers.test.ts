import { expect } from "chai";
import fc from "fast-check";
import { keyrootErrorOf } from "../support/data/junk.ts";
import { ANSWER, clientsOf, operationsOf, scriptedService, userID } from "../support/servers/scriptedService.ts";
import { failure } from "../support/support.ts";

type Body = string | Uint8Array<ArrayBuffer>;

/** Returns the operations of clients whose service sends this response to each call. */
const operations = (status: number, body: Body) =>
  Object.values(operationsOf(clientsOf(scriptedService(status, body))));

/** Checks that every operation succeeds or throws a KeyrootError. */
async function withstands(status: number, body: Body): Promise<void> {
  for (const { call, args } of operations(status, body)) await keyrootErrorOf(() => call(...args));
}

describe("clients of a hostile service", () => {
  it("accept a valid response", async () => {
    for (const { call, args } of operations(200, JSON.stringify(ANSWER)))
      expect(await keyrootErrorOf(() => call(...args))).to.equal(undefined);
  });

  it("reject a response that would need too much memory", async () => {
    const filler = `[${"{},".repeat(2 ** 20)}{}]`;
    const large = JSON.stringify({ ...ANSWER, code: "DEFECT", filler: 0 }).replace(/"filler":0/, `"filler":${filler}`);
    expect(large.length).to.be.below(2 ** 22);
    for (const { call, args } of operations(200, large))
      expect(await failure(call(...args))).to.include({ code: "SERVICE_ANSWER_INVALID" });
    // The response contains a problem's error code, but the client does not parse it.
    for (const { call, args } of operations(400, large).slice(0, 3))
      expect(await failure(call(...args))).to.include({ code: "SERVICE_ERROR", status: 400 });
  });

  it("throw only a KeyrootError for a response with any field values", async () => {
    const field = fc.constantFrom(...Object.keys(ANSWER));
    const value = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(userID, ANSWER.public_key, "__proto__", -0, 1e300, [[]], { length: 2 }, { toString: 1 }),
    );
    await fc.assert(
      fc.asyncProperty(field, value, (name, value) => withstands(200, JSON.stringify({ ...ANSWER, [name]: value }))),
      { numRuns: 100 },
    );
  });

  it("throw only a KeyrootError for a response with any body and status", async () => {
    const body = fc.oneof(
      fc.json(),
      fc.string(),
      fc.uint8Array().map((bytes) => new Uint8Array(bytes)),
      fc
        .record({ code: fc.jsonValue(), detail: fc.jsonValue(), errors: fc.jsonValue() })
        .map((it) => JSON.stringify(it)),
    );
    const status = fc.oneof(
      fc.constantFrom(200, 201, 400, 401, 403, 429, 500, 503),
      fc.integer({ min: 206, max: 599 }),
    );
    await fc.assert(
      fc.asyncProperty(status, body, (status, body) => withstands(status === 304 ? 200 : status, body)),
      { numRuns: 100 },
    );
  });
});
