import hre from "hardhat";
import { makeKeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import type { KeyRecord } from "../../../packages/keyroot/src/identity/serializedRecord.ts";
import { generateKeyPair } from "../../../packages/keyroot/src/identity/newPublicKey.ts";
import { randomUserID } from "../../../packages/keyroot/src/identity/userID.ts";
import { rpcCaller } from "../../../packages/keyroot/src/transport/jsonRpc.ts";
import { Registry } from "../../../packages/operator/src/publisher/chain/registry.ts";
import { FolderStore } from "../../../packages/operator/src/publisher/files/folderStore.ts";
import { publish } from "../../../packages/operator/src/publisher/publish.ts";
import { startStack, type Stack } from "../../../packages/service/src/stack/startStack.ts";
import { LOCAL } from "../chain/local.ts";
import { ENDLESS_MS } from "../endless.ts";

/** A stack on which one user's key is published. */
export interface PublishedKey {
  stack: Stack;
  record: KeyRecord;
  /** A key in base64 that was never published. */
  swapped: string;
}

let published: Promise<PublishedKey> | undefined;
const opened = new AsyncDisposableStack();
after("the stack of the published key stops", () => opened.disposeAsync());

/**
 * Returns a stack and a key, which all tests of this process share. The first call starts the stack, and publishes the key.
 */
export function publishedKey(): Promise<PublishedKey> {
  return (published ??= publishKey());
}

/** Starts a stack on free ports, and publishes a key on it with its leaf chunks. */
async function publishKey(): Promise<PublishedKey> {
  const stack = await startStack(hre, { ports: { chain: 0, files: 0, beacon: 0 } });
  opened.defer(() => stack.close());
  const record = makeKeyRecord(randomUserID(), generateKeyPair().publicKey);
  const call = rpcCaller(stack.rpcUrl, { maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS });
  const registry = await Registry.connect(call, stack.contract);
  await publish([record], { ...LOCAL, registry, store: new FolderStore(stack.filesDir, { proofs: true }) });
  const swapped = makeKeyRecord(randomUserID(), generateKeyPair().publicKey).pubKey;
  return { stack, record, swapped };
}
