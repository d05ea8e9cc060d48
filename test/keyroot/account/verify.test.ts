import { expect } from "chai";
import hre from "hardhat";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { endpoints, oneEndpoint, ownNode, pinnedBlock, type Trust, userIDToHex } from "keyroot";
import { accounts } from "keyroot/account";
import { verifyBundle } from "keyroot/bundle";
import { makeMerkleFile } from "keyroot/merkle";
import { makeKeyRecord } from "keyroot/records";
import type { Listening } from "@keyroot/operator/shared";
import { startLocalChain } from "@keyroot/service/stack";
import type { LocalChain } from "../../../packages/service/src/stack/localChain.ts";
import {
  type PlainAccount,
  plainAccount,
  plainAccountFile,
  plainKey,
  plainSlot,
  plainStatement,
} from "../../support/account/plainAccount.ts";
import { samplePublicKeys, sampleUserID, textOf } from "../../support/samples.ts";
import { serve } from "../../support/servers/servers.ts";
import { failure } from "../../support/support.ts";
import { verifierAt, type OnceOptions } from "../../support/verifier/verifyOnce.ts";

/**
 * Maximum bytes that an account adds in the small registry of this test, with the account file. The second slot's proof
 * grows with the registry: docs/accounts.md has its size at 70,000 users.
 */
const MAX_ADDED_BYTES = 2100;

const keyAt = (number: number) => samplePublicKeys[number % samplePublicKeys.length] ?? new Uint8Array();
const textAt = (number: number) => Buffer.from(keyAt(number)).toString("base64");

describe("a verifier with accounts", () => {
  const trusts: Record<string, () => Trust> = {
    oneEndpoint: () => oneEndpoint(),
    "oneEndpoint at a block": () => oneEndpoint({ block: "finalized" }),
    endpoints: () => endpoints({ required: 2 }),
    ownNode: () => ownNode(),
  };
  const files = new Map<string, string>();
  let chain: LocalChain;
  let host: Listening;
  /** Another endpoint of the same chain. */
  let second: Listening;
  let publish: (userID: string, publicKey: Uint8Array) => Promise<void>;
  let contract: string;
  let count = 0;
  const requests: { url: string; bytes: number }[] = [];

  before(async () => {
    chain = await startLocalChain(hre, { port: 0 });
    await deploy();
    host = await serve(({ url = "" }, response) => {
      const file = files.get(url);
      response.writeHead(file === undefined ? 404 : 200).end(file);
    });
    const forward = async (request: IncomingMessage, response: ServerResponse) => {
      const { id, method, params } = JSON.parse(await text(request)) as {
        id: number;
        method: string;
        params: unknown[];
      };
      const answer = await chain.connection.provider.request({ method, params }).then(
        (result: unknown) => ({ result }),
        () => ({ error: { code: -32000, message: "execution reverted" } }),
      );
      response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
    };
    second = await serve((request, response) => void forward(request, response));
  });

  /** Deploys a registry, in which the tests then publish. */
  const deploy = async () => {
    const { ethers } = chain.connection;
    const [owner] = await ethers.getSigners();
    const registry = await ethers.deployContract("PublicKeyRegistry", [owner]);
    contract = await registry.getAddress();
    publish = async (userID, publicKey) => {
      const neighbor = sampleUserID(count++, 43);
      const file = makeMerkleFile([makeKeyRecord(userID, publicKey), makeKeyRecord(neighbor, keyAt(0))]);
      files.set(`/${file.tree.root}.json`, textOf(file));
      await registry.addMerkleTreeRoot(`0x${file.tree.root}`, `0x${userIDToHex(userID)}${userIDToHex(neighbor)}`);
    };
  };

  after(() => Promise.all([chain.close(), host.close(), second.close()]));

  const phone = plainKey("p256", "phone");
  const paper = plainKey("ed25519", "paper");

  /** A new account of a user with a phone and a paper key, of which each can change the key. */
  const newAccount = (threshold = 1): PlainAccount => {
    const salt = (count++).toString(16).padStart(32, "0");
    return plainAccount([phone, paper], threshold, { contract: contract.toLowerCase(), salt });
  };
  /** Publishes a key, as an operator with the owner's statement does. */
  const change = async (account: PlainAccount, number: number, signers?: number[]) => {
    const file = plainAccountFile(account, [plainStatement(account, number, textAt(number), signers)]);
    files.set(`/accounts/${account.hex}.txt`, file);
    await publish(plainSlot(account, number), keyAt(number));
    return file;
  };
  const counting: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    const bytes = await response.clone().arrayBuffer();
    const sent = typeof init?.body === "string" ? init.body.length : 0;
    requests.push({ url: input as string, bytes: bytes.byteLength + sent });
    return response;
  };
  const optionsFor = (trust: Trust) => {
    const rpc = trust.name === "endpoints" ? [chain.rpcUrl, second.url] : chain.rpcUrl;
    return { rpc, chainId: chain.chainId, contract, merkleUrl: host.url, trust, fetch: counting };
  };
  const verify = (userID: string, number: number, options: Partial<OnceOptions> = {}) => {
    const { account, expectedPublicKey = keyAt(number), ...others } = options;
    const verifier = verifierAt({ ...optionsFor(oneEndpoint()), accounts: accounts(), ...others });
    return verifier.verify(userID, { account, expectedPublicKey });
  };

  for (const [name, makeTrust] of Object.entries(trusts))
    describe(`that trusts ${name}`, () => {
      const trust = makeTrust();
      const inAccount = (userID: string, number: number, options: Partial<OnceOptions> = {}) =>
        verify(userID, number, { ...optionsFor(trust), ...options });

      it("verifies the first key, and names its account and number", async () => {
        const account = newAccount();
        const file = await change(account, 0);
        for (const given of [file, Buffer.from(file), undefined]) {
          const verified = await inAccount(account.userID, 0, { account: given });
          expect(verified.account).to.deep.equal({ userID: account.userID, number: 0 });
          expect(verified.record.userID).to.equal(account.userID);
        }
      });

      it("verifies the newest key after a change, also if the app has the statement before it", async () => {
        const account = newAccount();
        const before = await change(account, 0);
        const file = await change(account, 1, [2]);
        for (const given of [file, before, undefined]) {
          const { record, account: verified } = await inAccount(account.userID, 1, { account: given });
          expect(verified).to.deep.equal({ userID: account.userID, number: 1 });
          expect(record).to.deep.include({ userID: plainSlot(account, 1), pubKey: textAt(1) });
        }
        const error = await failure(inAccount(account.userID, 1, { expectedPublicKey: keyAt(0) }));
        expect(error).to.include({ code: "KEY_MISMATCH", advice: "warn" });
      });

      it("accepts no key if the next slot has a key without a statement, until the owner declares it void", async () => {
        const account = newAccount();
        const file = await change(account, 0);
        await publish(plainSlot(account, 1), keyAt(3));
        for (const key of [keyAt(0), keyAt(3)]) {
          const error = await failure(inAccount(account.userID, 0, { account: file, expectedPublicKey: key }));
          expect(error).to.include({ step: "root", code: "SUCCESSOR_UNPROVEN", advice: "warn" });
        }
        const closed = `${file}\n${plainStatement(account, 1, undefined)}`;
        expect(await inAccount(account.userID, 0, { account: closed })).to.have.nested.property("account.number", 0);
      });

      it("throws NOT_PUBLISHED for an authorized key that is not on the chain", async () => {
        const account = newAccount();
        await change(account, 0);
        const later = plainAccountFile(account, [plainStatement(account, 1, textAt(1))]);
        const error = await failure(inAccount(account.userID, 1, { account: later }));
        expect(error).to.include({ step: "root", code: "NOT_PUBLISHED" });
      });

      it("checks the chain, the contract and its code", async () => {
        const account = newAccount();
        const file = await change(account, 0);
        const codeHash = `0x${"00".repeat(32)}`;
        const wrong = await failure(inAccount(account.userID, 0, { account: file, codeHash }));
        expect(wrong).to.include({ code: "CODE_HASH_MISMATCH" });
        const nowhere = `0x${"11".repeat(20)}`;
        const there = plainAccount([paper], 1, { contract: nowhere });
        const given = plainAccountFile(there, [plainStatement(there, 0, textAt(0))]);
        const error = await failure(inAccount(there.userID, 0, { account: given, contract: nowhere }));
        expect(error).to.include({ code: "NO_CONTRACT" });
      });
    });

  it("accepts the newest key of its block, also if a later slot then had the key that the owner authorized afterwards", async () => {
    const account = newAccount();
    const before = await change(account, 0);
    // The operator guesses that the owner will return to the first key.
    await publish(plainSlot(account, 2), keyAt(0));
    const { hash = "" } = (await chain.connection.ethers.provider.getBlock("latest")) ?? {};
    await change(account, 1);
    const statement = plainStatement(account, 2, textAt(0));
    files.set(`/accounts/${account.hex}.txt`, plainAccountFile(account, [statement]));
    const then = { trust: pinnedBlock(hash), account: before };
    expect(await verify(account.userID, 0, then)).to.have.nested.property("account.number", 0);
    const now = await verify(account.userID, 2, { expectedPublicKey: keyAt(0) });
    expect(now.account).to.deep.equal({ userID: account.userID, number: 2 });
  });

  it("throws ACCOUNT_MISSING without a file in the app and at the host", async () => {
    const account = newAccount();
    const error = await failure(verify(account.userID, 0));
    expect(error).to.include({ step: "file", code: "ACCOUNT_MISSING", advice: "warn" });
  });

  it("throws ACCOUNT_MISMATCH for the account of another user, chain or contract", async () => {
    const [account, other] = [newAccount(), newAccount()];
    const given = await change(other, 0);
    expect(await failure(verify(account.userID, 0, { account: given }))).to.include({ code: "ACCOUNT_MISMATCH" });
    for (const place of [{ chainId: 1, contract: contract.toLowerCase() }, {}]) {
      const elsewhere = plainAccount([paper], 1, place);
      const file = plainAccountFile(elsewhere, [plainStatement(elsewhere, 0, textAt(0))]);
      await publish(elsewhere.userID, keyAt(0));
      const error = await failure(verify(elsewhere.userID, 0, { account: file }));
      expect(error).to.include({ step: "file", code: "ACCOUNT_MISMATCH", advice: "warn" });
    }
  });

  it("throws KEY_STATEMENT_INVALID below the threshold", async () => {
    const account = newAccount(2);
    await publish(account.userID, keyAt(0));
    for (const signers of [[1], [2], [1, 1], [2, 1]]) {
      const file = plainAccountFile(account, [plainStatement(account, 0, textAt(0), signers)]);
      const error = await failure(verify(account.userID, 0, { account: file }));
      expect(error).to.include({ step: "file", code: "KEY_STATEMENT_INVALID", advice: "warn" });
    }
    const file = plainAccountFile(account, [plainStatement(account, 0, textAt(0), [1, 2])]);
    expect(await verify(account.userID, 0, { account: file })).to.have.nested.property("account.number", 0);
  });

  it("throws SUCCESSOR_UNPROVEN for a published key that the account did not authorize", async () => {
    const account = newAccount();
    await publish(account.userID, keyAt(3));
    const file = plainAccountFile(account, [plainStatement(account, 0, textAt(0))]);
    files.set(`/accounts/${account.hex}.txt`, file);
    for (const key of [keyAt(0), keyAt(3)]) {
      const error = await failure(verify(account.userID, 0, { account: file, expectedPublicKey: key }));
      expect(error).to.include({ step: "record", code: "SUCCESSOR_UNPROVEN" });
    }
  });

  it("refuses lists, watches and bundles, which would use the first key", async () => {
    const verifier = verifierAt({ ...optionsFor(oneEndpoint()), accounts: accounts() });
    for (const call of [verifier.verifyMany([]), verifier.watch({} as never)]) {
      const error = await failure(call);
      expect(error).to.include({ code: "ARGUMENT_INVALID" });
      expect((error as Error).message).to.match(/does not support the accounts option/);
    }
    const error = await failure(verifyBundle({}, { accounts: accounts() } as never));
    expect((error as Error).message).to.match(/unknown option "accounts"/);
  });

  it("is required for the account option, and accepts only the value of accounts()", async () => {
    const account = newAccount();
    const file = await change(account, 0);
    const plain = verifierAt(optionsFor(oneEndpoint()));
    const error = await failure(plain.verify(account.userID, { account: file, expectedPublicKey: keyAt(0) }));
    expect(error).to.include({ code: "ARGUMENT_INVALID" });
    for (const value of ["required", true, { name: "accounts" }])
      expect(() => verifierAt({ ...optionsFor(oneEndpoint()), accounts: value as never })).to.throw(/keyroot\/account/);
  });

  describe("compared with a verifier without accounts", () => {
    // The sizes of storage proofs depend on the registry's other users.
    before(deploy);

    /** Counts the requests of a verification, and their bytes in both directions. */
    const measure = async (work: () => Promise<unknown>) => {
      requests.length = 0;
      await work();
      return { requests: requests.length, bytes: requests.reduce((sum, { bytes }) => sum + bytes, 0) };
    };

    for (const [name, makeTrust] of Object.entries(trusts))
      it(`sends no more requests and at most ${MAX_ADDED_BYTES} bytes more in a small registry, with ${name}`, async () => {
        const account = newAccount();
        const file = await change(account, 0);
        const trust = makeTrust();
        const plain = await measure(() =>
          verifierAt(optionsFor(trust)).verify(account.userID, { expectedPublicKey: keyAt(0) }),
        );
        const withAccount = await measure(() => verify(account.userID, 0, { ...optionsFor(trust), account: file }));
        expect(withAccount.requests).to.equal(plain.requests);
        // The account file comes with the server's answer.
        const perEndpoint = (withAccount.bytes - plain.bytes) / (name === "endpoints" ? 2 : 1);
        expect(perEndpoint + file.length).to.be.at.most(MAX_ADDED_BYTES);
        const fetched = await measure(() => verify(account.userID, 0, optionsFor(trust)));
        expect(fetched.requests).to.equal(plain.requests + 1);
      });

    it("sends as much after fifty changes as after one", async () => {
      const account = newAccount();
      await change(account, 0);
      const afterOne = await change(account, 1);
      const once = await measure(() => verify(account.userID, 1, { ...optionsFor(ownNode()), account: afterOne }));
      let file = afterOne;
      for (let number = 2; number <= 50; number++) file = await change(account, number);
      const often = await measure(() => verify(account.userID, 50, { ...optionsFor(ownNode()), account: file }));
      expect(often.requests).to.equal(once.requests);
      expect(file.length).to.equal(afterOne.length + 1);
      // Only the proofs grow, because the contract has 98 more users.
      expect(often.bytes - once.bytes).to.be.below(2000);
    });
  });
});
