import { expect } from "chai";
import {
  type Contact,
  type ContactOutcome,
  oneEndpoint,
  pinnedBlock,
  type Store,
  type Trust,
  type VerifiedKey,
} from "keyroot";
import { accounts } from "keyroot/account";
import { AccountRegistry, FINAL, keyAt, textAt, TRUSTS } from "../../support/account/accountRegistry.ts";
import { plainAccountFile, plainSlot, plainStatement } from "../../support/account/plainAccount.ts";
import { failure, never } from "../../support/support.ts";
import { type TestOptions, verifierAt } from "../../support/verifier/verifyOnce.ts";

describe("verifyMany with accounts", () => {
  let registry: AccountRegistry;

  before(async () => {
    registry = await AccountRegistry.start();
  });

  beforeEach(() => {
    registry.requests.length = 0;
  });

  after(() => registry.close());

  const verifier = (trust: Trust = FINAL(), more: Partial<TestOptions> = {}) =>
    verifierAt({ ...registry.optionsFor(trust), accounts: accounts(), ...more });
  const caching = (cache: Store, trust = FINAL()) => verifier(trust, { cache });
  /** The number and the key of each outcome, or its error code. */
  const results = (outcomes: ContactOutcome[]) =>
    outcomes.map((outcome) =>
      "error" in outcome ? outcome.error.code : [outcome.verified.account?.number, outcome.verified.record.pubKey],
    );
  const filesRead = () => registry.requests.filter(({ url }) => /\.json$|\.txt$/.test(url)).length;

  for (const [name, makeTrust] of Object.entries(TRUSTS))
    it(`returns the same as verify for each contact, with ${name}`, async () => {
      const [first, changed, unproven] = [registry.newAccount(), registry.newAccount(), registry.newAccount()];
      const file = await registry.change(first, 0);
      const before = await registry.change(changed, 0);
      await registry.change(changed, 1);
      await registry.change(unproven, 0);
      await registry.publish(plainSlot(unproven, 1), keyAt(5));
      const missing = registry.newAccount();
      const contacts = [
        { userID: first.userID, expectedPublicKey: keyAt(0), account: file },
        { userID: changed.userID, expectedPublicKey: keyAt(1), account: before },
        { userID: changed.userID, expectedPublicKey: keyAt(1) },
        { userID: changed.userID, expectedPublicKey: keyAt(0) },
        { userID: unproven.userID, expectedPublicKey: keyAt(0) },
        { userID: missing.userID, expectedPublicKey: keyAt(0) },
        { userID: first.userID, expectedPublicKey: keyAt(0), account: "no account file" },
      ];
      const trust = makeTrust();
      const outcomes = await verifier(trust).verifyMany(contacts);
      expect(results(outcomes)).to.deep.equal([
        ...[[0, textAt(0)], [1, textAt(1)], [1, textAt(1)], "KEY_MISMATCH", "SUCCESSOR_UNPROVEN"],
        ...["NOT_PUBLISHED", "ACCOUNT_INVALID"],
      ]);
      for (const [i, { userID, ...options }] of contacts.entries()) {
        const alone = await verifier(trust)
          .verify(userID, options)
          .catch((error: unknown) => error);
        const outcome = outcomes[i] ?? never();
        if ("error" in outcome) expect(alone).to.include({ code: outcome.error.code, advice: outcome.error.advice });
        else expect(outcome.verified).to.deep.equal(alone);
      }
    });

  it("sends one request more for 100 contacts with account files than without accounts", async () => {
    const account = registry.newAccount();
    const file = await registry.change(account, 0);
    const contacts = Array.from({ length: 100 }, () => ({ userID: account.userID, expectedPublicKey: keyAt(0) }));
    await verifierAt(registry.optionsFor(FINAL())).verifyMany(contacts);
    const plain = registry.requests.splice(0).length;
    await verifier().verifyMany(contacts.map((contact) => ({ ...contact, account: file })));
    expect(registry.requests.length).to.equal(plain + 1);
  });

  it("reads the file host's account file once for a user who is twice in the list", async () => {
    const account = registry.newAccount();
    await registry.change(account, 0);
    const contact = { userID: account.userID, expectedPublicKey: keyAt(0) };
    registry.requests.length = 0;
    const outcomes = await verifier().verifyMany([contact, contact]);
    expect(results(outcomes)).to.deep.equal([
      [0, textAt(0)],
      [0, textAt(0)],
    ]);
    expect(registry.requests.filter(({ url }) => url.endsWith(".txt"))).to.have.lengthOf(1);
  });

  it("refuses account files without the accounts option", async () => {
    const account = registry.newAccount();
    const contact = { userID: account.userID, expectedPublicKey: keyAt(0), account: await registry.change(account, 0) };
    const outcomes = await verifierAt(registry.optionsFor(FINAL())).verifyMany([contact]);
    expect(results(outcomes)).to.deep.equal(["ARGUMENT_INVALID"]);
  });

  describe("with a cache", () => {
    it("reads only the roots again, because only the chain shows that there is no newer key", async () => {
      const account = registry.newAccount();
      await registry.change(account, 0);
      const cache = new Map<string, string>();
      const contacts = [{ userID: account.userID, expectedPublicKey: keyAt(0) }];
      const first = await caching(cache).verifyMany(contacts);
      expect(filesRead()).to.equal(2);
      registry.requests.length = 0;
      const second = await caching(cache).verifyMany(contacts);
      expect(filesRead()).to.equal(0);
      expect(registry.requests.length).to.be.above(0);
      expect(results(second)).to.deep.equal(results(first));
    });

    it("finds a changed key, and says which key it replaced", async () => {
      const account = registry.newAccount();
      await registry.change(account, 0);
      const cache = new Map<string, string>();
      const check = async (number: number) => {
        const [outcome = never()] = await caching(cache).verifyMany([
          { userID: account.userID, expectedPublicKey: keyAt(number) },
        ]);
        return "verified" in outcome ? outcome.verified.account : outcome.error;
      };
      const { userID } = account;
      expect(await check(0)).to.deep.equal({ userID, number: 0 });
      await registry.change(account, 1);
      expect(await check(0)).to.include({ code: "KEY_MISMATCH" });
      expect(await check(1)).to.deep.equal({ userID, number: 1, changedFrom: 0 });
      expect(await check(1)).to.deep.equal({ userID, number: 1 });
    });

    it("learns from the app's file that a slot after the key is void, also if the host has only the file before it", async () => {
      const account = registry.newAccount();
      await registry.change(account, 0);
      const cache = new Map<string, string>();
      const contact = { userID: account.userID, expectedPublicKey: keyAt(0) };
      expect(results(await caching(cache).verifyMany([contact]))).to.deep.equal([[0, textAt(0)]]);
      await registry.publish(plainSlot(account, 1), keyAt(3));
      const voids = [plainStatement(account, 0, textAt(0)), plainStatement(account, 1, undefined)];
      const file = plainAccountFile(account, voids);
      expect(results(await caching(cache).verifyMany([{ ...contact, account: file }]))).to.deep.equal([[0, textAt(0)]]);
    });

    it("knows the void slots after the key, also if app and host have only the file before them", async () => {
      const account = registry.newAccount();
      const before = await registry.change(account, 0);
      await registry.publish(plainSlot(account, 1), keyAt(3));
      const voids = [plainStatement(account, 0, textAt(0)), plainStatement(account, 1, undefined)];
      const after = registry.store(account, plainAccountFile(account, voids));
      const cache = new Map<string, string>();
      const contact = { userID: account.userID, expectedPublicKey: keyAt(0) };
      for (const file of [undefined, before, after, before]) {
        const [outcome = never()] = await caching(cache).verifyMany([{ ...contact, account: file }]);
        const { account: verified } = "verified" in outcome ? outcome.verified : never();
        expect(verified).to.deep.equal({ userID: account.userID, number: 0 });
        registry.store(account, before);
      }
    });

    it("accepts no older key at an older block, even if app and host show only the older statement", async () => {
      const account = registry.newAccount();
      const before = await registry.change(account, 0);
      const { hash } = (await registry.chain.connection.ethers.provider.getBlock("latest")) ?? {};
      const old = pinnedBlock(hash ?? never());
      const contacts = [{ userID: account.userID, expectedPublicKey: keyAt(0), account: before }];
      expect(results(await verifier(old).verifyMany(contacts))).to.deep.equal([[0, textAt(0)]]);
      await registry.change(account, 1);
      const cache = new Map<string, string>();
      const changed = [{ userID: account.userID, expectedPublicKey: keyAt(1) }];
      expect(results(await caching(cache).verifyMany(changed))).to.deep.equal([[1, textAt(1)]]);
      registry.store(account, before);
      expect(results(await caching(cache, old).verifyMany(contacts))).to.deep.equal(["NOT_PUBLISHED"]);
    });

    it("accepts no older key that stolen recovery keys make valid again without a new slot", async () => {
      const account = registry.newAccount();
      await registry.change(account, 0);
      await registry.change(account, 1);
      const cache = new Map<string, string>();
      const contact = { userID: account.userID, expectedPublicKey: keyAt(1) };
      expect(results(await caching(cache).verifyMany([contact]))).to.deep.equal([[1, textAt(1)]]);
      const forked = plainAccountFile(account, [
        plainStatement(account, 0, textAt(0)),
        plainStatement(account, 1, undefined),
      ]);
      registry.store(account, forked);
      const deceived = { ...contact, expectedPublicKey: keyAt(0), account: forked };
      expect(results(await caching(cache).verifyMany([deceived, contact]))).to.deep.equal([
        "KEY_MISMATCH",
        [1, textAt(1)],
      ]);
      // The operator helps the thief, and fills the next slot.
      await registry.publish(plainSlot(account, 2), keyAt(3));
      const longer = plainAccountFile(account, [
        plainStatement(account, 0, textAt(0)),
        plainStatement(account, 1, undefined),
        plainStatement(account, 2, undefined),
      ]);
      registry.store(account, longer);
      const more = [contact, { ...deceived, account: longer }];
      expect(results(await caching(cache).verifyMany(more))).to.deep.equal([
        "SUCCESSOR_UNPROVEN",
        "SUCCESSOR_UNPROVEN",
      ]);
    });

    it("forgets a key that the chain no longer has, so that a void slot's older key is valid", async () => {
      const account = registry.newAccount();
      await registry.change(account, 0);
      const cache = new Map<string, string>();
      const snapshot = (await registry.chain.connection.provider.request({ method: "evm_snapshot" })) as string;
      await registry.change(account, 1);
      const changed = { userID: account.userID, expectedPublicKey: keyAt(1) };
      expect(results(await caching(cache, oneEndpoint()).verifyMany([changed]))).to.deep.equal([[1, textAt(1)]]);
      await registry.chain.connection.provider.request({ method: "evm_revert", params: [snapshot] });
      await registry.publish(plainSlot(account, 1), keyAt(3));
      const voided = [plainStatement(account, 0, textAt(0)), plainStatement(account, 1, undefined)];
      registry.store(account, plainAccountFile(account, voided));
      const contact = { userID: account.userID, expectedPublicKey: keyAt(0) };
      expect(results(await caching(cache, oneEndpoint()).verifyMany([contact]))).to.deep.equal([[0, textAt(0)]]);
    });

    it("forgets a false answer of an endpoint about an unpublished change", async () => {
      const account = registry.newAccount();
      const before = await registry.change(account, 0);
      // The owner signed this change, but it is not published yet.
      const later = plainAccountFile(account, [plainStatement(account, 1, textAt(1))]);
      const cache = new Map<string, string>();
      const snapshot = (await registry.chain.connection.provider.request({ method: "evm_snapshot" })) as string;
      await registry.change(account, 1);
      const changed = [{ userID: account.userID, expectedPublicKey: keyAt(1), account: later }];
      expect(results(await caching(cache).verifyMany(changed))).to.deep.equal([[1, textAt(1)]]);
      await registry.chain.connection.provider.request({ method: "evm_revert", params: [snapshot] });
      await registry.chain.connection.provider.request({ method: "hardhat_mine", params: ["0x20"] });
      const contacts = [{ userID: account.userID, expectedPublicKey: keyAt(0), account: before }];
      const [refused = never()] = await caching(cache).verifyMany(contacts);
      expect(refused).to.have.nested.property("error.code", "NOT_PUBLISHED");
      expect(refused).to.have.nested.property("contradicts.root");
      expect(results(await caching(cache).verifyMany(contacts))).to.deep.equal([[0, textAt(0)]]);
    });

    describe("while the chain cannot be read", () => {
      const HOUR_MS = 3_600_000;
      const unreachable: typeof fetch = () => Promise.reject(new TypeError("Failed to fetch"));
      const offline = (cache: Store, more: Partial<TestOptions> = {}) =>
        verifierAt({ ...registry.optionsFor(FINAL()), accounts: accounts(), cache, fetch: unreachable, ...more });
      const checkOffline = async (cache: Store, contact: Contact, more?: Partial<TestOptions>) =>
        results(await offline(cache, { maxOfflineMs: HOUR_MS, ...more }).verifyMany([contact]));

      it("returns the newest verified key for maxOfflineMs, and none without it", async () => {
        const account = registry.newAccount();
        const before = await registry.change(account, 0);
        await registry.change(account, 1);
        const cache = new Map<string, string>();
        const contact = { userID: account.userID, expectedPublicKey: keyAt(1) };
        const time = Date.now();
        const [online] = await verifier(FINAL(), { cache, now: () => time }).verifyMany([contact]);
        expect(await checkOffline(cache, contact)).to.deep.equal([[1, textAt(1)]]);
        const { verified } = online as ContactOutcome & { verified: VerifiedKey };
        const later = offline(cache, { maxOfflineMs: HOUR_MS, now: () => time + HOUR_MS });
        const { cached, ...again } = await later.verify(account.userID, {
          expectedPublicKey: keyAt(1),
          account: before,
        });
        expect(again).to.deep.equal(verified);
        expect(cached).to.include({ checkedAt: time, ageMs: HOUR_MS });
        expect(await checkOffline(cache, contact, { now: () => time + HOUR_MS + 1 })).to.deep.equal(["UNREACHABLE"]);
        expect(await checkOffline(cache, contact, { maxOfflineMs: undefined })).to.deep.equal(["UNREACHABLE"]);
      });

      it("returns no older key, no other key, and none of which a newer statement is known", async () => {
        const account = registry.newAccount();
        await registry.change(account, 0);
        const cache = new Map<string, string>();
        const old = { userID: account.userID, expectedPublicKey: keyAt(0) };
        await caching(cache).verifyMany([old]);
        expect(await checkOffline(cache, old)).to.deep.equal([[0, textAt(0)]]);
        expect(await checkOffline(cache, { ...old, expectedPublicKey: keyAt(1) })).to.deep.equal(["UNREACHABLE"]);
        const file = await registry.change(account, 1);
        expect(await checkOffline(cache, { ...old, account: file })).to.deep.equal(["UNREACHABLE"]);
        await caching(cache).verifyMany([{ ...old, expectedPublicKey: keyAt(1) }]);
        expect(await checkOffline(cache, old)).to.deep.equal(["UNREACHABLE"]);
      });

      it("returns no key after the chain showed a newer one without a statement", async () => {
        const account = registry.newAccount();
        const file = await registry.change(account, 0);
        const cache = new Map<string, string>();
        const contact = { userID: account.userID, expectedPublicKey: keyAt(0), account: file };
        await caching(cache).verifyMany([contact]);
        await registry.publish(plainSlot(account, 1), keyAt(2));
        expect(results(await caching(cache).verifyMany([contact]))).to.deep.equal(["SUCCESSOR_UNPROVEN"]);
        expect(await checkOffline(cache, contact)).to.deep.equal(["UNREACHABLE"]);
        const later = await registry.change(account, 1);
        expect(results(await caching(cache).verifyMany([{ ...contact, account: later }]))).to.deep.equal([
          "SUCCESSOR_UNPROVEN",
        ]);
        expect(await checkOffline(cache, contact)).to.deep.equal(["UNREACHABLE"]);
      });

      it("returns no key of an account to a verifier without accounts, nor the reverse", async () => {
        const account = registry.newAccount();
        await registry.change(account, 0);
        const contact = { userID: account.userID, expectedPublicKey: keyAt(0) };
        const plain = (cache: Store, more: Partial<TestOptions> = {}) =>
          verifierAt({ ...registry.optionsFor(FINAL()), cache, ...more }).verifyMany([contact]);
        const [ofAccounts, ofPlain] = [new Map<string, string>(), new Map<string, string>()];
        await caching(ofAccounts).verifyMany([contact]);
        expect(results(await plain(ofAccounts, { fetch: unreachable }))).to.deep.equal(["UNREACHABLE"]);
        expect(await plain(ofPlain)).to.have.nested.property("[0].verified");
        expect(await checkOffline(ofPlain, contact)).to.deep.equal(["UNREACHABLE"]);
      });
    });

    it("fetches a damaged account file again", async () => {
      const account = registry.newAccount();
      await registry.change(account, 0);
      const cache = new Map<string, string>();
      const contacts = [{ userID: account.userID, expectedPublicKey: keyAt(0) }];
      await caching(cache).verifyMany(contacts);
      for (const name of cache.keys()) cache.set(name, "damaged");
      expect(results(await caching(cache).verifyMany(contacts))).to.deep.equal([[0, textAt(0)]]);
    });
  });

  it("fails as a whole only for invalid options", async () => {
    const error = await failure(verifier().verifyMany([], { onOutcome: 1 as never }));
    expect(error).to.include({ code: "ARGUMENT_INVALID" });
  });
});
