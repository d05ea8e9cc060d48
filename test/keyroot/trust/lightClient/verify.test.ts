import { expect } from "chai";
import { TEST_NETWORK } from "keyroot/internal/lightClient";
import { SimulatedBeacon } from "@keyroot/operator/testing";
import type { Listening } from "@keyroot/operator/shared";
import { ANY_KEY, type KeyrootError, type Store, type VerifiedKey, oneEndpoint, ownNode } from "keyroot";
import { lightClient, type LightClientOptions } from "keyroot/light-client";
import { sha256Hex } from "keyroot/internal/bytes";
import { sampleUserID } from "../../../support/samples.ts";
import {
  describeOnChains,
  forged,
  type InventedState,
  lieAboutBlock,
  lieAboutContract,
  mine,
  userID,
} from "../../../support/chain/fiveEndpoints.ts";
import { refusalOf } from "../../../support/refusalOf.ts";
import { serve } from "../../../support/servers/servers.ts";
import { failure, never } from "../../../support/support.ts";
import { type TestOptions, verifierAt } from "../../../support/verifier/verifyOnce.ts";

const DAY_MS = 86_400_000;

describeOnChains("verifier that trusts a light client", (chain) => {
  let beacon: SimulatedBeacon;
  let server: Listening;
  let requests: string[];
  let withForgedKey: InventedState;

  before(async () => {
    beacon = new SimulatedBeacon({ call: chain.call });
    server = await beacon.listen();
    withForgedKey = await chain.inventState(`0x${forged.tree.root}`);
  });
  after(() => server.close());
  beforeEach(() => {
    requests = [];
    for (const endpoint of chain.endpoints) endpoint.lie = undefined;
  });

  const fetch: typeof globalThis.fetch = (input, init) => {
    const { pathname } = new URL(input as string);
    if (pathname.includes("light_client")) requests.push(pathname.split("/")[5] ?? "");
    return globalThis.fetch(input, init);
  };
  const trusted = (options: Partial<LightClientOptions> = {}) =>
    lightClient({ urls: [server.url], checkpoint: beacon.checkpoint, ...options });
  const verifierWith = (options?: Partial<TestOptions>) =>
    verifierAt({ ...chain.place(), fetch, trust: trusted(), ...options });
  const verify = async (options?: Partial<TestOptions>, user = userID) =>
    verifierWith(options).verify(user, { expectedPublicKey: ANY_KEY });
  const codeOf = async (promise: Promise<unknown>) => ((await failure(promise)) as KeyrootError).code;

  it("verifies a key with the trusted checkpoint as evidence", async () => {
    const { record, evidence } = await verify();
    expect(record).to.deep.equal(mine);
    const { hash, number, timestamp } = chain.head;
    expect(evidence).to.deep.include({
      ...{ source: "light-client", storageProof: true },
      block: { hash, number: Number(number), timestamp: Number(timestamp) },
    });
    expect(evidence.details).to.include({ checkpoint: beacon.checkpoint, participation: 512 });
    expect(evidence.details).to.not.have.property("maxCheckpointAgeMs");
  });

  it("includes the checkpoint's maximum age in the evidence", async () => {
    const { evidence } = await verify({ trust: trusted({ maxCheckpointAgeMs: 20_000 * DAY_MS }) });
    expect(evidence.details).to.include({ maxCheckpointAgeMs: 20_000 * DAY_MS });
  });

  it("includes the block source in the NOT_PUBLISHED error", async () => {
    const error = await failure(verify({}, sampleUserID(9)));
    expect(error).to.include({ code: "NOT_PUBLISHED" });
    expect(error).to.have.nested.property("evidence.source", "light-client");
  });

  it("follows the chain to a block that was added later", async () => {
    const verifier = verifierWith();
    await verifier.verify(userID, { expectedPublicKey: ANY_KEY });
    await chain.call("hardhat_mine", ["0x1"]);
    const { evidence } = await verifier.verify(userID, { expectedPublicKey: ANY_KEY });
    expect(evidence.block?.number).to.equal(Number(chain.head.number) + 1);
    expect(evidence.details).to.include({ participation: 512 });
  });

  describe("with a dishonest RPC endpoint", () => {
    it("rejects an invented block", async () => {
      chain.letLie((...call) => lieAboutBlock(withForgedKey, ...call), 1);
      expect(await codeOf(verify())).to.equal("PROOF_INVALID");
    });

    it("rejects an invented state of the real block", async () => {
      chain.letLie((...call) => lieAboutContract(withForgedKey, ...call), 1);
      expect(await codeOf(verify())).to.equal("PROOF_INVALID");
    });
  });

  describe("with a store", () => {
    /** The store's content after one verification. */
    const stored = new Map<string, string>();
    beforeEach(async () => {
      if (stored.size > 0) return;
      await verify({ trust: trusted({ store: stored }) });
      requests = [];
    });

    it("continues from the stored state", async () => {
      const store = new Map<string, string>();
      await verify({ trust: trusted({ store }) });
      expect(requests).to.deep.equal(["bootstrap", "updates", "finality_update"]);
      expect([...store.values()].join("")).to.have.length.within(30_000, 70_000);
      requests = [];
      await verify({ trust: trusted({ store }) });
      expect(requests).to.deep.equal(["finality_update"]);
    });

    it("continues from a stored state of an earlier version, which has only the block's hash", async () => {
      const store = new Map(
        [...stored].map(([name, text]) => [name, sealed(text.slice(64).replace(BLOCK, ""))] as const),
      );
      for (const [name, text] of store) expect(text.length).to.be.below(stored.get(name)?.length ?? 0);
      const { record } = await verify({ trust: trusted({ store }) });
      expect(record).to.deep.equal(mine);
      expect(requests).to.deep.equal(["finality_update"]);
    });

    const BLOCK = /"block":\{[^}]*\},/;
    /** Adds the hash that detects damage to a text. */
    const sealed = (json: string) => sha256Hex(json) + json;
    const damages: Record<string, (text: string) => string> = {
      "is damaged": (text) => text.replace(/.$/, " "),
      "has another slot": (text) => text.replace(/"slot":\d+/, '"slot":1'),
      "ends early": (text) => text.slice(0, 1000),
      "is empty": () => "",
      "is not a state": () => "[]",
      "has the right hash, but is not JSON": () => sealed("x"),
      "has the right hash, but is null": () => sealed("null"),
      "has the right hash, but no header": (text) => sealed(text.slice(64).replace('"header"', '"other"')),
      "has the right hash, but no committees": (text) => sealed(text.slice(64).replace('"committees"', '"other"')),
      "has the right hash, but a committee of another size": (text) => sealed(text.slice(64).replace(/\["/, '["AAAA')),
      "has the right hash, but a slot that is not a number": (text) =>
        sealed(text.slice(64).replace(/"slot":(\d+)/, '"slot":"$1"')),
      "has the right hash, but a block hash that is not a hash": (text) =>
        sealed(text.slice(64).replace('"blockHash":"0x', '"blockHash":"')),
      "has the right hash, but another block": (text) => sealed(text.slice(64).replace('"hash":"0x', '"hash":"0x0')),
      "has the right hash, but a state root that is not a hash": (text) =>
        sealed(text.slice(64).replace('"stateRoot":"0x', '"stateRoot":"')),
    };
    for (const [what, damage] of Object.entries(damages))
      it(`starts at the checkpoint if the stored state ${what}`, async () => {
        expect(stored.size).to.equal(1);
        const store = new Map([...stored].map(([name, text]) => [name, damage(text)] as const));
        for (const [name, text] of store) expect(text).to.not.equal(stored.get(name));
        const { record } = await verify({ trust: trusted({ store }) });
        expect(record).to.deep.equal(mine);
        expect(requests).to.deep.equal(["bootstrap", "updates", "finality_update"]);
      });

    it("starts at the checkpoint if the stored state has another checkpoint", async () => {
      const store = new Map(stored);
      const other = trusted({ store, checkpoint: `0x${"1".repeat(64)}` });
      expect(await codeOf(verify({ trust: other }))).to.equal("BEACON_ERROR");
    });

    it("starts at the checkpoint if the stored state is too old", async () => {
      const store = new Map(stored);
      const now = () => Date.now() + TEST_NETWORK.maxCheckpointAgeMs;
      expect(await codeOf(verify({ trust: trusted({ store }), now }))).to.equal("CHECKPOINT_TOO_OLD");
      expect(requests).to.deep.equal(["bootstrap"]);
    });

    describe("of several verifiers", () => {
      const query = { expectedPublicKey: ANY_KEY };
      /** An endpoint that does not respond, and the number of its requests. */
      let silent: Listening;
      let ignored = 0;

      before(async () => {
        silent = await serve(() => ignored++);
      });
      after(() => silent.close());

      /** Verifies a key with verifiers that share a new store, at the same time. */
      const verifyTogether = (...options: Partial<LightClientOptions>[]) => {
        const store = new Map<string, string>();
        const verifiers = options.map((one) => verifierWith({ trust: trusted({ store, ...one }) }));
        return Promise.all(verifiers.map((verifier) => verifier.verify(userID, query)));
      };

      it("uses it in one verifier at a time", async () => {
        await verifyTogether({ maxCheckpointAgeMs: 20_000 * DAY_MS }, { maxCheckpointAgeMs: 30_000 * DAY_MS });
        expect(requests).to.deep.equal(["bootstrap", "updates", "finality_update", "finality_update"]);
      });

      it("searches once for verifiers with the same settings", async () => {
        const verified = await verifyTogether({}, {}, {});
        for (const { record } of verified) expect(record).to.deep.equal(mine);
        expect(requests).to.deep.equal(["bootstrap", "updates", "finality_update"]);
      });

      it("waits only once for an endpoint that does not respond", async () => {
        const urls = [silent.url, server.url];
        ignored = 0;
        await verifyTogether({ urls }, { urls }, { urls }, { urls });
        expect(ignored).to.equal(1);
      });

      it("searches again after a later call", async () => {
        const store = new Map<string, string>();
        for (let call = 0; call < 2; call++) await verify({ trust: trusted({ store }) });
        expect(requests).to.deep.equal(["bootstrap", "updates", "finality_update", "finality_update"]);
      });

      it("verifies a key if the app aborts the call of the verifier that searches", async () => {
        const trust = { store: new Map<string, string>(), urls: [silent.url, server.url] };
        const [first = never(), second = never()] = [1, 2].map(() => verifierWith({ trust: trusted(trust) }));
        const aborted = codeOf(first.verify(userID, { ...query, signal: AbortSignal.timeout(100) }));
        const { record } = await second.verify(userID, query);
        expect(record).to.deep.equal(mine);
        expect(await aborted).to.equal("ABORTED");
      });

      it("does not use the block of a verifier with another clock or limit", async () => {
        const store = new Map<string, string>();
        const days = (count: number) => trusted({ store, maxCheckpointAgeMs: count * DAY_MS });
        const [lax, strict, behind] = await Promise.allSettled([
          verify({ trust: days(30_000) }),
          verify({ trust: days(20_000) }),
          verify({ trust: days(20_000), now: () => Date.now() - 365 * DAY_MS }),
        ]);
        const ageOf = (result: typeof lax) =>
          result.status === "fulfilled" ? result.value.evidence.details?.maxCheckpointAgeMs : never();
        expect([ageOf(lax), ageOf(strict)]).to.deep.equal([30_000 * DAY_MS, 20_000 * DAY_MS]);
        expect(behind).to.have.nested.property("reason.code", "FUTURE_BLOCK");
      });
    });

    it("starts at the checkpoint if the stored state was made with a higher maximum age", async () => {
      const store = new Map<string, string>();
      const verifyWith = (days: number) => verify({ trust: trusted({ store, maxCheckpointAgeMs: days * DAY_MS }) });
      for (const [days, expected] of [
        [30_000, ["bootstrap", "updates", "finality_update"]],
        [20_000, ["bootstrap", "updates", "finality_update"]],
        [30_000, ["finality_update"]],
      ] as const) {
        requests = [];
        await verifyWith(days);
        expect(requests, `${days} days`).to.deep.equal(expected);
      }
    });

    const failing: Record<string, Store> = {
      "never responds": { get: () => new Promise(() => undefined), set: () => new Promise(() => undefined) },
      "is full": {
        get: () => undefined,
        set: () => {
          throw new Error("database or disk is full");
        },
      },
      "rejects every access": {
        get: () => Promise.reject(new Error("denied")),
        set: () => Promise.reject(new Error()),
      },
    };
    for (const [what, store] of Object.entries(failing))
      it(`verifies a key if the store ${what}`, async () => {
        expect((await verify({ trust: trusted({ store }) })).record).to.deep.equal(mine);
      });

    it("does not replace the verdict by the store's error", async () => {
      const { "is full": store } = failing;
      const now = () => Date.now() - 365 * DAY_MS;
      expect(await codeOf(verify({ trust: trusted({ store }), now }))).to.equal("FUTURE_BLOCK");
    });
  });

  describe("in concurrent verifications", () => {
    it("searches for the block once", async () => {
      const verifier = verifierWith();
      const keys = await Promise.all([1, 2, 3].map(() => verifier.verify(userID, { expectedPublicKey: ANY_KEY })));
      expect(keys.map(({ record }) => record)).to.deep.equal([mine, mine, mine]);
      expect(requests).to.deep.equal(["bootstrap", "updates", "finality_update"]);
    });

    it("continues the search if the caller who started it aborts", async () => {
      const verifier = verifierWith();
      const aborting = new AbortController();
      const options = { expectedPublicKey: ANY_KEY };
      const first = codeOf(verifier.verify(userID, { ...options, signal: aborting.signal }));
      const second = verifier.verify(userID, options);
      aborting.abort();
      expect(await first).to.equal("ABORTED");
      expect((await second).record).to.deep.equal(mine);
    });
  });

  describe("in verifyMany", () => {
    const verifyMany = async (options?: Partial<TestOptions>) => {
      const contacts = [userID, sampleUserID(9), sampleUserID(10)].map((userID) => ({
        userID,
        expectedPublicKey: ANY_KEY,
      }));
      return verifierWith(options).verifyMany(contacts);
    };

    it("finds one block for all contacts", async () => {
      const outcomes = await verifyMany();
      expect(outcomes.map((outcome) => ("error" in outcome ? outcome.error.code : "verified"))).to.deep.equal([
        ...["verified", "NOT_PUBLISHED", "NOT_PUBLISHED"],
      ]);
      expect(requests).to.deep.equal(["bootstrap", "updates", "finality_update"]);
    });

    const evidenceOf = async (options: Partial<TestOptions>, cache: Map<string, string>): Promise<VerifiedKey> => {
      const [outcome] = await verifierWith({ ...options, cache }).verifyMany([{ userID, expectedPublicKey: ANY_KEY }]);
      if (outcome === undefined || "error" in outcome) throw new Error("There is no key.", { cause: outcome });
      return outcome.verified;
    };

    it("returns a cached key without a request", async () => {
      const cache = new Map<string, string>();
      await evidenceOf({}, cache);
      requests = [];
      expect((await evidenceOf({}, cache)).evidence.source).to.equal("light-client");
      expect(requests).to.deep.equal([]);
    });

    const weaker: Record<string, Partial<TestOptions>> = {
      "from one endpoint": { trust: oneEndpoint({ block: "finalized" }) },
      "from an own node": { trust: ownNode({ block: "finalized" }) },
    };
    for (const [what, options] of Object.entries(weaker))
      it(`discards a cached key ${what}`, async () => {
        const cache = new Map<string, string>();
        await evidenceOf(options, cache);
        requests = [];
        expect((await evidenceOf({}, cache)).evidence.source).to.equal("light-client");
        expect(requests).to.not.be.empty;
      });

    it("discards a cached key whose checkpoint is too old", async () => {
      const cache = new Map<string, string>();
      await evidenceOf({ trust: trusted({ maxCheckpointAgeMs: 20_000 * DAY_MS }) }, cache);
      requests = [];
      expect((await evidenceOf({}, cache)).evidence.details).to.not.have.property("maxCheckpointAgeMs");
      expect(requests).to.not.be.empty;
    });

    it("discards a cached key for a call with another block source", async () => {
      const cache = new Map<string, string>();
      await evidenceOf({}, cache);
      const own = { trust: ownNode({ block: "finalized" }) };
      expect((await evidenceOf(own, cache)).evidence.source).to.equal("own-node");
    });
  });

  describe("with invalid options", () => {
    const invalid: Record<string, unknown> = {
      "an empty list of endpoints": { urls: [] },
      "text instead of a list of endpoints": { urls: "https://a.example" },
      "17 endpoints": { urls: Array.from({ length: 17 }, () => "https://a.example") },
      "plain http to another machine": { urls: ["http://a.example"] },
      "a checkpoint in upper case": { checkpoint: `0x${"A".repeat(64)}` },
      "a missing checkpoint": { checkpoint: undefined },
      "an unknown network": { network: "goerli" },
      "an inherited name as a network": { network: "constructor" },
      "a network of another chain": { network: "mainnet" },
      "a maximum age of 0": { maxCheckpointAgeMs: 0 },
      "a store without functions": { store: {} },
      "an unknown name": { url: "https://a.example" },
    };
    for (const [what, change] of Object.entries(invalid))
      it(`throws ARGUMENT_INVALID for ${what}`, () => {
        const create = () => verifierWith({ trust: trusted(change as Partial<LightClientOptions>) });
        expect(refusalOf(create)).to.equal("ARGUMENT_INVALID");
      });

    it("rejects the test network for another chain", () => {
      const network = { ...TEST_NETWORK, chainId: 1 };
      expect(() => verifierWith({ chainId: 1, trust: trusted({ network }) }))
        .to.throw(/31337 for the test network/)
        .include({ code: "ARGUMENT_INVALID" });
    });

    it("rejects a chain without a known network", () => {
      expect(() => verifierWith({ chainId: 2 })).to.throw(/The network option/);
    });
  });
});
