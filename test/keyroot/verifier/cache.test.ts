import { expect } from "chai";
import {
  ANY_KEY,
  type ContactOutcome,
  type Store,
  type VerificationError,
  endpoints,
  oneEndpoint,
  ownNode,
  pinnedBlock,
} from "keyroot";
import {
  describeOnChains,
  forged,
  type InventedState,
  lieAboutBlock,
  lieAboutContract,
  mine,
  userID,
  ZERO,
} from "../../support/chain/fiveEndpoints.ts";
import { sampleUserID } from "../../support/samples.ts";
import { failure } from "../../support/support.ts";
import { verifyListOnce, type ListOptions } from "../../support/verifier/verifyOnce.ts";

const BLOCK = { block: "finalized" } as const;
const FINAL = { trust: oneEndpoint(BLOCK) };
const PROVEN = { trust: ownNode(BLOCK) };

describeOnChains("cache of verified keys", (chain) => {
  let cache: Map<string, string>;
  /** Two invented states. The user has another key in the first state, and no key in the second state. */
  let withForgedKey: InventedState;
  let withoutKey: InventedState;

  before(async () => {
    withForgedKey = await chain.inventState(`0x${forged.tree.root}`);
    withoutKey = await chain.inventState(ZERO);
  });
  beforeEach(() => {
    cache = new Map();
    for (const endpoint of chain.endpoints) endpoint.requests = 0;
  });

  const verify = async (options: Partial<ListOptions>): Promise<ContactOutcome> => {
    const all = { ...chain.place(), cache, ...options };
    const [outcome] = await verifyListOnce([{ userID, expectedPublicKey: ANY_KEY }], all);
    if (outcome === undefined) throw new Error("There is no outcome.");
    return outcome;
  };
  const resultOf = (outcome: ContactOutcome) => {
    if ("error" in outcome) return outcome.error.code;
    return outcome.verified.record.pubKey === mine.pubKey ? "truth" : "lie";
  };
  const lie = (index: number, state: InventedState, about = lieAboutContract) => {
    const endpoint = chain.endpoints[index];
    if (endpoint) endpoint.lie = (...call) => about(state, ...call);
  };
  const url = (index: number) => chain.urls()[index] ?? "";
  const quorumOf = (...indexes: number[]) => ({ rpc: indexes.map(url), trust: endpoints({ required: 2, ...BLOCK }) });
  const requests = () => chain.endpoints.map(({ requests }) => requests);

  describe("after a false answer", () => {
    it("returns the true answer for other endpoints", async () => {
      lie(0, withForgedKey);
      expect(resultOf(await verify(FINAL))).to.equal("lie");
      for (let i = 0; i < 2; i++) expect(resultOf(await verify({ ...FINAL, rpc: url(1) }))).to.equal("truth");
      expect(requests()[1]).to.be.greaterThan(0);
    });

    it("returns the true answer for other endpoints after a forged proof", async () => {
      lie(0, withForgedKey, lieAboutBlock);
      expect(resultOf(await verify(PROVEN))).to.equal("lie");
      for (let i = 0; i < 2; i++) expect(resultOf(await verify({ ...PROVEN, rpc: url(1) }))).to.equal("truth");
    });

    it("returns true answers for other endpoints that agree", async () => {
      for (const index of [0, 1]) lie(index, withForgedKey, lieAboutBlock);
      expect(resultOf(await verify(quorumOf(0, 1)))).to.equal("lie");
      const outcome = await verify(quorumOf(2, 3, 4));
      expect(resultOf(outcome)).to.equal("truth");
      expect(outcome.contradicts).to.deep.include({ root: forged.tree.root, final: true });
      expect(resultOf(await verify(quorumOf(1, 2, 3)))).to.be.oneOf(["truth", "QUORUM_NOT_REACHED"]);
      expect(await verify(quorumOf(2, 3, 4))).not.to.have.property("contradicts");
    });

    it("reports a contradiction at the latest block only once", async () => {
      lie(0, withForgedKey);
      expect(resultOf(await verify({}))).to.equal("lie");
      chain.letLie(undefined as never, 1);
      const outcome = await verify({});
      expect(resultOf(outcome)).to.equal("truth");
      const evidence = { source: "one-endpoint", storageProof: false, uniqueness: "checked" };
      expect(outcome.contradicts).to.deep.equal({ root: forged.tree.root, evidence, final: false });
      expect(await verify({}))
        .to.have.property("verified")
        .and.not.to.have.property("contradicts");
      expect(await verify({})).not.to.have.property("contradicts");
    });

    it("returns NOT_PUBLISHED after a false key from another endpoint", async () => {
      lie(0, withForgedKey);
      lie(1, withoutKey);
      expect(resultOf(await verify(FINAL))).to.equal("lie");
      const outcome = await verify({ ...FINAL, rpc: url(1) });
      expect(resultOf(outcome)).to.equal("NOT_PUBLISHED");
      expect(outcome.contradicts).to.deep.include({ root: forged.tree.root });
      expect(await verify({ ...FINAL, rpc: url(1) })).not.to.have.property("contradicts");
      expect(resultOf(await verify({ ...FINAL, rpc: url(2) }))).to.equal("truth");
    });

    it("deletes the false answer if another answer contradicts it", async () => {
      lie(0, withForgedKey);
      expect(resultOf(await verify(FINAL))).to.equal("lie");
      const withoutFiles = { ...FINAL, rpc: url(1), merkleUrl: `${chain.files.url}/nowhere` };
      const outcome = await verify(withoutFiles);
      expect(resultOf(outcome)).to.equal("FILE_NOT_FOUND");
      expect(outcome.contradicts).to.deep.include({ root: forged.tree.root });
      expect(await verify(withoutFiles)).not.to.have.property("contradicts");
      // The entry is empty. The code of the alarm remains until a verification succeeds.
      expect([...cache.values()]).to.deep.equal(["", "FILE_NOT_FOUND"]);
    });

    it("has stored the alarm when it reports it, even if the cache hangs for another contact", async () => {
      lie(0, withForgedKey);
      expect(resultOf(await verify(FINAL))).to.equal("lie");
      const other = sampleUserID(7);
      const slow: Store = {
        get: (name) => (name.includes(other) ? new Promise<never>(() => undefined) : cache.get(name)),
        set: (name, text) => cache.set(name, text),
      };
      const stored: string[][] = [];
      const onOutcome = (outcome: ContactOutcome) => {
        const texts = [...cache].filter(([name]) => name.includes(userID)).map(([, text]) => text);
        if (outcome.contradicts) stored.push(texts);
      };
      const list = [userID, other].map((id) => ({ userID: id, expectedPublicKey: ANY_KEY }));
      const options = { ...chain.place(), ...FINAL, rpc: url(1), merkleUrl: `${chain.files.url}/nowhere` };
      await verifyListOnce(list, { ...options, cache: slow, onOutcome, limits: { timeoutMs: 5000 } });
      expect(stored).to.deep.equal([["", "FILE_NOT_FOUND"]]);
    });
  });

  describe("after an endpoint corrected its false answer", () => {
    const HOUR = 3_600_000;
    /** Replaces the clock by the newest block's time plus `ms`, because test chains are ahead of the clock. */
    const at = (ms: number) => ({ ...FINAL, now: () => Number(chain.head.timestamp) * 1000 + ms });

    beforeEach(async () => {
      lie(0, withForgedKey);
      expect(resultOf(await verify(at(0)))).to.equal("lie");
      chain.letLie(undefined as never, 1);
    });

    it("returns the false answer for less than an hour", async () => {
      expect(resultOf(await verify(at(HOUR - 1)))).to.equal("lie");
      const outcome = await verify(at(HOUR));
      expect(resultOf(outcome)).to.equal("truth");
      expect(outcome.contradicts).to.deep.include({ root: forged.tree.root });
    });

    it("discards an answer with a storage time in the future", async () => {
      expect(resultOf(await verify(at(-1)))).to.equal("truth");
    });

    it("reads the chain again before it reports KEY_MISMATCH", async () => {
      const options = { ...chain.place(), cache, ...at(1) };
      const [outcome] = await verifyListOnce([{ userID, expectedPublicKey: mine.pubKey }], options);
      expect(outcome).to.have.nested.property("verified.record.pubKey", mine.pubKey);
      expect(outcome?.contradicts).to.deep.include({ root: forged.tree.root });
    });
  });

  it("returns a quorum's answer without a request after an hour", async () => {
    expect(resultOf(await verify({ ...quorumOf(0, 1) }))).to.equal("truth");
    const before = requests();
    const later = { ...quorumOf(0, 1), now: () => Date.now() + 10_000_000 };
    expect(resultOf(await verify(later))).to.equal("truth");
    expect(requests()).to.deep.equal(before);
  });

  it("discards an answer about a block in the future", async () => {
    expect(resultOf(await verify({ ...quorumOf(0, 1) }))).to.equal("truth");
    const [[name = "", text = ""] = []] = cache;
    const entry = JSON.parse(text) as { evidence: { block: { timestamp: number } } };
    entry.evidence.block.timestamp += 3_155_760_000;
    cache.set(name, JSON.stringify(entry));
    const before = requests();
    const strict = { ...quorumOf(0, 1), trust: endpoints({ required: 2, ...BLOCK, maxAgeMs: 1e9 }) };
    expect(resultOf(await verify(strict))).to.equal("truth");
    expect(requests()).not.to.deep.equal(before);
  });

  it("discards one endpoint's answer for a stronger block source", async () => {
    expect(resultOf(await verify(FINAL))).to.equal("truth");
    for (const stronger of [PROVEN, { rpc: [url(0)], trust: endpoints({ required: 1, ...BLOCK }) }]) {
      const before = requests();
      expect(resultOf(await verify(stronger))).to.equal("truth");
      expect(requests()).not.to.deep.equal(before);
    }
  });

  it("accepts an equally weak answer that contradicts a quorum of 1", async () => {
    lie(0, withForgedKey, lieAboutBlock);
    const quorumOf1 = { rpc: [url(0)], trust: endpoints({ required: 1, ...BLOCK }) };
    expect(resultOf(await verify(quorumOf1))).to.equal("lie");
    const outcome = await verify({ ...FINAL, rpc: url(1) });
    expect(resultOf(outcome)).to.equal("truth");
    expect(outcome.contradicts).to.deep.include({ root: forged.tree.root });
  });

  it("causes a new request if an entry is damaged", async () => {
    expect(resultOf(await verify(FINAL))).to.equal("truth");
    const [[name = "", text = ""] = []] = cache;
    const entry = JSON.parse(text) as Record<string, unknown>;
    const changes = { root: 1, index: "0", blockNumber: null, tag: "final", sources: [], record: "{}", evidence: [] };
    const wrong = [
      ...Object.entries(changes),
      ["sources", [1]],
      ["storedAt", null],
      ["format", "keyroot-cache-v4"],
    ] as [string, unknown][];
    const damaged = wrong.map(([field, value]) => JSON.stringify({ ...entry, [field]: value }));
    for (const stored of [...damaged, "", "{}", "null", "[]", text.slice(1)]) {
      cache.set(name, stored);
      const before = requests();
      expect(resultOf(await verify(FINAL)), stored).to.equal("truth");
      expect(requests(), stored).not.to.deep.equal(before);
    }
  });

  it("is not read if the options are invalid", async () => {
    for (const rpc of ["not a URL", null, 7, "ws://a.example"]) {
      const error = await failure(verify({ ...FINAL, rpc: rpc as never }));
      expect(error).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID" });
    }
  });

  describe("with stronger evidence than the new answer", () => {
    const strong = () => quorumOf(2, 3, 4);

    beforeEach(async () => {
      expect(resultOf(await verify(strong()))).to.equal("truth");
    });

    for (const [what, invented] of Object.entries({ "another key": () => withForgedKey, "no key": () => withoutKey })) {
      it(`fails with EQUIVOCATION if one endpoint reports ${what}`, async () => {
        lie(0, invented());
        for (const required of [{}, FINAL]) {
          const outcome = await verify({ ...required, rpc: url(0) });
          expect(resultOf(outcome)).to.equal("EQUIVOCATION");
          const { expected, actual, step } = (outcome as unknown as { error: VerificationError }).error;
          expect(step).to.equal("root");
          expect(expected).to.have.nested.property("evidence.source", "endpoints");
          expect(actual).to.have.nested.property("evidence.source", "one-endpoint");
        }
      });
    }

    it("is not used after EQUIVOCATION, until the chain confirms it again", async () => {
      const offline = { ...strong(), fetch: () => Promise.reject(new TypeError("Failed to fetch")) };
      expect(resultOf(await verify(offline))).to.equal("truth");
      lie(0, withForgedKey);
      expect(resultOf(await verify({ rpc: url(0) }))).to.equal("EQUIVOCATION");
      expect(resultOf(await verify(offline))).to.equal("QUORUM_NOT_REACHED");
      expect(resultOf(await verify(strong()))).to.equal("truth");
      expect(resultOf(await verify(offline))).to.equal("truth");
    });

    it("keeps its evidence after the same answer from one endpoint", async () => {
      expect(resultOf(await verify({ ...FINAL, rpc: url(0) }))).to.equal("truth");
      const before = requests();
      expect(resultOf(await verify(strong()))).to.equal("truth");
      expect(requests()).to.deep.equal(before);
    });
  });

  describe("with a quorum's answer", () => {
    it("causes no request while enough of the quorum's endpoints are in the options", async () => {
      expect(resultOf(await verify({ ...quorumOf(0, 1) }))).to.equal("truth");
      const before = requests();
      for (const members of [
        [0, 1],
        [1, 0],
        [0, 1, 2],
      ]) {
        expect(resultOf(await verify({ ...quorumOf(...members) }))).to.equal("truth");
      }
      expect(requests()).to.deep.equal(before);
    });

    it("causes a new request if too few of the quorum's endpoints are in the options", async () => {
      for (const change of [
        quorumOf(1, 2),
        quorumOf(2, 3),
        { rpc: [0, 1, 2].map(url), trust: endpoints({ required: 3, ...BLOCK }) },
      ]) {
        cache.clear();
        expect(resultOf(await verify({ ...quorumOf(0, 1) }))).to.equal("truth");
        const before = requests();
        expect(resultOf(await verify({ ...FINAL, ...change }))).to.equal("truth");
        expect(requests()).not.to.deep.equal(before);
      }
    });
  });

  it("causes a new request if its block is too old", async () => {
    const now = () => Number(chain.head.timestamp) * 1000 + 10_000_000;
    expect(resultOf(await verify(FINAL))).to.equal("truth");
    expect(resultOf(await verify({ trust: oneEndpoint({ ...BLOCK, maxAgeMs: 1000 }), now }))).to.equal("STALE_BLOCK");
  });

  it("accepts an older pinned block without the user's key", async () => {
    expect(resultOf(await verify(FINAL))).to.equal("truth");
    const { hash } = await chain.fetchBlock(`0x${(chain.blockNumber - 1).toString(16)}`);
    const outcome = await verify({ trust: pinnedBlock(hash), contract: chain.contract });
    expect(outcome).not.to.have.property("contradicts");
    expect(resultOf(outcome)).to.be.oneOf(["NOT_PUBLISHED", "NO_CONTRACT"]);
  });

  it("does not contain the URLs of endpoints", async () => {
    await verify({ ...FINAL, rpc: `${url(0)}/v3/d41d8cd98f00b204` });
    expect(cache.size).to.equal(1);
    expect([...cache].join()).not.to.match(/d41d8cd9|127\.0\.0\.1/);
  });

  it("causes a new request for another path on the same host", async () => {
    expect(resultOf(await verify({ ...FINAL, rpc: `${url(0)}/one` }))).to.equal("truth");
    const before = requests();
    expect(resultOf(await verify({ ...FINAL, rpc: `${url(0)}/two` }))).to.equal("truth");
    expect(requests()).not.to.deep.equal(before);
  });

  it("returns a provider's answer only to the same provider", async () => {
    const provider = (index: number) => {
      const made = {
        requests: 0,
        request: (args: { method: string; params?: readonly unknown[] }) => {
          made.requests++;
          const truth = chain.call(args.method, args.params ?? []);
          return index === 0
            ? Promise.resolve(lieAboutContract(withForgedKey, args.method, args.params ?? [], chain.call))
            : truth;
        },
      };
      return made;
    };
    const [liar, honest] = [provider(0), provider(1)];
    expect(resultOf(await verify({ ...FINAL, rpc: liar }))).to.equal("lie");
    expect(resultOf(await verify({ ...FINAL, rpc: honest }))).to.equal("truth");
    const before = honest.requests;
    expect(resultOf(await verify({ ...FINAL, rpc: honest }))).to.equal("truth");
    expect(honest.requests).to.equal(before);
  });
});
