import assert from "node:assert/strict";
import { FolderStore, MemoryJournal, publish, Registry } from "@keyroot/operator";
import { startStack } from "@keyroot/service/stack";
import hre from "hardhat";
import { ANY_KEY, createVerifier, oneEndpoint } from "keyroot";
import { makeKeyRecord, randomUserID } from "keyroot/records";
import { generateKeyPair } from "keyroot/internal/identity";
import { rpcCaller } from "keyroot/internal/transport";

describe("keys of my app's users", () => {
  const alice = makeKeyRecord(randomUserID(), generateKeyPair().publicKey);
  let stack;
  let verifier;

  before(async () => {
    stack = await startStack(hre, { ports: { chain: 0, files: 0 } });
    const { rpcUrl, merkleUrl, filesDir, chainId, contract } = stack;
    verifier = createVerifier({ rpc: rpcUrl, merkleUrl, chainId, contract, trust: oneEndpoint() });
    const registry = await Registry.connect(rpcCaller(rpcUrl, { maxBytes: 2 ** 20, timeoutMs: 30_000 }), contract);
    const store = new FolderStore(filesDir);
    await publish([alice], { registry, chainId, limits: "local", store, journal: new MemoryJournal() });
  });

  after(() => stack.close());

  it("are verified once they are published", async () => {
    const { record } = await verifier.verify(alice.userID, { expectedPublicKey: alice.pubKey });
    assert.deepEqual(record, alice);
  });

  it("are rejected if the server swaps them", async () => {
    const swapped = makeKeyRecord(alice.userID, generateKeyPair().publicKey).pubKey;
    await assert.rejects(verifier.verify(alice.userID, { expectedPublicKey: swapped }), { code: "KEY_MISMATCH" });
  });

  it("are missing until they are published", async () => {
    await assert.rejects(verifier.verify(randomUserID(), { expectedPublicKey: ANY_KEY }), { code: "NOT_PUBLISHED" });
  });
});
