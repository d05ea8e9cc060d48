import { type KeyRecord, makeKeyRecord } from "../identity/keyRecord.ts";
import { generateKeyPair } from "../identity/publicKey.ts";
import { randomUserID } from "../identity/userID.ts";
import { bytesToBase64 } from "../identity/base64.ts";
import { InvariantError } from "../errors.ts";
import { FolderStore } from "../publisher/folderStore.ts";
import { publish, type PublishedRoot } from "../publisher/publish.ts";
import { Registry } from "../publisher/registry.ts";
import type { Stack } from "../stack/stack.ts";
import { DEFAULT_LIMITS } from "../transport/fetchBytes.ts";
import { rpcCaller } from "../transport/jsonRpc.ts";
import { ATTACKS } from "./attacks.ts";
import type { AttackersOrders } from "./attacker.ts";
import type { FriendsAnswer, FriendsQuestion } from "./friend.ts";
import { startProcess } from "./startProcess.ts";

/** Two batches, one with an even and one with an odd number of users. */
const BATCHES = [12, 13] as const;

/** What happened in the story. */
export interface Told {
  records: KeyRecord[];
  published: PublishedRoot[];
  verified: number;
  refused: { attack: string; code: string }[];
}

/** A listener, told of each step when it is through. */
export interface Listener {
  published?: (roots: readonly PublishedRoot[]) => void;
  verified?: (count: number) => void;
  refused?: (attack: string, deed: string, code: string) => void;
}

/**
 * Tells the story on a stack: sample users' keys are published in two batches; a friend's app verifies each; an
 * attacker's every try is refused.
 * @throws InvariantError STORY_BROKEN at the first step that is not as told
 */
export async function tellStory(stack: Stack, listener: Listener, signal: AbortSignal): Promise<Told> {
  const batches = BATCHES.map((count) => Array.from({ length: count }, makeSampleRecord));
  const published = await publishBatches(stack, batches);
  listener.published?.(published);

  const records = batches.flat();
  const { rpcUrl, merkleUrl } = stack;
  await using friend = startProcess(new URL("friend.ts", import.meta.url), signal);
  const ask = async (record: KeyRecord, changes: Partial<FriendsQuestion>): Promise<FriendsAnswer> => {
    const { contract, chainId } = stack;
    const honest = {
      rpc: rpcUrl,
      merkleUrl,
      contract,
      chainId,
      userID: record.userID,
      expectedPublicKey: record.pubKey,
    };
    const question: FriendsQuestion = { ...honest, ...changes };
    return JSON.parse(await friend.ask(JSON.stringify(question))) as FriendsAnswer;
  };

  for (const record of records) {
    const answer = await ask(record, {});
    if ("code" in answer) throw broken(`The key of ${record.userID} was refused: ${answer.code}: ${answer.message}`);
  }
  listener.verified?.(records.length);

  const [evenRoot, oddRoot] = published;
  const victim = batches[1]?.[0];
  if (evenRoot === undefined || oddRoot === undefined || victim === undefined)
    throw broken("There are not two batches.");
  const { publicKey: attackersKey } = generateKeyPair();
  const plot = { victim: victim.userID, attackersKey, otherRoot: evenRoot.root };
  const orders: AttackersOrders = { ...plot, attackersKey: bytesToBase64(attackersKey), rpcUrl, merkleUrl };
  await using attacker = startProcess(new URL("attacker.ts", import.meta.url), signal);
  const attackersUrl = await attacker.ask(JSON.stringify(orders));

  const refused: Told["refused"] = [];
  for (const { name, deed, refusal, handOut } of ATTACKS) {
    const answer = await ask(victim, {
      rpc: `${attackersUrl}/${name}/rpc`,
      merkleUrl: `${attackersUrl}/${name}/files`,
      ...(handOut && { expectedPublicKey: bytesToBase64(handOut(plot)) }),
    });
    if (!("code" in answer)) throw broken(`The attack ${name} was not refused.`);
    if (answer.code !== refusal) throw broken(`The attack ${name} was refused with ${answer.code}, not ${refusal}.`);
    refused.push({ attack: name, code: answer.code });
    listener.refused?.(name, deed, answer.code);
  }
  return { records, published, verified: records.length, refused };
}

async function publishBatches(stack: Stack, batches: readonly KeyRecord[][]): Promise<PublishedRoot[]> {
  const { rpcBytes: maxBytes, timeoutMs } = DEFAULT_LIMITS;
  const registry = await Registry.connect(rpcCaller(stack.rpcUrl, { maxBytes, timeoutMs }), stack.contract);
  const store = new FolderStore(stack.merkleDir);
  const roots: PublishedRoot[] = [];
  for (const batch of batches) roots.push(...(await publish(batch, { registry, store })).published);
  return roots;
}

function makeSampleRecord(): KeyRecord {
  return makeKeyRecord(randomUserID(), generateKeyPair().publicKey);
}

function broken(message: string): InvariantError {
  return new InvariantError("STORY_BROKEN", message);
}
