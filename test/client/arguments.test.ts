import { expect } from "chai";
import fc from "fast-check";
import { inspect } from "node:util";
import { PartnerClient } from "@keyroot/client/partner";
import { UserClient } from "@keyroot/client/user";
import { junk, keyrootErrorOf, WRONG_VALUES } from "../support/data/junk.ts";
import {
  clientsOf,
  type Loose,
  operationsOf,
  scriptedService,
  tokenID,
  userID,
} from "../support/servers/scriptedService.ts";
import { all } from "../support/support.ts";

/** Creates clients that count their requests. */
function counting() {
  const service = scriptedService();
  const state = { requests: 0 };
  const fetch: typeof globalThis.fetch = (...request) => {
    state.requests++;
    return service.fetch(...request);
  };
  const clients = clientsOf({ ...service, fetch });
  return { state, ...clients, operations: new Map(Object.entries(operationsOf(clients))) };
}

describe("arguments of the clients", () => {
  const CLIENTS: Record<string, (options: unknown) => unknown> = {
    PartnerClient: (options) => new PartnerClient(options as never),
    UserClient: (options) => new UserClient(options as never),
  };
  const tokens = { serverToken: "krs_x", refreshToken: "kru_x" };

  for (const [name, construct] of Object.entries(CLIENTS)) {
    describe(`${name}'s options`, () => {
      for (const missing of [undefined, null, "options", 7, []]) {
        it(`must be an object instead of ${JSON.stringify(missing)}`, async () => {
          const error = await keyrootErrorOf(() => construct(missing));
          expect(error).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID" });
          expect(error?.message).to.match(/^The client's options must be an object with serviceUrl, bizID and /);
        });
      }

      const RIGHT: Record<string, (value: unknown) => boolean> = {
        bizID: (value) => value === "text",
        fetch: (value) => typeof value === "function",
        now: (value) => typeof value === "function",
      };
      const token = name === "PartnerClient" ? "serverToken" : "refreshToken";
      const valid = { ...scriptedService(), [token]: tokens[token] };
      for (const option of ["serviceUrl", "bizID", "timeoutMs", "retries", "fetch", "now", token]) {
        it(`cause an error that names an invalid ${option}`, async () => {
          for (const value of WRONG_VALUES.filter((value) => RIGHT[option]?.(value) !== true)) {
            const error = await keyrootErrorOf(() => construct({ ...valid, [option]: value }));
            expect(error, inspect(value)).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID" });
            expect(error?.message).to.match(new RegExp(`^The ${option} option must be `));
          }
        });
      }

      it("cause an error that names a missing option", async () => {
        for (const option of ["serviceUrl", "bizID", token]) {
          const error = await keyrootErrorOf(() => construct({ ...valid, [option]: undefined }));
          expect(error?.message).to.match(new RegExp(`^The ${option} option must be `));
        }
      });

      it("cause an error that lists the valid names for a misspelled option", async () => {
        for (const [name, meant] of [
          ["timeoutMS", "timeoutMs"],
          ["retrys", "retries"],
          ["serviceURL", "serviceUrl"],
        ] as const) {
          const error = await keyrootErrorOf(() => construct({ ...valid, [name]: 1 }));
          expect(error).to.include({ code: "ARGUMENT_INVALID", actual: name });
          expect(String(error?.expected).split(", ")).to.include(meant);
        }
      });

      it("cause only a KeyrootError for any values", () =>
        fc.assert(
          fc.asyncProperty(junk, fc.constantFrom(...Object.keys(valid), "timeoutMs", "now"), async (value, option) => {
            await keyrootErrorOf(() => construct(value));
            await keyrootErrorOf(() => construct({ ...valid, [option]: value }));
          }),
          { numRuns: 500 },
        ));
    });
  }

  for (const [name, { args }] of counting().operations) {
    describe(`the ${name} operation`, () => {
      it("accepts valid arguments", async () => {
        const made = counting();
        await made.operations.get(name)?.call(...args);
        // The client sends one request for the token and one for the operation. The `register` operation sends two.
        expect(made.state.requests).to.equal(name === "register" ? 3 : 2);
      });

      it("rejects unknown options before any request", async () => {
        const made = counting();
        const options = { ...(args.at(-1) as object), signa1: undefined };
        const error = await keyrootErrorOf(() => made.operations.get(name)?.call(...args.with(-1, options)));
        expect(error).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID", actual: "signa1" });
        expect(error?.expected).to.match(/^signal/);
        expect(made.state.requests).to.equal(0);
      });

      it("rejects malformed options before any request", async () => {
        const signals = [null, {}, "signal", () => undefined];
        const wrong = [null, "options", 7, [], ...signals.map((signal) => ({ ...(args.at(-1) as object), signal }))];
        for (const options of wrong) {
          const made = counting();
          const error = await keyrootErrorOf(() => made.operations.get(name)?.call(...args.with(-1, options)));
          expect(error, inspect(options)).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID" });
          expect(made.state.requests).to.equal(0);
        }
      });

      it("throws only a KeyrootError for any arguments", () =>
        fc.assert(
          fc.asyncProperty(junk, fc.nat(args.length - 1), async (value, i) => {
            await keyrootErrorOf(() =>
              counting()
                .operations.get(name)
                ?.call(...args.with(i, value)),
            );
          }),
          { numRuns: 200 },
        ));

      it("throws only a KeyrootError without arguments", () =>
        keyrootErrorOf(() => counting().operations.get(name)?.call()));
    });
  }

  it("must be strings if they are a region, a context or a token id", async () => {
    const { partner } = counting();
    const calls: [RegExp, Promise<unknown>][] = [
      [/^The region argument must be /, (partner.createUser as Loose).call(partner, userID, 7)],
      [/^The context argument must be /, (partner.createUserRefreshToken as Loose).call(partner, userID)],
      [/^The tokenID argument must be /, (partner.revokeRefreshToken as Loose).call(partner, userID, {})],
      [/^The tokenID argument must be /, (partner.revokeServerToken as Loose).call(partner, null)],
    ];
    for (const [message, call] of calls) {
      const error = await keyrootErrorOf(() => call);
      expect(error).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID" });
      expect(error?.message).to.match(message);
    }
  });

  describe("provision", () => {
    const run = (users: unknown, options: object) => {
      const made = counting();
      const provision = made.partner.provision.bind(made.partner) as (...args: unknown[]) => AsyncIterable<unknown>;
      return { made, outcome: keyrootErrorOf(() => all(provision(users, { runId: tokenID, ...options }))) };
    };

    it("rejects a list that is not iterable", async () => {
      for (const users of [undefined, null, 7, "text", {}, () => undefined]) {
        const { made, outcome } = run(users, {});
        const error = await outcome;
        expect(error).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID" });
        expect(error?.message).to.match(
          /^The list of users must be an array or an \(async\) iterable of users, but is /,
        );
        expect(made.state.requests).to.equal(0);
      }
    });

    it("throws an error that names a wrong option", async () => {
      for (const [option, value] of [
        ["context", 7],
        ["concurrency", "8"],
        ["onProgress", {}],
        ["signal", {}],
      ] as const) {
        const error = await run([], { [option]: value }).outcome;
        expect(error).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID" });
        expect(error?.message).to.match(new RegExp(`^The ${option} option must be `));
      }
    });

    it("returns an error for each malformed user", async () => {
      const { partner } = counting();
      const users = [null, 7, [], {}, { userID }, { userID, region: 7 }, { userID, region: "us-west-2", context: 7 }];
      const codes: string[] = [];
      for await (const outcome of partner.provision(users as never[], {
        runId: tokenID,
        context: "phone",
        concurrency: 1,
      })) {
        codes.push("error" in outcome ? outcome.error.code : "token");
      }
      const invalid = "ARGUMENT_INVALID";
      expect(codes).to.deep.equal([invalid, invalid, invalid, "USER_ID_INVALID", invalid, invalid, invalid]);
    });
  });
});
