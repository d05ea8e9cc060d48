import { expect } from "chai";
import { describeError, oneEndpoint, type Trust } from "keyroot";
import { accounts } from "keyroot/account";
import { AccountRegistry, FINAL, keyAt, textAt, TRUSTS } from "../../support/account/accountRegistry.ts";
import { type PlainAccount, plainAccountFile, plainStatement } from "../../support/account/plainAccount.ts";
import { failure } from "../../support/support.ts";
import { type TestOptions, verifierAt } from "../../support/verifier/verifyOnce.ts";

const DAY_MS = 86_400_000;

describe("a verifier without a contact's account file", () => {
  let registry: AccountRegistry;

  before(async () => {
    registry = await AccountRegistry.start();
  });

  after(() => registry.close());

  const verifier = (trust: Trust = FINAL(), more: Partial<TestOptions> = {}) =>
    verifierAt({ ...registry.optionsFor(trust), accounts: accounts(), ...more });
  const verify = ({ userID }: PlainAccount, options: Partial<TestOptions> = {}, knownSince?: number) =>
    failure(verifier(FINAL(), options).verify(userID, { expectedPublicKey: keyAt(0), knownSince }));
  const withhold = ({ hex }: PlainAccount) => registry.files.delete(`/accounts/${hex}.txt`);
  const MISSING = { step: "file", code: "ACCOUNT_MISSING", advice: "warn" };

  describe("of a user without a published key", () => {
    for (const [name, makeTrust] of Object.entries(TRUSTS))
      it(`says that no key is published, as with the account file, with ${name}`, async () => {
        const account = registry.newAccount();
        const { userID } = account;
        const file = plainAccountFile(account, [plainStatement(account, 0, textAt(0))]);
        const contact = { userID, expectedPublicKey: keyAt(0) };
        const contacts = [contact, { ...contact, account: file }];
        const outcomes = await verifier(makeTrust()).verifyMany(contacts);
        for (const outcome of outcomes) {
          expect(outcome).to.have.nested.property("error.code", "NOT_PUBLISHED");
          expect(outcome).to.have.nested.property("error.message").that.includes(userID);
        }
        const error = await failure(verifier(makeTrust()).verify(userID, { expectedPublicKey: keyAt(0) }));
        expect(error).to.include({ step: "root", code: "NOT_PUBLISHED" });
      });

    it("advises to wait until publicationMs have passed since knownSince", async () => {
      const account = registry.newAccount();
      const now = Date.now();
      const advice = async (knownSince: number) => {
        const error = await verify(account, { now: () => now }, knownSince);
        expect(describeError(error).title).to.not.equal("Key change not confirmed");
        return (error as { advice?: string }).advice;
      };
      expect(await advice(now)).to.equal("wait");
      expect(await advice(now - 3 * DAY_MS)).to.equal("warn");
    });

    it("uses the time in the cache at which the chain first showed no key", async () => {
      const account = registry.newAccount();
      const cache = new Map<string, string>();
      const now = Date.now();
      const check = async (time: number) =>
        failure(
          verifier(oneEndpoint(), { cache, now: () => time }).verify(account.userID, { expectedPublicKey: keyAt(0) }),
        );
      expect(await check(now - 3 * DAY_MS)).to.include({ code: "NOT_PUBLISHED", advice: "wait" });
      expect(await check(now)).to.include({ code: "NOT_PUBLISHED", advice: "warn" });
    });
  });

  describe("of a user with a published key", () => {
    it("warns that the file is missing, whatever knownSince says, and also after a change", async () => {
      const account = registry.newAccount();
      for (const number of [0, 1]) {
        await registry.change(account, number);
        withhold(account);
        expect(await verify(account)).to.include(MISSING);
        expect(await verify(account, {}, Date.now())).to.include(MISSING);
      }
    });

    it("warns only about this user in a list", async () => {
      const [fresh, published, served] = [registry.newAccount(), registry.newAccount(), registry.newAccount()];
      await registry.change(published, 0);
      withhold(published);
      await registry.change(served, 0);
      const list = [fresh, published, served, published, fresh];
      const outcomes = await verifier().verifyMany(list.map(({ userID }) => ({ userID, expectedPublicKey: keyAt(0) })));
      const codes = outcomes.map((outcome) =>
        "error" in outcome ? outcome.error.code : outcome.verified.account?.number,
      );
      const expected = ["NOT_PUBLISHED", "ACCOUNT_MISSING", 0, "ACCOUNT_MISSING", "NOT_PUBLISHED"];
      expect(codes).to.deep.equal(expected);
    });

    it("warns also if the endpoint does not answer", async () => {
      const account = registry.newAccount();
      await registry.change(account, 0);
      withhold(account);
      const { rpcUrl } = registry.chain;
      const { fetch: ask } = registry.optionsFor(FINAL());
      const withholding: typeof fetch = (input, init) =>
        input === rpcUrl ? Promise.reject(new TypeError("Failed to fetch")) : ask(input, init);
      expect(await verify(account, { fetch: withholding })).to.include(MISSING);
    });

    it("warns if the cache knows the user, also if the endpoint hides all roots", async () => {
      const account = registry.newAccount();
      const { provider } = registry.chain.connection;
      const snapshot = (await provider.request({ method: "evm_snapshot" })) as string;
      await registry.change(account, 0);
      const cache = new Map<string, string>();
      await verifier(FINAL(), { cache }).verify(account.userID, { expectedPublicKey: keyAt(0) });
      // The chain's answers are now as if nothing had been published.
      await provider.request({ method: "evm_revert", params: [snapshot] });
      await provider.request({ method: "hardhat_mine", params: ["0x20"] });
      withhold(account);
      const entries = [...cache];
      const [[key], [note]] = ["", ":account"].map((end) =>
        entries.filter(([name]) => name.endsWith(`${account.userID}${end}`)),
      ) as [[[string, string]], [[string, string]]];
      const caches: Record<string, [string, string][]> = {
        "the key only": [key],
        "a damaged account file only": [[note[0], "damaged"]],
        "an alarm only": [[`${key[0]}:alarm`, "EQUIVOCATION"]],
      };
      for (const [name, left] of Object.entries(caches))
        expect(await verify(account, { cache: new Map(left) }), name).to.include(MISSING);
      const error = await verify(account, { cache: new Map(entries) });
      expect(error).to.have.property("advice", "warn");
      expect(await verify(account, { cache: new Map() })).to.include({ code: "NOT_PUBLISHED" });
    });
  });
});
