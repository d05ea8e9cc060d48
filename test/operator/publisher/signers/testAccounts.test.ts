import { expect } from "chai";
import { HDNodeWallet, Mnemonic } from "ethers";
import { FolderStore, MemoryJournal, publish, type Signer, signingSender } from "@keyroot/operator/publisher";
import { TEST_ACCOUNTS } from "../../../../packages/operator/src/publisher/signers/testAccounts.ts";
import { freshRegistry } from "../../../support/chain/freshRegistry.ts";
import { sampleRecords } from "../../../support/samples.ts";
import { failure } from "../../../support/support.ts";

describe("the public test accounts", () => {
  const fresh = freshRegistry();

  it("contain the first 20 accounts of Hardhat's and Anvil's mnemonic", () => {
    const mnemonic = Mnemonic.fromPhrase("test test test test test test test test test test test junk");
    const accounts = TEST_ACCOUNTS.map((_, i) => HDNodeWallet.fromMnemonic(mnemonic, `m/44'/60'/0'/0/${i}`).address);
    expect(TEST_ACCOUNTS).to.deep.equal(accounts).and.to.have.lengthOf(20);
  });

  it("sign on development chains only", () => {
    for (const address of TEST_ACCOUNTS) {
      const signer: Signer = { address, sign: () => Promise.reject(new Error("not to be signed")) };
      const senderFor = (chainId: number) => () =>
        signingSender(signer, { chainId, contract: fresh.contract, owner: address.toLowerCase() }, fresh.call);
      expect(senderFor(1)).to.throw(address).with.property("code", "TEST_KEY_REFUSED");
      expect(senderFor(31337)).not.to.throw();
    }
  });

  it("do not publish on other chains, even if the endpoint has their keys", async () => {
    const registry = await fresh.connect(fresh.at("eth_chainId", () => "0x1"));
    const store = new FolderStore(fresh.filesDir);
    const limits = { maxFeePerGas: 10n ** 9n };
    const options = { registry, chainId: 1, limits, store, journal: new MemoryJournal() };
    expect(await failure(publish(sampleRecords(1), options))).to.include({ code: "TEST_KEY_REFUSED" });
  });
});
