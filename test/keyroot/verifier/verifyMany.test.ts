import { expect } from "chai";
import hre from "hardhat";
import { ANY_KEY, type ContactOutcome, type KeyRecord, oneEndpoint, ownNode, endpoints } from "keyroot";
import type { PublishedRoot } from "@keyroot/operator/publisher";
import { type Stack, startStack } from "@keyroot/service/stack";
import { sampleRecords, sampleUserID } from "../../support/samples.ts";
import { publishLocally } from "../../support/chain/local.ts";
import { ENDLESS_MS } from "../../support/endless.ts";
import { rpc } from "../../support/support.ts";
import { verifyOnce, verifyListOnce, type ListOptions, type OnceOptions } from "../../support/verifier/verifyOnce.ts";

const [records, stranger] = [sampleRecords(12), sampleUserID(99)];
const [mine, other] = records as [KeyRecord, KeyRecord];
const FINAL = { trust: oneEndpoint({ block: "finalized" }) };
const PROVEN = { trust: ownNode() };

const anyKeyOf = ({ userID }: KeyRecord) => ({ userID, expectedPublicKey: ANY_KEY });

describe("a verifier's verifyMany method", () => {
  let stack: Stack;
  let published: PublishedRoot[];
  let options: ListOptions;
  /** Recorded requests: the methods of each RPC request, and the paths of requested files. */
  let requests: { rpc: string[][]; files: string[] };

  before(async () => {
    stack = await startStack(hre, { ports: { chain: 0, files: 0 } });
    published = (await publishLocally(stack, records, { usersPerFile: 5 })).published;
  });

  after(() => stack.close());

  beforeEach(() => {
    requests = { rpc: [], files: [] };
    const { rpcUrl: rpc, chainId, contract, merkleUrl } = stack;
    options = { rpc, chainId, contract, merkleUrl, fetch: spyingFetch };
  });

  const spyingFetch: typeof fetch = async (url, init) => {
    if (init?.method === "POST") {
      const body = JSON.parse(init.body as string) as { method: string } | { method: string }[];
      requests.rpc.push([body].flat().map(({ method }) => method));
    } else requests.files.push(new URL(url as string).pathname);
    return fetch(url, init);
  };

  const contacts = () => records.map(({ userID, pubKey }) => ({ userID, expectedPublicKey: pubKey }));
  const codes = (outcomes: ContactOutcome[]) =>
    outcomes.map((outcome) => ("error" in outcome ? outcome.error.code : "verified"));

  describe("for a contact list", () => {
    it("returns the same result for each contact as verify", async () => {
      const outcomes = await verifyListOnce(contacts(), { ...options, ...PROVEN });
      for (const [i, { userID }] of records.entries()) {
        const ofOne: OnceOptions = { ...options, ...PROVEN, expectedPublicKey: ANY_KEY };
        const verified = await verifyOnce(userID, ofOne);
        expect(outcomes[i]).to.deep.equal({ userID, verified });
      }
    });

    it("fetches each root's file only once", async () => {
      await verifyListOnce(contacts(), options);
      expect(requests.files.toSorted()).to.deep.equal(published.map(({ root }) => `/${root}.json`).toSorted());
    });

    it("sends the calls for all contacts in one request", async () => {
      await verifyListOnce(contacts(), options);
      expect(requests.rpc[0]).to.deep.equal(["eth_chainId", ...records.map(() => "eth_call")]);
      expect(requests.rpc.slice(1).flat()).to.deep.equal(published.map(() => "eth_call"));
    });

    it("reports each outcome with its place in the list as soon as it is known", async () => {
      const list = [...contacts(), { userID: stranger, expectedPublicKey: ANY_KEY }];
      const reported: ContactOutcome[] = [];
      const onOutcome = (outcome: ContactOutcome, index: number) => {
        expect(reported[index]).to.equal(undefined);
        reported[index] = outcome;
      };
      const outcomes = await verifyListOnce(list, { ...options, onOutcome });
      expect(reported).to.deep.equal(outcomes);
      expect(codes(reported).at(-1)).to.equal("NOT_PUBLISHED");
    });

    it("waits for no report, and keeps what onOutcome throws in the contact's outcome", async () => {
      const broken = new Error("no badge");
      const onOutcome = (_: ContactOutcome, index: number) => {
        if (index === 0) throw broken;
        return index === 1 ? Promise.reject(broken) : new Promise(() => undefined);
      };
      const outcomes = await verifyListOnce(contacts(), { ...options, onOutcome });
      expect(codes(outcomes)).to.deep.equal(records.map(() => "verified"));
      const failed = outcomes.map(({ onOutcomeError }) => onOutcomeError);
      expect(failed).to.deep.equal([broken, broken, ...records.slice(2).map(() => undefined)]);
    });

    it("reads all roots at the same block", async () => {
      const outcomes = await verifyListOnce(contacts(), { ...options, ...PROVEN });
      const blocks = outcomes.map((outcome) => "verified" in outcome && outcome.verified.evidence.block?.hash);
      expect(new Set(blocks)).to.have.lengthOf(1);
      expect(requests.rpc.flat().filter((method) => method === "eth_getBlockByNumber")).to.have.lengthOf(1);
    });

    it("proves up to 32 roots with one request for proofs", async () => {
      const strangers = Array.from({ length: 33 }, (_, i) => sampleUserID(100 + i));
      const list = strangers.map((userID) => ({ userID, expectedPublicKey: ANY_KEY }));
      const proofs = () => requests.rpc.flat().filter((method) => method === "eth_getProof").length;
      expect(codes(await verifyListOnce(contacts(), { ...options, ...PROVEN }))).to.deep.equal(
        records.map(() => "verified"),
      );
      expect(proofs()).to.equal(1);
      expect(codes(await verifyListOnce(list, { ...options, ...PROVEN }))).to.deep.equal(
        list.map(() => "NOT_PUBLISHED"),
      );
      expect(proofs()).to.equal(1 + 2);
    });

    /** Returns a provider that changes the response to requests for proofs. */
    const proofsBy = (prove: (slots: unknown[], truth: Promise<unknown>) => unknown) => ({
      async request({ method, params = [] }: { method: string; params?: unknown[] }) {
        const truth = rpc(stack.rpcUrl, method, params);
        return method === "eth_getProof" ? prove(params[1] as unknown[], truth) : await truth;
      },
    });

    it("proves each root alone at an endpoint that refuses proofs of several slots", async () => {
      const refusing = proofsBy((slots, truth) => {
        if (slots.length > 1) throw Object.assign(new Error("too many storage keys"), { code: -32602 });
        return truth;
      });
      const outcomes = await verifyListOnce(contacts(), { ...options, ...PROVEN, rpc: refusing });
      expect(codes(outcomes)).to.deep.equal(records.map(() => "verified"));
    });

    it("throws PROOF_INVALID for proofs in another order, and for a response without proofs", async () => {
      const reversed = proofsBy(async (_, truth) => {
        const proof = (await truth) as { storageProof: unknown[] };
        return { ...proof, storageProof: proof.storageProof.toReversed() };
      });
      for (const rpc of [reversed, proofsBy(() => null), proofsBy(() => ({ storageProof: {} }))]) {
        const outcomes = await verifyListOnce(contacts(), { ...options, ...PROVEN, rpc });
        expect(codes(outcomes)).to.deep.equal(records.map(() => "PROOF_INVALID"));
      }
    });

    it("returns an error for one contact and results for the others", async () => {
      const list = [
        { userID: mine.userID, expectedPublicKey: other.pubKey },
        { userID: stranger, expectedPublicKey: ANY_KEY },
        { userID: mine.userID.toUpperCase(), expectedPublicKey: ANY_KEY },
        anyKeyOf(other),
      ];
      const outcomes = await verifyListOnce(list, options);
      expect(codes(outcomes)).to.deep.equal(["KEY_MISMATCH", "NOT_PUBLISHED", "USER_ID_INVALID", "verified"]);
      expect(outcomes.map(({ userID }) => userID)).to.deep.equal(list.map(({ userID }) => userID));
    });

    it("returns UNREACHABLE for each contact if the endpoint does not respond", async () => {
      const outcomes = await verifyListOnce(contacts(), { ...options, rpc: "http://127.0.0.1:1" });
      expect(new Set(codes(outcomes))).to.deep.equal(new Set(["UNREACHABLE"]));
    });

    it("reads files of more than 1 MiB after the others", async () => {
      const padding: typeof fetch = async (url, init) => {
        const response = await spyingFetch(url, init);
        return init?.method === "POST" ? response : new Response(`${await response.text()}${" ".repeat(2 ** 20)}`);
      };
      const outcomes = await verifyListOnce(contacts(), { ...options, fetch: padding });
      expect(new Set(codes(outcomes))).to.deep.equal(new Set(["verified"]));
      const names = published.map(({ root }) => `/${root}.json`).toSorted();
      const [early, late] = [requests.files.slice(0, names.length), requests.files.slice(names.length)];
      for (const files of [early, late]) expect(files.toSorted()).to.deep.equal(names);
    });

    it("returns ANSWER_TOO_LARGE for files that are larger than the limit, after one request", async () => {
      const outcomes = await verifyListOnce(contacts(), { ...options, limits: { fileBytes: 1000 } });
      expect(new Set(codes(outcomes))).to.deep.equal(new Set(["ANSWER_TOO_LARGE"]));
      expect(requests.files).to.have.lengthOf(published.length);
    });

    it("accepts responses to a batch in any order", async () => {
      const answering =
        (change: (answers: unknown) => unknown): typeof fetch =>
        async (url, init) => {
          const response = await fetch(url, init);
          return init?.method === "POST" ? Response.json(change(await response.json())) : response;
        };
      const reversed = answering((answers) => (Array.isArray(answers) ? answers.toReversed() : answers));
      expect(new Set(codes(await verifyListOnce(contacts(), { ...options, fetch: reversed })))).to.deep.equal(
        new Set(["verified"]),
      );
    });

    it("returns an empty list without a request", async () => {
      expect(await verifyListOnce([], options)).to.deep.equal([]);
      expect(requests).to.deep.equal({ rpc: [], files: [] });
    });
  });

  describe("with a cache", () => {
    let cache: Map<string, string>;
    beforeEach(() => {
      cache = new Map();
      options = {
        ...options,
        ...FINAL,
        cache: { get: (key) => cache.get(key), set: (key, value) => void cache.set(key, value) },
      };
    });

    const forgetRequests = () => {
      requests.rpc.length = 0;
      requests.files.length = 0;
    };

    it("sends no request for a root of a finalized block", async () => {
      const first = await verifyListOnce(contacts(), options);
      forgetRequests();
      const second = await verifyListOnce(contacts(), options);
      for (const outcome of second)
        if ("verified" in outcome) {
          expect(outcome.verified.cached).to.have.all.keys("checkedAt", "ageMs");
          delete outcome.verified.cached;
        }
      expect(second).to.deep.equal(first);
      expect(requests).to.deep.equal({ rpc: [], files: [] });
    });

    const hang = () => new Promise<never>(() => undefined);
    const fail = () => {
      throw new Error("SQLITE_FULL");
    };
    const failing = {
      "never responds": { get: hang, set: hang },
      "never finishes storing": { get: () => undefined, set: hang },
      "throws an error": { get: fail, set: fail },
    };
    for (const [what, cache] of Object.entries(failing))
      it(`verifies all keys, many of which are in one file, if the cache ${what}`, async () => {
        const limits = { timeoutMs: cache.set === hang ? 5000 : 60_000 };
        const list = [...contacts(), ...contacts(), ...contacts()];
        const outcomes = await verifyListOnce(list, { ...options, limits, cache });
        const expected = await verifyListOnce(list, { ...options, cache: undefined });
        for (const { cacheError } of outcomes) {
          expect(cacheError).to.include({ name: "TransportError", code: "STORE_UNAVAILABLE" });
          expect(String(cacheError)).to.include("The cache is unavailable: ");
        }
        for (const outcome of outcomes) delete outcome.cacheError;
        expect(outcomes).to.deep.equal(expected);
      });

    it("reports each outcome without waiting for the cache, and returns after all keys are stored", async () => {
      const { promise: allReported, resolve } = Promise.withResolvers<undefined>();
      let reported = 0;
      const onOutcome = () => {
        if (++reported === records.length) resolve(undefined);
      };
      const set = async (name: string, text: string) => {
        await allReported;
        cache.set(name, text);
      };
      const slow = { get: () => undefined, set };
      const limits = { timeoutMs: ENDLESS_MS };
      const outcomes = await verifyListOnce(contacts(), { ...options, limits, onOutcome, cache: slow });
      expect(codes(outcomes)).to.deep.equal(records.map(() => "verified"));
      expect(outcomes.filter(({ cacheError }) => cacheError)).to.deep.equal([]);
      expect(cache.size).to.equal(records.length);
    });

    it("requests a root of the latest block again", async () => {
      await verifyListOnce(contacts(), { ...options, trust: oneEndpoint() });
      forgetRequests();
      await verifyListOnce(contacts(), { ...options, trust: oneEndpoint() });
      expect(requests.rpc).not.to.be.empty;
    });

    it("requests a root again if the options require stronger evidence", async () => {
      await verifyListOnce(contacts(), options);
      for (const stronger of [
        { trust: ownNode({ block: "finalized" }) },
        { trust: endpoints({ required: 1, block: "finalized" }) },
        { codeHash: `0x${"00".repeat(32)}` },
      ]) {
        forgetRequests();
        await verifyListOnce(contacts(), { ...options, ...stronger });
        expect(requests.rpc, JSON.stringify(stronger)).not.to.be.empty;
      }
    });

    it("accepts only keys that verify accepts", async () => {
      await verifyListOnce(contacts(), options);
      const swapped = await verifyListOnce([{ userID: mine.userID, expectedPublicKey: other.pubKey }], options);
      expect(codes(swapped)).to.deep.equal(["KEY_MISMATCH"]);
      const others = await verifyListOnce([{ userID: mine.userID, expectedPublicKey: ANY_KEY }], {
        ...options,
        contract: `0x${"11".repeat(20)}`,
      });
      expect(codes(others)).to.deep.equal(["NO_CONTRACT"]);
      expect(codes(await verifyListOnce([{ userID: stranger, expectedPublicKey: ANY_KEY }], options))).to.deep.equal([
        "NOT_PUBLISHED",
      ]);
      expect(codes(await verifyListOnce([{ userID: stranger, expectedPublicKey: ANY_KEY }], options))).to.deep.equal([
        "NOT_PUBLISHED",
      ]);
    });

    it("requests a root again if the cached key is invalid", async () => {
      await verifyListOnce([anyKeyOf(mine), anyKeyOf(other)], options);
      const [mineKey = "", otherKey = ""] = [mine, other].map(({ userID }) =>
        [...cache.keys()].find((key) => key.endsWith(userID)),
      );
      cache.set(mineKey, cache.get(otherKey) ?? "");
      const swapped = { userID: mine.userID, expectedPublicKey: other.pubKey };
      expect(codes(await verifyListOnce([swapped], options))).to.deep.equal(["KEY_MISMATCH"]);
      const value = cache.get(otherKey) ?? "";
      cache.set(otherKey, value.replace(other.keyID, mine.keyID));
      forgetRequests();
      expect(
        codes(await verifyListOnce([{ userID: other.userID, expectedPublicKey: ANY_KEY }], options)),
      ).to.deep.equal(["verified"]);
      expect(requests.rpc).not.to.be.empty;
    });
  });
});
