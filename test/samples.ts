import { createHash } from "node:crypto";
import { type KeyRecord, makeKeyRecord } from "../src/identity/keyRecord.ts";
import { type UserID, userIDFromBytes } from "../src/identity/userID.ts";
import { type MerkleFile, serializeMerkleFile } from "../src/merkle/file.ts";
import type { StoredFile } from "../src/publisher/folderStore.ts";
import { BASE, encode, multiply } from "./identity/curve41417.ts";

/** SHA-256 in hex, by Node: the tests' own opinion. */
export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** The same user for the same number and seed, another one for others. */
export function sampleUserID(number: number, seed = 1): UserID {
  return userIDFromBytes(createHash("sha256").update(`${seed}:${number}`).digest().subarray(0, 20));
}

/** A few good public keys, always the same: 105 bytes each. */
export const samplePublicKeys = [2n, 3n, 5n, 7n].map((factor) => encode(multiply(factor, BASE)));

/** Records of as many users, always the same for a seed. The users share few keys: keys are slow to make. */
export function sampleRecords(count: number, seed = 1): KeyRecord[] {
  const keys = samplePublicKeys.map((key) => makeKeyRecord(sampleUserID(0), key));
  const record = (_: unknown, i: number) => ({ ...keys[i % keys.length], userID: sampleUserID(i, seed) }) as KeyRecord;
  return Array.from({ length: count }, record);
}

/** A file's text. */
export function textOf(file: MerkleFile): string {
  return [...serializeMerkleFile(file)].join("");
}

/** What a store says that put this file there. */
export function storedAs(where: string, file: MerkleFile): StoredFile {
  const text = textOf(file);
  return { where, bytes: text.length, sha256: sha256(text) };
}
