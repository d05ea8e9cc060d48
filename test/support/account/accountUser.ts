import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { userIDToHex } from "keyroot";
import { makeKeyRecord } from "keyroot/records";
import { publishLocally } from "../chain/local.ts";
import { keyAt, PAPER, PHONE, textAt } from "./accountRegistry.ts";
import { plainAccount, plainAccountFile, plainSlot, plainStatement } from "./plainAccount.ts";

/** A user who changed the key once. Somebody else filled the next slot, which the user declared void. */
export interface AccountUser {
  contract: string;
  userID: string;
  /** The account file. */
  file: string;
  /** The user ids under which the keys are published, by their numbers. */
  slotIDs: readonly string[];
  /** The current key in base64. */
  publicKey: string;
}

/** A chain with a registry of accounts, and a folder with the files of its file host. */
interface Place {
  rpcUrl: string;
  contract: string;
  filesDir: string;
}

/** Publishes the user's keys in three files, and stores the account file. Both recovery keys must sign. */
export async function publishAccountUser(place: Place): Promise<AccountUser> {
  const contract = place.contract.toLowerCase();
  const account = plainAccount([PHONE, PAPER], 2, { contract });
  const { userID } = account;
  const slotIDs = [0, 1, 2].map((number) => plainSlot(account, number));
  for (const [number, slotID] of slotIDs.entries()) await publishLocally(place, [makeKeyRecord(slotID, keyAt(number))]);
  const statements = [plainStatement(account, 1, textAt(1)), plainStatement(account, 2, undefined)];
  const file = plainAccountFile(account, statements);
  await storeAccountFile(place, userID, file);
  return { contract, userID, file, slotIDs, publicKey: textAt(1) };
}

/** Stores an account file beside the Merkle-tree files. */
export async function storeAccountFile({ filesDir }: Pick<Place, "filesDir">, userID: string, file: string) {
  const folder = join(filesDir, "accounts");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${userIDToHex(userID)}.txt`), file);
}
