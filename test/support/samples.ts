import { createHash } from "node:crypto";
import { type KeyPair, type KeyRecord, makeKeyRecord } from "keyroot/internal/identity";
import { type UserID, userIDFromBytes } from "keyroot/internal/identity";
import { type MerkleFile, serializeMerkleFile } from "keyroot/internal/merkle";
import type { StoredFile } from "@keyroot/operator/publisher";
import { BASE, encode, multiply } from "./data/curve41417.ts";

/** SHA-256 in hex by Node's streaming hash, independent of the library. */
export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** The id of a sample user. The same number and seed give the same id. */
export function sampleUserID(number: number, seed = 1): UserID {
  return userIDFromBytes(createHash("sha256").update(`${seed}:${number}`).digest().subarray(0, 20));
}

/** Some key pairs, always the same. */
export const sampleKeyPairs: KeyPair[] = [2n, 3n, 5n, 7n].map((privateKey) => ({
  privateKey,
  publicKey: encode(multiply(privateKey, BASE)),
}));

/** Their public keys of 105 bytes. */
export const samplePublicKeys = sampleKeyPairs.map(({ publicKey }) => publicKey);

/**
 * Returns the records of this many users, which are always the same for a seed. The users share a few keys, because
 * keys are slow to create.
 */
export function sampleRecords(count: number, seed = 1): KeyRecord[] {
  const keys = samplePublicKeys.map((key) => makeKeyRecord(sampleUserID(0), key));
  const record = (_: unknown, i: number) => ({ ...keys[i % keys.length], userID: sampleUserID(i, seed) }) as KeyRecord;
  return Array.from({ length: count }, record);
}

/** The text of a file. */
export function textOf(file: MerkleFile): string {
  return [...serializeMerkleFile(file)].join("");
}

/** The result of a store that has put this file at a place. */
export function storedAs(where: string, file: MerkleFile): StoredFile {
  const text = textOf(file);
  return { where, bytes: text.length, sha256: sha256(text) };
}
