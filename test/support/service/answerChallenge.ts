import { base64ToBytes, bytesToBase64 } from "keyroot/internal/bytes";
import { type KeyPair, makeKeyRecord, type PossessionStatement, provePossession } from "keyroot/internal/identity";

/** The key's fields in requests. */
export function keyFieldsOf({ publicKey }: Pick<KeyPair, "publicKey">): { public_key: string; key_id: string } {
  const { pubKey, keyID } = makeKeyRecord("y".repeat(32), publicKey);
  return { public_key: pubKey, key_id: keyID };
}

/** The statement in an honest service's challenge. Apps must take service and registry from their own options instead. */
export function statementOf(challenge: Record<string, unknown>, publicKey: Uint8Array): PossessionStatement {
  const { user_id: userID, service, chain_id: chainId, contract, challenge: nonce, ephemeral_key, expires } = challenge;
  return {
    service: service as string,
    registry: chainId === null ? undefined : { chainId: chainId as number, contract: contract as string },
    userID: userID as string,
    publicKey,
    nonce: base64ToBytes(nonce),
    ephemeralKey: base64ToBytes(ephemeral_key),
    expires: expires as number,
  };
}

/** Returns the body that registers a key, with the response to an honest service's challenge if the key needs one. */
export function answerChallenge(challenge: Record<string, unknown>, { publicKey, privateKey }: KeyPair) {
  const key = keyFieldsOf({ publicKey });
  if (challenge["state"] !== "unregistered") return key;
  const response = bytesToBase64(provePossession(statementOf(challenge, publicKey), privateKey));
  return { ...key, challenge: challenge["challenge"] as string, response };
}
