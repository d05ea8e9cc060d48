import { expect } from "chai";
import hre from "hardhat";
import {
  ANY_KEY,
  ArgumentError,
  createVerifier,
  endpoints,
  type KeyrootError,
  type KeyRecord,
  oneEndpoint,
  ownNode,
  pinnedBlock,
  type Store,
  type VerifiedKey,
} from "keyroot";
import { auditors } from "keyroot/auditors";
import { ed25519, x25519 } from "keyroot/key-types";
import { lightClient } from "keyroot/light-client";
import { TEST_CHECKPOINT } from "@keyroot/operator/testing";
import { type Stack, startStack } from "@keyroot/service/stack";
import { StatementHost, statementText } from "../../support/auditors/statementHost.ts";
import { signedBy, testAuditors } from "../../support/auditors/testAuditor.ts";
import type { BlockJson } from "../../support/chain/fiveEndpoints.ts";
import { publishLocally } from "../../support/chain/local.ts";
import { startEndpoint } from "../../support/chain/lyingEndpoint.ts";
import { sampleRecords } from "../../support/samples.ts";
import { closedAfterAll, failure, never, rpc } from "../../support/support.ts";
import { type TestOptions, verifierAt } from "../../support/verifier/verifyOnce.ts";

const HOUR_MS = 3_600_000;
const YEAR_MS = 31_557_600_000;
const [mine, other, unverified] = sampleRecords(3) as [KeyRecord, KeyRecord, KeyRecord];

describe("a verifier with a cache, offline", () => {
  const open = closedAfterAll();
  const signers = testAuditors("a", "b", "c");
  let stack: Stack;
  let statements: StatementHost;
  let head: BlockJson;
  let urls: string[];
  let isOnline: boolean;
  /** The time at which a test starts, in ms since 1970. */
  let start: number;
  let cache: Map<string, string>;

  before(async () => {
    stack = open(await startStack(hre, { ports: { chain: 0, files: 0, beacon: 0 } }));
    await publishLocally(stack, [mine, other, unverified]);
    urls = await Promise.all([1, 2, 3].map(async () => open(await startEndpoint(stack.rpcUrl)).url));
    head = (await rpc(stack.rpcUrl, "eth_getBlockByNumber", ["latest", false])) as BlockJson;
    statements = open(await StatementHost.start());
  });

  beforeEach(() => {
    start = Math.max(Number(head.timestamp) * 1000, Date.now());
    isOnline = true;
    cache = new Map();
    publish();
  });

  const publish = (changes = {}) =>
    statements.files.set("latest", signedBy(signers, statementText(stack, head, changes)));
  const audited = (...names: number[]) => {
    const keys = names.map((name) => signers[name]?.key ?? never());
    return { trust: auditors({ keys, threshold: 2, urls: [statements.url] }) };
  };
  const light = (changes = {}) => ({
    trust: lightClient({ urls: [stack.beaconUrl ?? never()], checkpoint: TEST_CHECKPOINT, ...changes }),
  });

  const choices: Record<string, () => Partial<TestOptions>> = {
    oneEndpoint: () => ({ trust: oneEndpoint() }),
    "oneEndpoint at a finalized block": () => ({ trust: oneEndpoint({ block: "finalized" }) }),
    endpoints: () => ({ trust: endpoints({ required: 2 }), rpc: urls }),
    ownNode: () => ({ trust: ownNode() }),
    pinnedBlock: () => ({ trust: pinnedBlock(head.hash) }),
    lightClient: light,
    auditors: () => audited(0, 1, 2),
  };

  const network: typeof fetch = (...request) =>
    isOnline ? fetch(...request) : Promise.reject(new TypeError("Failed to fetch"));
  /** A new verifier, as after a restart of the app. */
  const verifierOf = (options: Partial<TestOptions> = {}) => {
    const { rpcUrl, chainId, contract, merkleUrl } = stack;
    return verifierAt({ rpc: rpcUrl, chainId, contract, merkleUrl, fetch: network, cache, ...options });
  };
  const expecting = ({ pubKey }: KeyRecord) => ({ expectedPublicKey: pubKey });
  const verify = (options?: Partial<TestOptions>) => verifierOf(options).verify(mine.userID, expecting(mine));
  const refusal = async (options: Partial<TestOptions>, userID = mine.userID, expectedPublicKey: unknown = ANY_KEY) =>
    (await failure(
      verifierOf(options).verify(userID, { expectedPublicKey: expectedPublicKey as string }),
    )) as KeyrootError;
  /** A clock that is ahead of the newest block and of the beacon endpoint, which follow different clocks. */
  const at = (ms: number) => ({ now: () => start + ms });

  describe("verifies what it verified online", () => {
    for (const [name, choose] of Object.entries(choices))
      it(`with its age and its evidence: ${name}`, async () => {
        const online = await verify({ ...choose(), ...at(0) });
        expect(online).to.not.have.property("cached");
        isOnline = false;
        const { cached, ...offline } = await verify({ ...choose(), ...at(2 * HOUR_MS) });
        expect(offline).to.deep.equal(online);
        expect(cached).to.include({ checkedAt: at(0).now(), ageMs: 2 * HOUR_MS });
        // A root at a finalized block needs no request. A single endpoint's answer does after an hour.
        if (name === "auditors" || name === "lightClient") expect(cached).to.not.have.property("offline");
        else expect(cached?.offline).to.include({ name: "TransportError", advice: "retry" });
      });

    it("for a contact list, and an error for the other contacts", async () => {
      await verifierOf().verifyMany(
        [mine, other].map(({ userID, pubKey: expectedPublicKey }) => ({ userID, expectedPublicKey })),
      );
      isOnline = false;
      const contacts = [unverified, mine, other].map(({ userID, pubKey }) => ({ userID, expectedPublicKey: pubKey }));
      const outcomes = await verifierOf().verifyMany(contacts);
      expect(outcomes.map((outcome) => ("error" in outcome ? outcome.error.code : "verified"))).to.deep.equal([
        ...["UNREACHABLE", "verified", "verified"],
      ]);
    });

    it("for years without maxOfflineMs, and for maxOfflineMs with it", async () => {
      await verify(at(0));
      isOnline = false;
      expect((await verify(at(9 * YEAR_MS))).cached).to.include({ ageMs: 9 * YEAR_MS });
      expect((await verify({ maxOfflineMs: HOUR_MS, ...at(HOUR_MS) })).cached).to.include({ ageMs: HOUR_MS });
      expect(await refusal({ maxOfflineMs: HOUR_MS, ...at(HOUR_MS + 1) })).to.include({ code: "UNREACHABLE" });
      expect(await refusal(at(-HOUR_MS))).to.include({ code: "UNREACHABLE" });
    });

    it("and reads the chain again as soon as it can", async () => {
      await verify(at(0));
      isOnline = false;
      await verify(at(HOUR_MS));
      isOnline = true;
      expect(await verify(at(HOUR_MS))).to.not.have.property("cached");
      isOnline = false;
      expect((await verify(at(HOUR_MS + 5))).cached).to.include({ ageMs: 5 });
    });

    it("after the file host has lost the file, because the chain still has the file's root", async () => {
      const online = await verify();
      const withoutFiles = { merkleUrl: `${stack.merkleUrl}/nowhere` };
      const again = await verify(withoutFiles);
      expect(again).to.deep.equal(online);
    });
  });

  describe("verifies nothing else", () => {
    const online: Record<string, (key: VerifiedKey) => Partial<TestOptions>> = {
      "another contract": () => ({ contract: `0x${"12".repeat(20)}` }),
      "another chain": () => ({ chainId: 1 }),
      "another code": () => ({ codeHash: `0x${"12".repeat(32)}` }),
      "another type of key": () => ({ keyType: x25519 }),
      "another endpoint": () => ({ rpc: urls[0] ?? never() }),
      "an endpoint without a cache": () => ({ cache: undefined }),
      "another cache": () => ({ cache: new Map() }),
    };
    for (const [what, change] of Object.entries(online))
      it(`for ${what}`, async () => {
        const key = await verify();
        isOnline = false;
        expect(await refusal(change(key))).to.include({ code: "UNREACHABLE" });
      });

    it("for another key or another user", async () => {
      await verify();
      isOnline = false;
      expect(await refusal({}, mine.userID, other.pubKey)).to.include({ code: "UNREACHABLE", advice: "retry" });
      expect(await refusal({}, other.userID)).to.include({ code: "UNREACHABLE" });
    });

    for (const [name, choose] of Object.entries(choices))
      it(`for another choice of trust than ${name}`, async () => {
        await verify(choose());
        isOnline = false;
        const weaker = name === "oneEndpoint at a finalized block" ? "oneEndpoint" : name;
        for (const [another, chooseAnother] of Object.entries(choices))
          if (another !== name && another !== weaker)
            expect(await refusal(chooseAnother()), another).to.have.property("name", "TransportError");
      });

    it("for a stricter setting of the same choice of trust", async () => {
      const settings: [Partial<TestOptions>, Partial<TestOptions>][] = [
        [{ trust: oneEndpoint() }, { trust: oneEndpoint({ block: "safe" }) }],
        [{ trust: oneEndpoint({ block: "safe" }) }, { trust: oneEndpoint({ block: "finalized" }) }],
        [{ trust: ownNode() }, { trust: ownNode({ block: "finalized" }) }],
        [{ trust: oneEndpoint() }, { trust: oneEndpoint({ maxAgeMs: YEAR_MS }) }],
        [{ trust: pinnedBlock(head.hash) }, { trust: pinnedBlock(`0x${"12".repeat(32)}`) }],
        [
          { trust: endpoints({ required: 2 }), rpc: urls.slice(0, 2) },
          { trust: endpoints({ required: 3 }), rpc: urls },
        ],
        [
          { trust: endpoints({ required: 2 }), rpc: urls.slice(0, 2) },
          { trust: endpoints({ required: 2 }), rpc: urls.slice(1) },
        ],
        [light({ maxCheckpointAgeMs: 9000 * YEAR_MS }), light()],
        [{ trust: oneEndpoint({ block: "finalized" }) }, { trust: oneEndpoint({ block: "finalized", maxAgeMs: 1 }) }],
      ];
      for (const [i, [weak, strict]] of settings.entries()) {
        isOnline = true;
        cache.clear();
        await verify({ ...weak, ...at(1000) });
        isOnline = false;
        expect(await verify({ ...weak, ...at(1000) }), `${i}`).to.have.property("cached");
        expect(await refusal({ ...strict, ...at(1000) }), `${i}`).to.have.property("name", "TransportError");
      }
    });

    it("for other auditors", async () => {
      statements.files.set("latest", signedBy(signers.slice(0, 2), statementText(stack, head)));
      await verify(audited(0, 1));
      statements.files.clear();
      isOnline = false;
      expect(await verify(audited(0, 1, 2))).to.have.property("cached");
      expect(await refusal(audited(1, 2))).to.include({ code: "AUDITORS_NOT_REACHED" });
    });

    it("for a user whose root the auditors found to be damaged", async () => {
      const { root } = await verify(audited(0, 1, 2));
      isOnline = false;
      expect(await verify(audited(0, 1, 2))).to.have.property("cached");
      isOnline = true;
      publish({ damagedCount: 1, damagedRoots: [{ root, codes: ["KEY_INVALID"] }] });
      // The stored answer is final, so only a changed trust reads the chain again.
      expect((await verify({ ...audited(0, 1, 2), cache: withoutKeys(cache) })).evidence.damage).to.deep.equal([
        "KEY_INVALID",
      ]);
      isOnline = false;
      expect(await refusal(audited(0, 1, 2))).to.include({ code: "AUDITORS_NOT_REACHED" });
    });

    it("for a call that the app aborts", async () => {
      await verify();
      const options = { ...expecting(mine), signal: AbortSignal.abort() };
      expect(await failure(verifierOf().verify(mine.userID, options))).to.include({ code: "ABORTED" });
    });

    it("if the stored type of key has the same length", async () => {
      const [[name = "", text = ""] = []] = (await verify({ keyType: undefined }), cache);
      expect(name).to.contain(":curve41417:");
      for (const keyType of [x25519, ed25519]) cache.set(name.replace("curve41417", keyType.name), text);
      isOnline = false;
      expect(await refusal({ keyType: ed25519 })).to.include({ code: "UNREACHABLE" });
    });
  });

  describe("rejects an option that could have no effect", () => {
    const place = () => ({ rpc: stack.rpcUrl, chainId: 1, contract: stack.contract, merkleUrl: stack.merkleUrl });
    const wrong: Record<string, object> = {
      "maxOfflineMs without a cache": { maxOfflineMs: 1 },
      "a negative age": { cache: new Map(), maxOfflineMs: -1 },
      "a cache without functions": { cache: {} },
      "a time of the earlier version": { cache: new Map(), recheckMs: 1 },
    };
    for (const [what, options] of Object.entries(wrong))
      it(what, () => {
        expect(() => createVerifier({ ...place(), trust: oneEndpoint(), ...options }))
          .to.throw(ArgumentError)
          .with.property("code", "ARGUMENT_INVALID");
      });

    it("a cache of a single call", async () => {
      for (const call of [
        verifierOf().verifyMany([], { cache } as never),
        verifierOf().verify(mine.userID, { ...expecting(mine), cache } as never),
      ])
        expect(await failure(call)).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID" });
    });
  });
});

/** A view of a store that shows no keys, so the chain is read, and that stores new ones. */
function withoutKeys(store: Map<string, string>): Store {
  return { get: () => undefined, set: (name, text) => store.set(name, text) };
}
