import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { KeyRecord } from "keyroot/internal/identity";
import { unreadableInput } from "../../disk/fileErrors.ts";
import { VerificationError } from "../../errors.ts";
import { AccountIndex } from "../../follow/index.ts";
import { plural } from "../../plural.ts";

/** Maximum number of ids in a message. */
const LISTED = 20;

/**
 * Checks that each record belongs to a slot of an account. In the slot of the account's newest statement, the key must
 * be the one that this statement authorizes.
 * @param dir the folder with the account files of all users
 * @param place the registry to which the records will be published
 * @throws VerificationError RECORDS_INVALID, and the errors of `verifyAccountFile` of `keyroot/account`; ArgumentError
 *   FILE_UNREADABLE
 */
export async function checkAuthorizedRecords(
  records: Iterable<KeyRecord>,
  dir: string,
  place: { chainId: number; contract: string },
): Promise<void> {
  const index = new AccountIndex(place);
  try {
    const names = await readdir(dir);
    for (const name of names) if (name.endsWith(".txt")) index.add(await readFile(join(dir, name)));
  } catch (cause) {
    throw cause instanceof VerificationError ? cause : unreadableInput(dir, cause);
  }
  const bad = [];
  for (const { userID, pubKey } of records) if (!index.authorizes(userID, pubKey)) bad.push(userID);
  if (bad.length === 0) return;
  const more = bad.length > LISTED ? ` and ${bad.length - LISTED} more` : "";
  const message = `${plural(bad.length, "record")} of no slot that the account files in ${dir} authorize: ${bad.slice(0, LISTED).join(", ")}${more}. Nothing was published. Contacts would reject every key of these accounts. Get the owners' statements, or remove the records.`;
  throw new VerificationError("record", "RECORDS_INVALID", message, { actual: bad });
}
