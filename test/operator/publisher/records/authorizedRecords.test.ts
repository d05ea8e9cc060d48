import { expect } from "chai";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeKeyRecord } from "../../../../packages/keyroot/src/identity/keyRecord.ts";
import { checkAuthorizedRecords } from "../../../../packages/operator/src/publisher/records/authorizedRecords.ts";
import { keyAt, PAPER, textAt } from "../../../support/account/accountRegistry.ts";
import { plainAccount, plainAccountFile, plainSlot, plainStatement } from "../../../support/account/plainAccount.ts";
import { sampleUserID } from "../../../support/samples.ts";
import { failure, temporaryFolder } from "../../../support/support.ts";

const PLACE = { chainId: 31_337, contract: `0x${"5fbd".repeat(10)}` };

describe("publishing records of accounts", () => {
  const folder = temporaryFolder();
  const account = plainAccount([PAPER], 1, { ...PLACE, salt: "0".repeat(32) });
  const recordOf = (number: number, key: number) => makeKeyRecord(plainSlot(account, number), keyAt(key));

  beforeEach(async () => {
    const file = plainAccountFile(account, [plainStatement(account, 1, textAt(1))]);
    await writeFile(join(folder.path, `${account.hex}.next.txt`), file);
  });

  it("accepts the record that the newest statement authorizes, and those of earlier slots", async () => {
    await checkAuthorizedRecords([recordOf(0, 0), recordOf(1, 1)], folder.path, PLACE);
  });

  it("rejects another key, a slot without a statement, and an id of no account", async () => {
    const unknown = makeKeyRecord(sampleUserID(1, 43), keyAt(0));
    for (const record of [recordOf(1, 2), recordOf(2, 2), unknown]) {
      const error = await failure(checkAuthorizedRecords([recordOf(0, 0), record], folder.path, PLACE));
      expect(error).to.deep.include({ code: "RECORDS_INVALID", actual: [record.userID] });
    }
  });

  it("rejects a folder that does not exist, as every path in the arguments", async () => {
    const missing = join(folder.path, "missing");
    const error = await failure(checkAuthorizedRecords([], missing, PLACE));
    expect(error).to.include({ name: "ArgumentError", code: "FILE_UNREADABLE" });
  });

  it("rejects the file of an account for another registry", async () => {
    const elsewhere = { ...PLACE, chainId: 1 };
    expect(await failure(checkAuthorizedRecords([], folder.path, elsewhere))).to.include({ code: "ACCOUNT_MISMATCH" });
  });
});
