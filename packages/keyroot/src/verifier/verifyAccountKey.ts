import type { AuthorizedKey } from "../account/choice.ts";
import { MAX_ACCOUNT_FILE_BYTES } from "../account/limits.ts";
import { encodeUtf8 } from "../engine/utf8.ts";
import { VerificationError } from "../errors.ts";
import { ANY_KEY, compareKey } from "../identity/compareKey.ts";
import { userIDToHex } from "../identity/userID.ts";
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
import { verifyAnswers, verifyFile, verifyRoot } from "./verdict.ts";
import type { VerifierConfig } from "./verifierConfig.ts";
import type { VerifiedKey } from "./verifiedKey.ts";

/**
 * Verifies the newest key of an account (docs/accounts.md). An account file that the app has may be older than the last
 * change of the key. If the next slot is filled, the function fetches the file host's file and verifies it from the
 * start. It never returns an older key.
 * @throws VerificationError ACCOUNT_MISSING, SUCCESSOR_UNPROVEN, and as `VerifyAccountFile`; the errors of
 * `Verifier.verify`
 */
export async function verifyAccountKey(
  config: VerifierConfig,
  query: KeyQuery,
  account: KeyOptions["account"],
  servers: VerifierServers,
): Promise<VerifiedKey> {
  const verifyFetched = async () => {
    const options = { ...servers.http, maxBytes: MAX_ACCOUNT_FILE_BYTES };
    return verifyWith(
      config,
      query,
      await fetchAccountFile(servers.merkleUrl, userIDToHex(query.userID), options),
      servers,
    );
  };
  if (account === undefined) return verifyFetched();
  try {
    return await verifyWith(config, query, toBytes(account), servers);
  } catch (error) {
    if (error instanceof VerificationError && error.code === "SUCCESSOR_UNPROVEN") return verifyFetched();
    throw error;
  }
}

async function verifyWith(
  { source, now, verifyAccountFile }: VerifierConfig,
  query: KeyQuery,
  file: Uint8Array,
  servers: VerifierServers,
): Promise<VerifiedKey> {
  const { userID, contract, chainId, expectedPublicKey } = query;
  if (verifyAccountFile === undefined) throw new RangeError("The verifier has no accounts option.");
  const key = verifyAccountFile(file, userID, { chainId, contract });
  const { number, slotID, nextSlotID } = key;
  const slotQuery = { ...query, userID: slotID, nextSlotID, expectedPublicKey: ANY_KEY };
  const reading = await readRoot(slotQuery, source, servers, now, servers.fetchFile);
  const { answers, evidence } = reading;
  verifyNoSuccessor(slotQuery, key, reading);
  const root = verifyRoot(slotQuery, answers, evidence);
  const download = reading.file ?? servers.fetchFile(root);
  const [bytes, blockNumber] = await Promise.all([download, readBlockOfRoot(root, reading)]);
  const verified = await verifyFile(slotQuery, root, bytes);
  const { record } = verified;
  if (record.pubKey !== key.publicKey) {
    const message = `The published key ${record.pubKey} of slot ${number} is not the key that the account ${userID} authorized. No newer statement of the account is known.`;
    const details = { expected: key.publicKey, actual: record.pubKey, evidence };
    throw new VerificationError("record", "SUCCESSOR_UNPROVEN", message, details);
  }
  compareKey({ userID, pubKey: record.pubKey }, expectedPublicKey);
  evidence.uniqueness = "checked";
  return { ...verified, root, blockNumber, contract, chainId, evidence, account: { userID, number } };
}

/** Checks that the slot after the last statement is empty at the block at which the key's slot was read. */
function verifyNoSuccessor(
  query: Parameters<typeof verifyAnswers>[0] & { nextSlotID: string },
  { number, nextNumber }: AuthorizedKey,
  { answers, evidence }: RootReading,
): void {
  // Checks the chain and the code first. The key's own slot may be empty here.
  verifyAnswers(query, answers);
  if (decodeMerkleTreeRoot(answers.nextRoot) === undefined) return;
  const message = `The contract has a root for slot ${nextNumber} of the account, but its newest known statement is for key ${number}. Do not use key ${number}: get the account's newest statement.`;
  const details = { expected: "zero", actual: answers.nextRoot, evidence };
  throw new VerificationError("root", "SUCCESSOR_UNPROVEN", message, details);
}

function toBytes(account: string | Uint8Array): Uint8Array {
  if (isBytes(account)) return account;
  if (typeof account !== "string") throw invalidArgument("The account option", "a text or its bytes", account);
  if (account.length <= MAX_ACCOUNT_FILE_BYTES) return encodeUtf8(account);
  const message = `The account file has more than ${MAX_ACCOUNT_FILE_BYTES} bytes: ${describeValue(account)}.`;
  throw new VerificationError("file", "FILE_TOO_LARGE", message, { expected: MAX_ACCOUNT_FILE_BYTES });
}
