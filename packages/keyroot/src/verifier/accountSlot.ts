import type { AuthorizedKey } from "../account/choice.ts";
import { MAX_ACCOUNT_FILE_BYTES } from "../account/limits.ts";
import { encodeUtf8 } from "../engine/utf8.ts";
import { VerificationError } from "../errors.ts";
import type { Evidence } from "../evidence.ts";
import { ANY_KEY, compareKey } from "../identity/compareKey.ts";
import { type UserID, userIDToHex } from "../identity/userID.ts";
import { describeValue, isBytes } from "../input/values.ts";
import { invalidArgument } from "../input/options.ts";
import { decodeMerkleTreeRoot } from "../registry/answers.ts";
import { fetchAccountFile } from "../transport/fetchAccountFile.ts";
import type { KeyQuery } from "./options.ts";
import type { RootReading } from "./readRootAtBlock.ts";
import type { VerifierServers } from "./servers.ts";
import { verifyAnswers, verifyRoot, type VerifiedRecord } from "./verdict.ts";
import type { VerifierConfig } from "./verifierConfig.ts";
import type { VerifiedAccount } from "./verifiedKey.ts";

/** The newest key that an account file authorizes, and where the contract must show it. */
export interface AccountSlot {
  /** The account's user, with the key that the caller expects. */
  account: KeyQuery;
  /** The slot of the key. The contract must have a root for it, and none for the next slot. */
  query: KeyQuery & { nextSlotID: UserID };
  key: AuthorizedKey;
}

/** Checks whether the file host has no account file. */
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
 * Returns the root of the key's slot, and checks that the contract has no root for the slot after the last statement.
 * Both slots were read at the same block.
 * @throws VerificationError SUCCESSOR_UNPROVEN, or an error of `verifyRoot`
 */
export function verifySlotRoot(
  { query, key }: AccountSlot,
  { answers, evidence }: Pick<RootReading, "answers" | "evidence">,
): string {
  const { number, nextNumber } = key;
  // Checks the chain and the code first. The key's own slot may be empty here.
  verifyAnswers(query, answers);
  if (decodeMerkleTreeRoot(answers.nextRoot) === undefined) return verifyRoot(query, answers, evidence);
  const message = `The contract has a root for slot ${nextNumber} of the account, but its newest known statement is for key ${number}. Get the account's newest statement.`;
  const details = { expected: "zero", actual: answers.nextRoot, evidence };
  throw new VerificationError("root", "SUCCESSOR_UNPROVEN", message, details);
}

/**
 * Checks the key in the published record of the slot. It must be the key that the account authorized, and the key that
 * the caller expects.
 * @throws VerificationError SUCCESSOR_UNPROVEN, KEY_MISMATCH
 */
export function verifyAuthorizedKey(
  { account: { userID, expectedPublicKey }, key: { number, publicKey } }: AccountSlot,
  { record: { pubKey } }: Pick<VerifiedRecord, "record">,
  evidence: Evidence,
): VerifiedAccount {
  if (pubKey !== publicKey) {
    const message = `The published key ${pubKey} of slot ${number} is not the key that the account ${userID} authorized.`;
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
