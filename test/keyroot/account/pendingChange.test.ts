import { expect } from "chai";
import { ANY_KEY, ownNode } from "keyroot";
import { accounts } from "keyroot/account";
import { makeBundle } from "keyroot/bundle";
import { AccountRegistry, keyAt, textAt } from "../../support/account/accountRegistry.ts";
import { plainAccountFile, plainSlot, plainStatement } from "../../support/account/plainAccount.ts";
import { failure } from "../../support/support.ts";
import { verifierAt } from "../../support/verifier/verifyOnce.ts";

describe("a change of an account's key that is being published", () => {
  let registry: AccountRegistry;

  before(async () => {
    registry = await AccountRegistry.start();
  });

  after(() => registry.close());

  /** Creates an account with key 0 on the chain, whose file host also has the file of the change to key 1. */
  const changing = async () => {
    const account = registry.newAccount();
    const first = await registry.change(account, 0);
    const next = plainAccountFile(account, [plainStatement(account, 1, textAt(1))]);
    registry.files.set(`/accounts/${account.hex}.next.txt`, next);
    const verifier = verifierAt({ ...registry.optionsFor(ownNode()), accounts: accounts() });
    const verify = async () => (await verifier.verify(account.userID, { expectedPublicKey: ANY_KEY })).account?.number;
    const verifyList = async (file?: string) => {
      const [outcome] = await verifier.verifyMany([
        { userID: account.userID, expectedPublicKey: ANY_KEY, ...(file && { account: file }) },
      ]);
      return outcome && "verified" in outcome ? outcome.verified.account?.number : outcome?.error.code;
    };
    return { account, first, verify, verifyList };
  };

  it("leaves the present key valid until the new key's root is on the chain", async () => {
    const { first, verify, verifyList } = await changing();
    expect(await verify()).to.equal(0);
    expect([await verifyList(), await verifyList(first)]).to.deep.equal([0, 0]);
  });

  it("is accepted from the new key's block on, before the file host replaces the account file", async () => {
    const { account, first, verify, verifyList } = await changing();
    await registry.publish(plainSlot(account, 1), keyAt(1));
    expect(await verify()).to.equal(1);
    expect([await verifyList(), await verifyList(first)]).to.deep.equal([1, 1]);
    const options = { ...registry.optionsFor(ownNode()), rpc: registry.optionsFor(ownNode()).rpc as string };
    for (const file of [undefined, first]) {
      const { verified } = await makeBundle(account.userID, { ...options, accounts: accounts(), account: file });
      expect(verified).to.have.nested.property("account.number", 1);
    }
  });

  it("without a file of the change, is SUCCESSOR_UNPROVEN and never the older key", async () => {
    const { account, verify, verifyList } = await changing();
    registry.files.delete(`/accounts/${account.hex}.next.txt`);
    await registry.publish(plainSlot(account, 1), keyAt(1));
    expect(await failure(verify())).to.have.property("code", "SUCCESSOR_UNPROVEN");
    expect(await verifyList()).to.equal("SUCCESSOR_UNPROVEN");
  });
});
