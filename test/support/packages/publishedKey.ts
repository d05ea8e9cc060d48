import hre from "hardhat";
import { generateKeyPair, type KeyRecord, makeKeyRecord, randomUserID } from "keyroot/internal/identity";
import { type Stack, startStack } from "@keyroot/service/stack";
import { publishLocally } from "../chain/local.ts";

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
 * Returns a stack and a key that all tests of this process share. The first call starts the stack and publishes the
 * key.
 */
export function publishedKey(): Promise<PublishedKey> {
  return (published ??= publishKey());
}

/** Starts a stack on free ports, and publishes a key on it with its leaf chunks. */
async function publishKey(): Promise<PublishedKey> {
  const stack = await startStack(hre, { ports: { chain: 0, files: 0, beacon: 0 } });
  opened.defer(() => stack.close());
  const record = makeKeyRecord(randomUserID(), generateKeyPair().publicKey);
  await publishLocally(stack, [record]);
  const swapped = makeKeyRecord(randomUserID(), generateKeyPair().publicKey).pubKey;
  return { stack, record, swapped };
}
