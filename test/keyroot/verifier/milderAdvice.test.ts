import { expect } from "chai";
import { ANY_KEY, type KeyrootError, type Verifier } from "keyroot";
import {
  describeOnChains,
  lieAboutContract,
  mine,
  nameOf,
  SOURCES,
  userID,
  ZERO,
} from "../../support/chain/fiveEndpoints.ts";
import { sampleUserID } from "../../support/samples.ts";
import { failure, rpc } from "../../support/support.ts";
import { type OnceOptions, type TestOptions, verifierAt } from "../../support/verifier/verifyOnce.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const stranger = sampleUserID(9);

describeOnChains("the advice property of a verification's error", (chain) => {
  const verifierOf = (options: OnceOptions, more: Partial<TestOptions> = {}) => {
    const ofVerifier: TestOptions & { expectedPublicKey?: unknown } = { ...options, now: blockTime, ...more };
    delete ofVerifier.expectedPublicKey;
    return verifierAt(ofVerifier);
  };
  const blockTime = () => Number(chain.head.timestamp) * 1000;
  const adviceFor = (verifier: Verifier, knownSince?: number | null) =>
    failure(verifier.verify(stranger, { expectedPublicKey: mine.pubKey, knownSince })).then(
      (error) => (error as KeyrootError).advice,
    );
  for (const source of SOURCES)
    it(`is \`wait\` for a new user without a root, with ${nameOf(source)}`, async () => {
      const verifier = verifierOf(chain.optionsFor(source));
      for (const knownSince of [blockTime() - HOUR_MS, blockTime(), undefined])
        expect(await adviceFor(verifier, knownSince)).to.equal("wait");
    });

  it("is `warn` for a user whose key was verified before, until it is verified again", async () => {
    const options = chain.optionsFor("one-endpoint");
    const verifier = verifierOf(options, { cache: new Map() });
    const adviceOf = (expectedPublicKey = mine.pubKey) =>
      verifier.verify(userID, { expectedPublicKey }).then(
        () => "verified",
        (error: unknown) => (error as KeyrootError).advice,
      );
    expect(await adviceOf()).to.equal("verified");
    const state = await chain.inventState(ZERO);
    chain.letLie((...call) => lieAboutContract(state, ...call), 5);
    expect([await adviceOf(), await adviceOf()]).to.deep.equal(["warn", "warn"]);
    chain.letLie(undefined as never, 5);
    expect(await adviceOf()).to.equal("verified");
  });

  it("is `warn` after the publication period", async () => {
    const verifier = verifierOf(chain.optionsFor("own-node"));
    expect(await adviceFor(verifier, blockTime() - 2 * DAY_MS)).to.equal("wait");
    for (const knownSince of [blockTime() - 2 * DAY_MS - 1, blockTime() + 1, NaN])
      expect(await adviceFor(verifier, knownSince)).to.equal("warn");
    const endless = verifierOf(chain.optionsFor("own-node"), { publicationMs: Number.MAX_SAFE_INTEGER });
    expect(await adviceFor(endless, 0)).to.equal("wait");
    // Without a time, the user counts as new.
    for (const unknown of [null, undefined]) expect(await adviceFor(endless, unknown)).to.equal("wait");
    const slow = verifierOf(chain.optionsFor("own-node"), { publicationMs: 3 * DAY_MS });
    expect(await adviceFor(slow, blockTime() - 3 * DAY_MS)).to.equal("wait");
  });

  it("is `warn` after the publication period with a cache, which knows since when the chain has no key", async () => {
    let time = Date.now();
    const options = { cache: new Map(), now: () => time };
    const verifier = verifierOf(chain.optionsFor("one-endpoint"), options);
    const start = time;
    expect(await adviceFor(verifier)).to.equal("wait");
    time = start + 2 * DAY_MS;
    expect(await adviceFor(verifier)).to.equal("wait");
    time++;
    expect(await adviceFor(verifier)).to.equal("warn");
    expect(await adviceFor(verifier, time)).to.equal("wait");
    // A clock that was set back starts the period again.
    time = start - DAY_MS;
    expect(await adviceFor(verifier)).to.equal("wait");
  });

  it("is `warn` if the block is more than three hours old", async () => {
    const at = (ageMs: number) => verifierOf(chain.optionsFor("own-node"), { now: () => blockTime() + ageMs });
    expect(await adviceFor(at(3 * HOUR_MS), blockTime())).to.equal("wait");
    expect(await adviceFor(at(3 * HOUR_MS + 1), blockTime())).to.equal("warn");
  });

  it("has the same value in verifyMany", async () => {
    const contacts = [{ userID: stranger, expectedPublicKey: ANY_KEY, knownSince: blockTime() }];
    const [outcome] = await verifierOf(chain.optionsFor("own-node")).verifyMany(contacts);
    expect(outcome).to.have.nested.property("error.advice", "wait");
  });

  it("is `warn` for a swapped key", async () => {
    const verifier = verifierOf(chain.optionsFor("own-node"));
    const error = await failure(verifier.verify(userID, { expectedPublicKey: `BA${mine.pubKey.slice(2, -4)}AAAA` }));
    expect(error).to.include({ code: "KEY_MISMATCH", advice: "warn" });
  });

  it("is `warn` for a swapped key, even if the endpoint withholds the root's block number", async () => {
    const verifier = verifierOf(chain.optionsFor("one-endpoint"));
    chain.letLie((method, params, truth) => {
      if (method === "eth_call" && JSON.stringify(params).includes("47378145")) return null;
      return truth(method, params);
    }, 5);
    const swapped = `BA${mine.pubKey.slice(2, -4)}AAAA`;
    const error = await failure(verifier.verify(userID, { expectedPublicKey: swapped }));
    for (const endpoint of chain.endpoints) endpoint.lie = undefined;
    expect(error).to.include({ code: "KEY_MISMATCH", advice: "warn" });
  });

  it("is `developer` for a wrong chain or contract before the first verification", async () => {
    const options = chain.optionsFor("one-endpoint");
    // Other tests in this process may have verified keys of such a contract or chain, so both are unusual.
    const wrong = { chainId: 987_654_321 };
    expect(await adviceFor(verifierOf(options, wrong))).to.equal("developer");
    expect(await adviceFor(verifierOf(options, { contract: `0x${"5eed".repeat(10)}` }))).to.equal("developer");

    const verifier = verifierOf(options);
    await verifier.verify(userID, { expectedPublicKey: mine.pubKey });
    chain.letLie((method, params, truth) => (method === "eth_chainId" ? "0x7" : truth(method, params)), 5);
    expect(await adviceFor(verifier)).to.equal("warn");
  });

  it("is `developer` if the user of a wallet chose another chain", async () => {
    const chosen: { chainId?: string } = {};
    const [endpoint = ""] = [chain.optionsFor("one-endpoint").rpc].flat() as string[];
    const rpcOf = (method: string, params: unknown) => rpc(endpoint, method, params as unknown[]);
    const wallet = {
      request: async ({ method, params }: { method: string; params?: unknown }) =>
        (method === "eth_chainId" ? chosen.chainId : undefined) ?? rpcOf(method, params),
    };
    const verifier = verifierOf({ ...chain.optionsFor("one-endpoint"), rpc: wallet });
    await verifier.verify(userID, { expectedPublicKey: mine.pubKey });
    chosen.chainId = "0x89";
    expect(await adviceFor(verifier)).to.equal("developer");
  });
});
