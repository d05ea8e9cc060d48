import { expect } from "chai";
import { ANY_KEY, oneEndpoint, pinnedBlock } from "keyroot";
import { accounts } from "keyroot/account";
import { type Bundle, type BundleQuery, makeBundle, verifyBundle } from "keyroot/bundle";
import { AccountRegistry, keyAt, textAt } from "../../support/account/accountRegistry.ts";
import { type PlainAccount, plainAccountFile, plainSlot, plainStatement } from "../../support/account/plainAccount.ts";
import { failure, never } from "../../support/support.ts";

describe("bundles with accounts", () => {
  let registry: AccountRegistry;
  let account: PlainAccount;
  let first: Bundle;
  let second: Bundle;
  /** The hashes of the bundles' blocks. */
  const hashes = new Map<Bundle, string>();

  const make = async ({ userID }: PlainAccount, file?: string) => {
    const options = { ...registry.optionsFor(oneEndpoint()), rpc: registry.chain.rpcUrl, accounts: accounts() };
    const { bundle, verified } = await makeBundle(userID, { ...options, account: file });
    hashes.set(bundle, verified.evidence.block?.hash ?? never());
    return { bundle, verified };
  };
  const verify = (bundle: Bundle, options: Partial<BundleQuery> = {}, pinned = hashes.get(bundle) ?? never()) => {
    const { chainId, contract } = registry.optionsFor(oneEndpoint());
    const query = { chainId, contract, userID: account.userID, expectedPublicKey: ANY_KEY, accounts: accounts() };
    return verifyBundle(bundle, { ...query, trust: pinnedBlock(pinned), ...options });
  };

  before(async () => {
    registry = await AccountRegistry.start();
    account = registry.newAccount();
    await registry.change(account, 0);
    ({ bundle: first } = await make(account));
    await registry.change(account, 1);
    ({ bundle: second } = await make(account));
  });

  after(() => registry.close());

  it("prove offline which key is the newest one at their block", async () => {
    for (const [number, bundle] of [first, second].entries()) {
      const verified = await verify(JSON.parse(JSON.stringify(bundle)) as Bundle, {}, hashes.get(bundle));
      expect(verified.account).to.deep.equal({ userID: account.userID, number });
      expect(verified.record).to.deep.include({ userID: plainSlot(account, number), pubKey: textAt(number) });
      const other = await failure(verify(bundle, { expectedPublicKey: keyAt(number + 1) }));
      expect(other).to.include({ step: "key", code: "KEY_MISMATCH" });
    }
  });

  it("are made from the newest account file, also if the app has an older one", async () => {
    const before = plainAccountFile(account, [plainStatement(account, 0, textAt(0))]);
    const { verified } = await make(account, before);
    expect(verified.account).to.deep.equal({ userID: account.userID, number: 1 });
  });

  it("show no older key at a later block", async () => {
    const old = { ...second, account: first.account, proof: first.proof };
    const error = await failure(verify(old, {}, hashes.get(second)));
    expect(error).to.include({ step: "root", code: "PROOF_INVALID" });
    const { storageProof } = second;
    const proofs = { ...old, account: { ...(first.account ?? never()), storageProof } };
    const same = await failure(verify({ ...proofs, storageProof: first.storageProof }, {}, hashes.get(second)));
    expect(same).to.include({ step: "root", code: "PROOF_INVALID" });
  });

  it("are refused if the next slot has a root", async () => {
    const other = registry.newAccount();
    const file = await registry.change(other, 0);
    await registry.change(other, 1);
    const { bundle } = await make(other);
    // Both bundles are from one block, so the proof of the second key's slot shows the root after the first key.
    const forged = { ...(await makeFirst(other)), account: { file, storageProof: bundle.storageProof } };
    const error = await failure(verify(forged, { userID: other.userID }, hashes.get(bundle)));
    expect(error).to.include({ step: "root", code: "SUCCESSOR_UNPROVEN" });
  });

  it("need the account file, a proof of the empty slot and the accounts option", async () => {
    const { account: part, ...without } = second;
    const hash = hashes.get(second);
    expect(await failure(verify(without, {}, hash))).to.include({ step: "file", code: "ACCOUNT_MISSING" });
    const empty = { ...second, account: { file: part?.file ?? never(), storageProof: [] } };
    expect(await failure(verify(empty, {}, hash))).to.include({ step: "root", code: "PROOF_INVALID" });
    const shapeless = { ...second, account: { file: part?.file } } as never;
    expect(await failure(verify(shapeless, {}, hash))).to.include({ step: "file", code: "BUNDLE_SHAPE" });
    const plain = await failure(verify(first, { accounts: undefined }));
    expect(plain).to.include({ step: "file", code: "BUNDLE_SHAPE" });
  });

  it("are refused for another user's account and for a key that the account did not authorize", async () => {
    const userID = registry.newAccount().userID;
    expect(await failure(verify(second, { userID }))).to.include({ code: "ACCOUNT_MISMATCH" });
    const stolen = registry.newAccount();
    await registry.publish(stolen.userID, keyAt(3));
    registry.store(stolen, plainAccountFile(stolen, [plainStatement(stolen, 0, textAt(0))]));
    expect(await failure(make(stolen))).to.include({ step: "record", code: "SUCCESSOR_UNPROVEN" });
  });

  it("without accounts refuse the account option", async () => {
    const options = { ...registry.optionsFor(oneEndpoint()), rpc: registry.chain.rpcUrl, account: "any" };
    expect(await failure(makeBundle(account.userID, options))).to.include({ code: "ARGUMENT_INVALID" });
  });

  /** Creates the bundle of the first key as a reader without accounts does, at a block with the second key. */
  const makeFirst = async ({ userID }: PlainAccount) => {
    const options = { ...registry.optionsFor(oneEndpoint()), rpc: registry.chain.rpcUrl };
    return (await makeBundle(userID, options)).bundle;
  };
});
