import { expect } from "chai";
import fc from "fast-check";
import { inspect } from "node:util";
import { PartnerClient } from "../../../packages/keyroot/src/client/partner/partnerClient.ts";
import { UserClient } from "../../../packages/keyroot/src/client/user/userClient.ts";
import { junk, keyrootErrorOf, WRONG_VALUES } from "../../support/data/junk.ts";
import { keyID, publicKey, scriptedService, tokenID, userID } from "../../support/servers/scriptedService.ts";

const runId = "0b8f6b5e-7c50-4a7c-9d5c-3d2b8a1f0e11";

/** A function that takes any arguments, as in plain JavaScript. */
type Loose = (...args: unknown[]) => Promise<unknown>;

/** Makes a client that counts its requests. */
function counting() {
  const service = scriptedService();
  const state = { requests: 0 };
  const fetch: typeof globalThis.fetch = (...request) => {
    state.requests++;
    return service.fetch(...request);
  };
  const options = { ...service, fetch };
  const partner = new PartnerClient({ ...options, serverToken: "krs_x" });
  const user = new UserClient({ ...options, refreshToken: "kru_x" });
  return { state, partner, user };
}

/** Iterates over a list to its end. */
async function drain(list: unknown): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const item of list as AsyncIterable<unknown>) items.push(item);
  return items;
}

/** Returns each operation with valid arguments, the last of which is the options. */
function operations({ partner, user }: ReturnType<typeof counting>): Record<string, { call: Loose; args: unknown[] }> {
  const of = (client: object, name: string, ...args: unknown[]) => ({
    call: (...args: unknown[]) => (Reflect.get(client, name) as Loose).apply(client, args),
    args: [...args, {}],
  });
  const list = ({ call, args }: { call: Loose; args: unknown[] }) => ({
    call: (...args: unknown[]) => drain(call(...args)),
    args,
  });
  return {
    createUser: of(partner, "createUser", userID, "us-west-2"),
    createUsers: of(partner, "createUsers", [{ userID, region: "us-west-2", context: "phone" }]),
    createUserRefreshToken: of(partner, "createUserRefreshToken", userID, "phone"),
    getUser: of(partner, "getUser", userID),
    deactivateUser: of(partner, "deactivateUser", userID),
    eraseUser: of(partner, "eraseUser", userID),
    listUsers: list(of(partner, "listUsers")),
    listRefreshTokens: list(of(partner, "listRefreshTokens", userID)),
    revokeRefreshToken: of(partner, "revokeRefreshToken", userID, tokenID),
    listServerTokens: list(of(partner, "listServerTokens")),
    revokeServerToken: of(partner, "revokeServerToken", tokenID),
    listEvents: of(partner, "listEvents"),
    listAuditLog: list(of(partner, "listAuditLog")),
    provision: {
      call: (users, options) => drain((partner.provision as (...args: unknown[]) => unknown)(users, options)),
      args: [[{ userID, region: "us-west-2", context: "phone" }], { runId }],
    },
    discardPublicKey: of(partner, "discardPublicKey", userID, keyID),
    approvePublicKey: of(partner, "approvePublicKey", userID, keyID),
    createWebhook: of(partner.webhooks, "create", "https://a.example/"),
    listWebhooks: of(partner.webhooks, "list"),
    updateWebhook: of(partner.webhooks, "update", tokenID),
    pauseWebhook: of(partner.webhooks, "pause", tokenID),
    resumeWebhook: of(partner.webhooks, "resume", tokenID),
    deleteWebhook: of(partner.webhooks, "delete", tokenID),
    rotateSecret: of(partner.webhooks, "rotateSecret", tokenID),
    testWebhook: of(partner.webhooks, "test", tokenID),
    listDeliveries: list(of(partner.webhooks, "listDeliveries", tokenID)),
    redeliver: of(partner.webhooks, "redeliver", tokenID, tokenID),
    redeliverFailed: of(partner.webhooks, "redeliverFailed", tokenID, 0),
    publicKeyOfUser: of(partner, "publicKeyOf", userID),
    register: of(user, "register", { publicKey, privateKey: 2n }),
    withdraw: of(user, "withdraw", keyID),
    record: of(user, "record"),
    unverifiedPublicKeyOf: of(user, "unverifiedPublicKeyOf", userID),
  };
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
            expect(error?.message).to.match(new RegExp(`^The option ${option} must be `));
          }
        });
      }

      it("cause an error that names a missing option", async () => {
        for (const option of ["serviceUrl", "bizID", token]) {
          const error = await keyrootErrorOf(() => construct({ ...valid, [option]: undefined }));
          expect(error?.message).to.match(new RegExp(`^The option ${option} must be `));
        }
      });

      it("cause an error that suggests the name of a misspelled option", async () => {
        for (const [name, nearest] of [
          ["timeoutMS", "timeoutMs"],
          ["retrys", "retries"],
          ["serviceURL", "serviceUrl"],
        ] as const) {
          const error = await keyrootErrorOf(() => construct({ ...valid, [name]: 1 }));
          expect(error).to.include({ code: "ARGUMENT_INVALID", expected: nearest });
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

  for (const [name, { args }] of Object.entries(operations(counting()))) {
    describe(`the operation ${name}`, () => {
      it("accepts the valid arguments that the next tests change", async () => {
        const made = counting();
        await operations(made)[name]?.call(...args);
        // There are two requests: for the token and for the operation. The operation `register` sends two requests
        // itself.
        expect(made.state.requests).to.equal(name === "register" ? 3 : 2);
      });

      it("rejects unknown options before any request", async () => {
        const made = counting();
        const options = { ...(args.at(-1) as object), signa1: undefined };
        const error = await keyrootErrorOf(() => operations(made)[name]?.call(...args.with(-1, options)));
        expect(error).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID", expected: "signal" });
        expect(made.state.requests).to.equal(0);
      });

      it("rejects malformed options before any request", async () => {
        const signals = [null, {}, "signal", () => undefined];
        const wrong = [null, "options", 7, [], ...signals.map((signal) => ({ ...(args.at(-1) as object), signal }))];
        for (const options of wrong) {
          const made = counting();
          const error = await keyrootErrorOf(() => operations(made)[name]?.call(...args.with(-1, options)));
          expect(error, inspect(options)).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID" });
          expect(made.state.requests).to.equal(0);
        }
      });

      it("throws only a KeyrootError for any arguments", () =>
        fc.assert(
          fc.asyncProperty(junk, fc.nat(args.length - 1), async (value, i) => {
            await keyrootErrorOf(() => operations(counting())[name]?.call(...args.with(i, value)));
          }),
          { numRuns: 200 },
        ));

      it("throws only a KeyrootError without arguments", () =>
        keyrootErrorOf(() => operations(counting())[name]?.call()));
    });
  }

  it("must be strings for a region, a context or a token id", async () => {
    const { partner } = counting();
    const calls: [RegExp, Promise<unknown>][] = [
      [/^The argument region must be /, (partner.createUser as Loose).call(partner, userID, 7)],
      [/^The argument context must be /, (partner.createUserRefreshToken as Loose).call(partner, userID)],
      [/^The argument tokenID must be /, (partner.revokeRefreshToken as Loose).call(partner, userID, {})],
      [/^The argument tokenID must be /, (partner.revokeServerToken as Loose).call(partner, null)],
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
      const provision = made.partner.provision.bind(made.partner) as (...args: unknown[]) => unknown;
      return { made, outcome: keyrootErrorOf(() => drain(provision(users, { runId, ...options }))) };
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
        expect(error?.message).to.match(new RegExp(`^The option ${option} must be `));
      }
    });

    it("returns an error for each malformed user", async () => {
      const { partner } = counting();
      const users = [null, 7, [], {}, { userID }, { userID, region: 7 }, { userID, region: "us-west-2", context: 7 }];
      const codes: string[] = [];
      for await (const outcome of partner.provision(users as never[], { runId, context: "phone", concurrency: 1 })) {
        codes.push("error" in outcome ? outcome.error.code : "token");
      }
      const invalid = "ARGUMENT_INVALID";
      expect(codes).to.deep.equal([invalid, invalid, invalid, "USER_ID_INVALID", invalid, invalid, invalid]);
    });
  });
});
