import { expect } from "chai";
import { endpoints, oneEndpoint, ownNode, pinnedBlock, type Trust } from "keyroot";
import { accounts } from "keyroot/account";
import { rpcCaller } from "keyroot/internal/transport";
import { lightClient } from "keyroot/light-client";
import type { Listening } from "@keyroot/operator/shared";
import { SimulatedBeacon, TEST_CHECKPOINT } from "@keyroot/operator/testing";
import { AccountRegistry, keyAt, PAPER, textAt } from "../../support/account/accountRegistry.ts";
import { plainAccount, plainAccountFile, plainSlot, plainStatement } from "../../support/account/plainAccount.ts";
import { failure } from "../../support/support.ts";
import { verifierAt, type OnceOptions } from "../../support/verifier/verifyOnce.ts";

/**
 * The maximum number of bytes that an account adds in the small registry of this test, including the account file. The
 * second slot's proof grows with the registry: docs/accounts.md states its size at 70,000 users.
 */
const MAX_ADDED_BYTES = 2100;

describe("a verifier with accounts", () => {
  const trusts: Record<string, () => Trust> = {
    oneEndpoint: () => oneEndpoint(),
    "oneEndpoint at a block": () => oneEndpoint({ block: "finalized" }),
    endpoints: () => endpoints({ required: 2 }),
    ownNode: () => ownNode(),
  };
  let registry: AccountRegistry;

  before(async () => {
    registry = await AccountRegistry.start();
  });

  after(() => registry.close());

  const verify = (userID: string, number: number, options: Partial<OnceOptions> = {}) => {
    const { account, expectedPublicKey = keyAt(number), ...others } = options;
    const verifier = verifierAt({ ...registry.optionsFor(oneEndpoint()), accounts: accounts(), ...others });
    return verifier.verify(userID, { account, expectedPublicKey });
  };

  for (const [name, makeTrust] of Object.entries(trusts))
    describe(`that trusts ${name}`, () => {
      const trust = makeTrust();
      const inAccount = (userID: string, number: number, options: Partial<OnceOptions> = {}) =>
        verify(userID, number, { ...registry.optionsFor(trust), ...options });

      it("verifies the first key, and names its account and number", async () => {
        const account = registry.newAccount();
        const file = await registry.change(account, 0);
        for (const given of [file, Buffer.from(file), undefined]) {
          const verified = await inAccount(account.userID, 0, { account: given });
          expect(verified.account).to.deep.equal({ userID: account.userID, number: 0 });
          expect(verified.record.userID).to.equal(account.userID);
        }
      });

      it("verifies the newest key after a change, also if the app has the statement before it", async () => {
        const account = registry.newAccount();
        const before = await registry.change(account, 0);
        const file = await registry.change(account, 1, [2]);
        for (const given of [file, before, undefined]) {
          const { record, account: verified } = await inAccount(account.userID, 1, { account: given });
          expect(verified).to.deep.equal({ userID: account.userID, number: 1 });
          expect(record).to.deep.include({ userID: plainSlot(account, 1), pubKey: textAt(1) });
        }
        const error = await failure(inAccount(account.userID, 1, { expectedPublicKey: keyAt(0) }));
        expect(error).to.include({ code: "KEY_MISMATCH", advice: "warn" });
      });

      it("accepts no key if the next slot has a key without a statement, until the owner declares it void", async () => {
        const account = registry.newAccount();
        const file = await registry.change(account, 0);
        await registry.publish(plainSlot(account, 1), keyAt(3));
        for (const key of [keyAt(0), keyAt(3)]) {
          const error = await failure(inAccount(account.userID, 0, { account: file, expectedPublicKey: key }));
          expect(error).to.include({ step: "root", code: "SUCCESSOR_UNPROVEN", advice: "warn" });
        }
        const closed = `${file}\n${plainStatement(account, 1, undefined)}`;
        expect(await inAccount(account.userID, 0, { account: closed })).to.have.nested.property("account.number", 0);
      });

      it("reports a filled next slot also if the file host has no account file", async () => {
        const account = registry.newAccount();
        const file = plainAccountFile(account, [plainStatement(account, 0, textAt(0))]);
        await registry.publish(account.userID, keyAt(0));
        await registry.publish(plainSlot(account, 1), keyAt(3));
        const error = await failure(inAccount(account.userID, 0, { account: file }));
        expect(error).to.include({ step: "root", code: "SUCCESSOR_UNPROVEN", advice: "warn" });
        const contact = { userID: account.userID, expectedPublicKey: keyAt(0), account: file };
        const options = { ...registry.optionsFor(trust), accounts: accounts() };
        const [outcome] = await verifierAt(options).verifyMany([contact]);
        expect(outcome).to.have.nested.property("error.code", "SUCCESSOR_UNPROVEN");
      });

      it("throws NOT_PUBLISHED for an authorized key that is not on the chain", async () => {
        const account = registry.newAccount();
        await registry.change(account, 0);
        const later = plainAccountFile(account, [plainStatement(account, 1, textAt(1))]);
        const error = await failure(inAccount(account.userID, 1, { account: later }));
        expect(error).to.include({ step: "root", code: "NOT_PUBLISHED" });
      });

      it("checks the chain, the contract and its code", async () => {
        const account = registry.newAccount();
        const file = await registry.change(account, 0);
        const codeHash = `0x${"00".repeat(32)}`;
        const wrong = await failure(inAccount(account.userID, 0, { account: file, codeHash }));
        expect(wrong).to.include({ code: "CODE_HASH_MISMATCH" });
        const nowhere = `0x${"11".repeat(20)}`;
        const there = plainAccount([PAPER], 1, { contract: nowhere });
        const given = plainAccountFile(there, [plainStatement(there, 0, textAt(0))]);
        const error = await failure(inAccount(there.userID, 0, { account: given, contract: nowhere }));
        expect(error).to.include({ code: "NO_CONTRACT" });
      });
    });

  it("accepts the newest key of its block, also if a later slot then had the key that the owner authorized afterwards", async () => {
    const account = registry.newAccount();
    const before = await registry.change(account, 0);
    // The operator guesses that the owner will return to the first key.
    await registry.publish(plainSlot(account, 2), keyAt(0));
    const { hash } = (await registry.chain.connection.ethers.provider.getBlock("latest")) ?? {};
    await registry.change(account, 1);
    const statement = plainStatement(account, 2, textAt(0));
    registry.store(account, plainAccountFile(account, [statement]));
    const then = { trust: pinnedBlock(hash ?? ""), account: before };
    expect(await verify(account.userID, 0, then)).to.have.nested.property("account.number", 0);
    const now = await verify(account.userID, 2, { expectedPublicKey: keyAt(0) });
    expect(now.account).to.deep.equal({ userID: account.userID, number: 2 });
  });

  it("throws ACCOUNT_MISMATCH for the account of another user, chain or contract", async () => {
    const [account, other] = [registry.newAccount(), registry.newAccount()];
    const given = await registry.change(other, 0);
    expect(await failure(verify(account.userID, 0, { account: given }))).to.include({ code: "ACCOUNT_MISMATCH" });
    for (const place of [{ chainId: 1, contract: registry.contract.toLowerCase() }, {}]) {
      const elsewhere = plainAccount([PAPER], 1, place);
      const file = plainAccountFile(elsewhere, [plainStatement(elsewhere, 0, textAt(0))]);
      await registry.publish(elsewhere.userID, keyAt(0));
      const error = await failure(verify(elsewhere.userID, 0, { account: file }));
      expect(error).to.include({ step: "file", code: "ACCOUNT_MISMATCH", advice: "warn" });
    }
  });

  it("throws KEY_STATEMENT_INVALID below the threshold", async () => {
    const account = registry.newAccount(2);
    await registry.publish(account.userID, keyAt(0));
    for (const signers of [[1], [2], [1, 1], [2, 1]]) {
      const file = plainAccountFile(account, [plainStatement(account, 0, textAt(0), signers)]);
      const error = await failure(verify(account.userID, 0, { account: file }));
      expect(error).to.include({ step: "file", code: "KEY_STATEMENT_INVALID", advice: "warn" });
    }
    const file = plainAccountFile(account, [plainStatement(account, 0, textAt(0), [1, 2])]);
    expect(await verify(account.userID, 0, { account: file })).to.have.nested.property("account.number", 0);
  });

  it("throws SUCCESSOR_UNPROVEN for a published key that the account did not authorize", async () => {
    const account = registry.newAccount();
    await registry.publish(account.userID, keyAt(3));
    const file = plainAccountFile(account, [plainStatement(account, 0, textAt(0))]);
    registry.store(account, file);
    for (const key of [keyAt(0), keyAt(3)]) {
      const error = await failure(verify(account.userID, 0, { account: file, expectedPublicKey: key }));
      expect(error).to.include({ step: "record", code: "SUCCESSOR_UNPROVEN" });
    }
  });

  it("is required for the account option, and accepts only the value of accounts()", async () => {
    const account = registry.newAccount();
    const file = await registry.change(account, 0);
    const plain = verifierAt(registry.optionsFor(oneEndpoint()));
    const error = await failure(plain.verify(account.userID, { account: file, expectedPublicKey: keyAt(0) }));
    expect(error).to.include({ code: "ARGUMENT_INVALID" });
    for (const value of ["required", true, { name: "accounts" }])
      expect(() => verifierAt({ ...registry.optionsFor(oneEndpoint()), accounts: value as never })).to.throw(
        /keyroot\/account/,
      );
  });

  describe("compared with a verifier without accounts", () => {
    const all: Record<string, () => Trust> = {
      ...trusts,
      lightClient: () => lightClient({ urls: [beacon.url], checkpoint: TEST_CHECKPOINT }),
    };
    let beacon: Listening;

    before(async () => {
      // The sizes of storage proofs depend on the registry's other users.
      await registry.deploy();
      const call = rpcCaller(registry.chain.rpcUrl, { maxBytes: 2 ** 20, timeoutMs: 10_000 });
      beacon = await new SimulatedBeacon({ call }).listen();
    });

    after(() => beacon.close());

    /** Counts the requests of a verification, and their bytes in both directions. */
    const measure = async (work: () => Promise<unknown>) => {
      registry.requests.length = 0;
      await work();
      return {
        requests: registry.requests.length,
        bytes: registry.requests.reduce((sum, { bytes }) => sum + bytes, 0),
      };
    };

    for (const [name, makeTrust] of Object.entries(all))
      it(`sends no more requests and at most ${MAX_ADDED_BYTES} bytes more in a small registry, with ${name}`, async () => {
        const account = registry.newAccount();
        const file = await registry.change(account, 0);
        // A light client remembers what it has read, so each verification has its own one.
        const options = () => registry.optionsFor(makeTrust());
        const plain = await measure(() =>
          verifierAt(options()).verify(account.userID, { expectedPublicKey: keyAt(0) }),
        );
        const withAccount = await measure(() => verify(account.userID, 0, { ...options(), account: file }));
        expect(withAccount.requests).to.equal(plain.requests);
        // The account file comes with the server's answer.
        const perEndpoint = (withAccount.bytes - plain.bytes) / (name === "endpoints" ? 2 : 1);
        expect(perEndpoint + file.length).to.be.at.most(MAX_ADDED_BYTES);
        const fetched = await measure(() => verify(account.userID, 0, options()));
        expect(fetched.requests).to.equal(plain.requests + 1);
      });

    it("sends as much after fifty changes as after one, with every choice", async () => {
      const account = registry.newAccount();
      await registry.change(account, 0);
      const afterOne = await registry.change(account, 1);
      const measureAll = async (number: number, file: string) => {
        const found = new Map<string, Awaited<ReturnType<typeof measure>>>();
        for (const [name, makeTrust] of Object.entries(all)) {
          const options = { ...registry.optionsFor(makeTrust()), account: file };
          found.set(name, await measure(() => verify(account.userID, number, options)));
        }
        return found;
      };
      const once = await measureAll(1, afterOne);
      let file = afterOne;
      for (let number = 2; number <= 50; number++) file = await registry.change(account, number);
      const often = await measureAll(50, file);
      expect(file.length).to.equal(afterOne.length + 1);
      for (const [name, { requests, bytes }] of often) {
        expect(requests, name).to.equal(once.get(name)?.requests);
        // Only the proofs grow, because the contract has 98 more users.
        expect(bytes - (once.get(name)?.bytes ?? 0), name).to.be.below(2000);
      }
    });
  });
});
