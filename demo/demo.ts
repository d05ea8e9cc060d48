import { bytesToBase64 } from "keyroot/bytes";
import type { KeyRecord } from "keyroot/identity";
import { generateKeyPair } from "keyroot/identity";
import { InvariantError } from "keyroot/errors";
import type { Stack } from "@keyroot/operator/stack";
import { ATTACKS } from "./attacks.ts";
import type { AttackersOrders } from "./attacker.ts";
import type { FriendsAnswer, FriendsQuestion } from "./contactsApp.ts";
import { keysAsHandedOut, Operator, type PartnersDay, type PublishedBatch, spendPartnersDay } from "./partnersDay.ts";
import { startProcess } from "./startProcess.ts";

/** What happened in the story. */
export interface Told extends Pick<PartnersDay, "bizId" | "serverToken"> {
  records: KeyRecord[];
  published: PublishedBatch[];
  verified: number;
  refused: { attack: string; code: string }[];
}

/** A listener, told of each step when it is through. */
export interface Listener {
  provisioned?: (day: PartnersDay) => void;
  published?: (batches: readonly PublishedBatch[]) => void;
  verified?: (count: number) => void;
  refused?: (attack: string, deed: string, code: string) => void;
}

/**
 * Tells the story on a stack with a service: a partner provisions its users, whose apps register their keys; the keys are
 * published in two batches; a friend's app verifies each; an attacker's every try is refused.
 * @throws InvariantError DEMO_FAILED at the first step that is not as told
 */
export async function tellStory(stack: Stack, listener: Listener, signal: AbortSignal): Promise<Told> {
  if (stack.service === undefined) throw broken("The stack has no partner service.");
  const day = await spendPartnersDay(stack.service, signal);
  listener.provisioned?.(day);
  const published = await new Operator(stack.service).publish();
  listener.published?.(published);

  const records = await keysAsHandedOut(day, signal);
  const { rpcUrl, merkleUrl } = stack;
  await using friend = startProcess(new URL("contactsApp.ts", import.meta.url), signal);
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

  // The victim is in the last batch; the first one's root is another that is on the chain.
  const [firstBatch, secondBatch] = published;
  const victim = records[day.users.findLastIndex(({ region }) => region === "eu-west-1")];
  if (firstBatch === undefined || secondBatch === undefined || victim === undefined)
    throw broken("There are not two batches.");
  const { publicKey: attackersKey } = generateKeyPair();
  const plot = { victim: victim.userID, attackersKey, otherRoot: firstBatch.root };
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
  const { bizId, serverToken } = day;
  return { bizId, serverToken, records, published, verified: records.length, refused };
}

function broken(message: string): InvariantError {
  return new InvariantError("DEMO_FAILED", message);
}
