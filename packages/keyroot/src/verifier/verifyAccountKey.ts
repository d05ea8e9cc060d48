import type { AuthorizedKey } from "../account/choice.ts";
import { MAX_ACCOUNT_FILE_BYTES } from "../account/limits.ts";
import { encodeUtf8 } from "../engine/utf8.ts";
import { VerificationError } from "../errors.ts";
import type { Evidence } from "../evidence.ts";
import { ANY_KEY, compareKey } from "../identity/compareKey.ts";
import { type UserID, userIDToHex } from "../identity/userID.ts";
import { describeValue } from "../input/describeValue.ts";
import { isBytes } from "../input/isBytes.ts";
import { invalidArgument } from "../input/options.ts";
import { decodeMerkleTreeRoot } from "../registry/answers.ts";
import { fetchAccountFile } from "../transport/fetchAccountFile.ts";
import type { KeyOptions, KeyQuery } from "./options.ts";
import { readBlockOfRoot } from "./readBlockOfRoot.ts";
import { readRoot } from "./readRoot.ts";
import type { RootReading } from "./readRootAtBlock.ts";
import type { VerifierServers } from "./servers.ts";
import { verifyAnswers, verifyFile, verifyRoot, type VerifiedRecord } from "./verdict.ts";
import type { VerifierConfig } from "./verifierConfig.ts";
import type { VerifiedAccount, VerifiedKey } from "./verifiedKey.ts";

/** The newest key that an account file authorizes, and where the contract must show it. */
export interface AccountSlot {
  /** The account's user, with the key that the caller expects. */
  account: KeyQuery;
  /** The slot of the key. The contract must have a root for it, and none for the next slot. */
  query: KeyQuery & { nextSlotID: UserID };
  key: AuthorizedKey;
}

/**
 * Verifies the newest key of an account (docs/accounts.md). It never returns an older key.
 * @throws VerificationError ACCOUNT_MISSING, SUCCESSOR_UNPROVEN, and as `VerifyAccountFile`; the errors of
 * `Verifier.verify`
 */
export async function verifyAccountKey(
  config: VerifierConfig,
  query: KeyQuery,
  account: KeyOptions["account"],
  servers: VerifierServers,
): Promise<VerifiedKey> {
  return withNewestFile(query, account, servers, (file) => verifyWith(config, query, file, servers));
}

/**
 * Works with a user's account file. The app's file may be older than the last change of the key. If the next slot is
 * filled, the function repeats the work from the start: with the file host's file, and then with its file of the change
 * that is being published.
 */
export async function withNewestFile<T>(
  query: KeyQuery,
  account: KeyOptions["account"],
  servers: VerifierServers,
  work: (file: Uint8Array) => Promise<T>,
): Promise<T> {
  const own = account === undefined ? undefined : accountFileBytes(account);
  let failure: unknown;
  const attempt = async (file: Uint8Array): Promise<T | undefined> => {
    try {
      return await work(file);
    } catch (error) {
      if (!isUnproven(error)) throw error;
      failure = error;
      return undefined;
    }
  };
  const result = own && (await attempt(own));
  if (result !== undefined) return result;
  const hosted = await fetchHostedFile(query, servers);
  const newer = own && areEqual(own, hosted) ? undefined : await attempt(hosted);
  if (newer !== undefined) return newer;
  const next = await fetchHostedFile(query, servers, ".next").catch((error: unknown) => {
    throw isMissing(error) ? failure : error;
  });
  return work(next);
}

function isUnproven(error: unknown): boolean {
  return error instanceof VerificationError && error.code === "SUCCESSOR_UNPROVEN";
}

/** Whether the file host has no such account file. */
export function isMissing(error: unknown): boolean {
  return error instanceof VerificationError && error.code === "ACCOUNT_MISSING";
}

/** Fetches a user's account file from the file host. @throws the errors of `fetchAccountFile` */
export async function fetchHostedFile(
  { userID }: Pick<KeyQuery, "userID">,
  { http, merkleUrl }: VerifierServers,
  suffix: "" | ".next" = "",
): Promise<Uint8Array> {
  return fetchAccountFile(merkleUrl, userIDToHex(userID), { ...http, maxBytes: MAX_ACCOUNT_FILE_BYTES }, suffix);
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

async function verifyWith(
  config: VerifierConfig,
  query: KeyQuery,
  file: Uint8Array,
  servers: VerifierServers,
): Promise<VerifiedKey> {
  const { contract, chainId } = query;
  const slot = findSlot(config, query, file);
  const reading = await readRoot(slot.query, config.source, servers, config.now, servers.fetchFile);
  const root = verifySlotRoot(slot, reading);
  const download = reading.file ?? servers.fetchFile(root);
  const [bytes, blockNumber] = await Promise.all([download, readBlockOfRoot(root, reading)]);
  const verified = await verifyFile(slot.query, root, bytes);
  const { evidence } = reading;
  const account = verifyAuthorizedKey(slot, verified, evidence);
  evidence.uniqueness = "checked";
  return { ...verified, root, blockNumber, contract, chainId, evidence, account };
}

/** Verifies a user's account file, and returns the slot of its newest key. @throws as `VerifyAccountFile` */
export function findSlot(
  { verifyAccountFile }: Pick<VerifierConfig, "verifyAccountFile">,
  account: KeyQuery,
  file: Uint8Array,
): AccountSlot {
  if (verifyAccountFile === undefined) throw new RangeError("The verifier has no accounts option.");
  const key = verifyAccountFile(file, account.userID, account);
  const { slotID, nextSlotID } = key;
  return { account, key, query: { ...account, userID: slotID, nextSlotID, expectedPublicKey: ANY_KEY } };
}

/**
 * Checks that the contract has no root for the slot after the last statement, and returns the root of the key's slot.
 * Both were read at the same block.
 * @throws VerificationError SUCCESSOR_UNPROVEN, and as `verifyRoot`
 */
export function verifySlotRoot(
  { query, key }: AccountSlot,
  { answers, evidence }: Pick<RootReading, "answers" | "evidence">,
): string {
  const { number, nextNumber } = key;
  // Checks the chain and the code first. The key's own slot may be empty here.
  verifyAnswers(query, answers);
  if (decodeMerkleTreeRoot(answers.nextRoot) === undefined) return verifyRoot(query, answers, evidence);
  const message = `The contract has a root for slot ${nextNumber} of the account, but its newest known statement is for key ${number}. Do not use key ${number}: get the account's newest statement.`;
  const details = { expected: "zero", actual: answers.nextRoot, evidence };
  throw new VerificationError("root", "SUCCESSOR_UNPROVEN", message, details);
}

/**
 * Checks that the published record of the slot has the key that the account authorized, and that the caller expects.
 * @throws VerificationError SUCCESSOR_UNPROVEN, KEY_MISMATCH
 */
export function verifyAuthorizedKey(
  { account: { userID, expectedPublicKey }, key: { number, publicKey } }: AccountSlot,
  { record: { pubKey } }: Pick<VerifiedRecord, "record">,
  evidence: Evidence,
): VerifiedAccount {
  if (pubKey !== publicKey) {
    const message = `The published key ${pubKey} of slot ${number} is not the key that the account ${userID} authorized. No newer statement of the account is known.`;
    const details = { expected: publicKey, actual: pubKey, evidence };
    throw new VerificationError("record", "SUCCESSOR_UNPROVEN", message, details);
  }
  compareKey({ userID, pubKey }, expectedPublicKey);
  return { userID, number };
}

/** Returns the bytes of an account file. @throws VerificationError FILE_TOO_LARGE, step "file"; ArgumentError */
export function accountFileBytes(account: string | Uint8Array): Uint8Array {
  if (isBytes(account)) return account;
  if (typeof account !== "string") throw invalidArgument("The account option", "a text or its bytes", account);
  if (account.length <= MAX_ACCOUNT_FILE_BYTES) return encodeUtf8(account);
  const message = `The account file has more than ${MAX_ACCOUNT_FILE_BYTES} bytes: ${describeValue(account)}.`;
  throw new VerificationError("file", "FILE_TOO_LARGE", message, { expected: MAX_ACCOUNT_FILE_BYTES });
}
