import { expect } from "chai";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { audit } from "@keyroot/operator/audit";
import { oneEndpoint } from "keyroot";
import { slotIDOf } from "keyroot/account";
import { rpcCaller } from "keyroot/internal/transport";
import { AccountRegistry, keyAt, textAt } from "../../support/account/accountRegistry.ts";
import { findStrayFiles } from "../../../packages/operator/src/follow/fileSource.ts";
import { temporaryFolder } from "../../support/support.ts";
import { plainAccountFile, plainSlot, plainStatement } from "../../support/account/plainAccount.ts";

const LIMITS = { maxBytes: 2 ** 24, timeoutMs: 30_000 };

describe("an audit with accounts", () => {
  let registry: AccountRegistry;

  beforeEach(async () => {
    registry = await AccountRegistry.start();
  });

  afterEach(() => registry.close());

  /** The findings about these users. The registry's other records belong to no account. */
  const findingsAbout = async (...userIDs: string[]) => {
    const { merkleUrl } = registry.optionsFor(oneEndpoint());
    const { findings, accounts } = await audit({
      call: rpcCaller(registry.chain.rpcUrl, LIMITS),
      ...{ chainId: registry.chain.chainId, contract: registry.contract, workers: 0, accounts: true },
      files: { merkleUrl, ...LIMITS },
    });
    const found = findings.list.filter(({ userID }) => userIDs.includes(userID ?? ""));
    return { codes: found.map(({ code, detail }) => detail ?? code), accounts, all: findings.count.damage };
  };

  it("passes for all keys with statements: first ones, changed ones, and a change that is being published", async () => {
    const account = registry.newAccount();
    await registry.change(account, 0);
    await registry.change(account, 1);
    const next = plainAccountFile(account, [plainStatement(account, 2, textAt(2))]);
    registry.files.set(`/accounts/${account.hex}.next.txt`, next);
    await registry.publish(plainSlot(account, 2), keyAt(2));
    const { codes, accounts, all } = await findingsAbout(account.userID);
    expect(codes).to.deep.equal([]);
    expect(accounts).to.deep.equal({ accounts: 1, changes: 2 });
    // Each of the three files also has the record of a user without an account.
    expect(all).to.equal(3);
  });

  it("reports a key in the next slot without a statement, and another key than the authorized one", async () => {
    const [filled, replaced] = [registry.newAccount(), registry.newAccount()];
    await registry.change(filled, 0);
    await registry.publish(slotIDOf(filled, 1), keyAt(3));
    registry.store(replaced, plainAccountFile(replaced, [plainStatement(replaced, 0, textAt(0))]));
    await registry.publish(replaced.userID, keyAt(3));
    const { codes } = await findingsAbout(filled.userID, replaced.userID);
    expect(codes).to.deep.equal(["SLOT_UNAUTHORIZED", "SLOT_UNAUTHORIZED"]);
  });

  it("accepts any key in a slot that the owner declared void", async () => {
    const account = registry.newAccount();
    await registry.change(account, 0);
    await registry.publish(plainSlot(account, 1), keyAt(3));
    const statements = [plainStatement(account, 0, textAt(0)), plainStatement(account, 1, undefined)];
    registry.store(account, plainAccountFile(account, statements));
    expect((await findingsAbout(account.userID)).codes).to.deep.equal([]);
  });

  it("reports an invalid account file", async () => {
    const account = registry.newAccount();
    const file = await registry.change(account, 0);
    registry.store(account, file.replace("number 0", "number 1"));
    const { codes } = await findingsAbout(account.userID);
    expect(codes.sort()).to.deep.equal(["KEY_STATEMENT_INVALID", "SLOT_UNAUTHORIZED"]);
  });

  const folder = temporaryFolder();

  it("does not count account files in a folder as stray files", async () => {
    for (const region of [".", "eu-west-1"]) {
      await mkdir(join(folder.path, region, "accounts"), { recursive: true });
      await writeFile(join(folder.path, region, "accounts", `${"0".repeat(40)}.txt`), "");
    }
    expect(await findStrayFiles(folder.path, new Set())).to.deep.equal([]);
  });
});
