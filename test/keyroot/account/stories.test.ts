import { expect } from "chai";
import { endpoints, ownNode, type Trust } from "keyroot";
import { accounts } from "keyroot/account";
import { makeSafetyCode } from "keyroot/safety-code";
import { AccountRegistry, keyAt, PAPER, PHONE, textAt } from "../../support/account/accountRegistry.ts";
import {
  type PlainAccount,
  plainAccount,
  plainAccountFile,
  plainKey,
  plainStatement,
} from "../../support/account/plainAccount.ts";
import { never } from "../../support/support.ts";
import { testAll } from "../../support/testSize.ts";
import { verifierAt } from "../../support/verifier/verifyOnce.ts";

/** The number of people who have the user as a contact. */
const CONTACTS = 25;

describe("the stories in docs/accounts.md", () => {
  let registry: AccountRegistry;
  const partner = plainKey("ed25519", "partner");

  before(async () => {
    registry = await AccountRegistry.start();
  });

  after(() => registry.close());

  const trusts: Record<string, () => Trust> = {
    endpoints: () => endpoints({ required: 2, block: "finalized" }),
    ...(testAll && { ownNode: () => ownNode({ block: "finalized" }) }),
  };

  /** Starts apps of people who have the user as a contact. They run all the time, each with a cache of its own. */
  const startApps = ({ userID }: PlainAccount, trust: Trust, count = CONTACTS) => {
    const apps = Array.from({ length: count }, () => ({
      verifier: verifierAt({ ...registry.optionsFor(trust), accounts: accounts(), cache: new Map() }),
    }));
    /** What each app says of the key that the server returns. */
    return async (number: number) => {
      const contact = { userID, expectedPublicKey: keyAt(number) };
      const lists = await Promise.all(apps.map(({ verifier }) => verifier.verifyMany([contact])));
      return lists.map(([outcome = never()]) =>
        "error" in outcome ? outcome.error.code : (outcome.verified.account ?? never()),
      );
    };
  };
  const all = <T>(value: T) => Array.from({ length: CONTACTS }, () => value);
  const twoOfThree = () => {
    const salt = registry.newAccount().hex.slice(0, 32);
    return plainAccount([PHONE, PAPER, partner], 2, { contract: registry.contract.toLowerCase(), salt });
  };

  for (const [name, makeTrust] of Object.entries(trusts))
    describe(`with ${name}`, () => {
      it("lost phone: the paper key changes the key, and all contacts accept it without a restart", async () => {
        const account = registry.newAccount();
        const { userID } = account;
        await registry.change(account, 0, [1]);
        const check = startApps(account, makeTrust());
        expect(await check(0)).to.deep.equal(all({ userID, number: 0 }));
        registry.requests.length = 0;
        expect(await check(0)).to.deep.equal(all({ userID, number: 0 }));
        const unchanged = registry.requests.splice(0).length;
        await registry.change(account, 1, [2]);
        expect(await check(1)).to.deep.equal(all({ userID, number: 1, changedFrom: 0 }));
        // Each app reads the roots twice, because the next slot is filled. Then it requests one file each: that of a
        // change that is being published, which does not exist here, the new account file and the key's file.
        const changed = registry.requests.splice(0);
        expect(changed.filter(({ url }) => /\.(?:json|txt)$/.test(url))).to.have.lengthOf(3 * CONTACTS);
        expect(changed.length).to.be.at.most(2 * unchanged + 4 * CONTACTS);
        expect(await check(0)).to.deep.equal(all("KEY_MISMATCH"));
      });

      it("stolen phone: the phone's recovery key alone signs nothing with a threshold of 2 of 3", async () => {
        const account = twoOfThree();
        const { userID } = account;
        await registry.change(account, 0, [1, 2]);
        const check = startApps(account, makeTrust());
        expect(await check(0)).to.deep.equal(all({ userID, number: 0 }));
        registry.store(account, plainAccountFile(account, [plainStatement(account, 1, textAt(3), [1])]));
        expect(await check(3)).to.deep.equal(all("KEY_MISMATCH"));
        expect(await check(0)).to.deep.equal(all({ userID, number: 0 }));
        await registry.change(account, 1, [2, 3]);
        expect(await check(1)).to.deep.equal(all({ userID, number: 1, changedFrom: 0 }));
      });

      it("lost recovery key: the other one still changes the key, and the safety code stays the same", async () => {
        const account = registry.newAccount();
        const contact = registry.newAccount();
        const { userID } = account;
        const codeOf = (file: string) =>
          makeSafetyCode({ userID, account: file }, { userID: contact.userID, account: contact.text });
        const before = codeOf(await registry.change(account, 0, [2]));
        const check = startApps(account, makeTrust());
        expect(await check(0)).to.deep.equal(all({ userID, number: 0 }));
        expect(codeOf(await registry.change(account, 1, [1]))).to.deep.equal(before);
        expect(await check(1)).to.deep.equal(all({ userID, number: 1, changedFrom: 0 }));
      });

      it("everything lost: nobody else can sign, and the new account has another user id", async () => {
        const [lost, found] = [registry.newAccount(), registry.newAccount()];
        await registry.change(lost, 0);
        const check = startApps(lost, makeTrust());
        // Support staff with keys of their own cannot help.
        const other = plainKey("ed25519", "support");
        const theirs = { ...lost, keys: [other, other] };
        registry.store(lost, plainAccountFile(lost, [plainStatement(theirs, 1, textAt(1))]));
        expect(await check(1)).to.deep.equal(all("KEY_STATEMENT_INVALID"));
        await registry.change(found, 0);
        expect(found.userID).to.not.equal(lost.userID);
        expect(await startApps(found, makeTrust())(0)).to.deep.equal(all({ userID: found.userID, number: 0 }));
      });
    });
});
