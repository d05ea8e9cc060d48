import { randomBytes } from "node:crypto";
import { AuditState } from "@keyroot/operator/audit";

const USERS_PER_FILE = 700;
/** The number of bytes of a user in a state: the user id and a part of the key's hash. */
const USER_BYTES = 36;
const FILES_PER_TRANSACTION = 1_000;
const HASH = `0x${"5c".repeat(32)}`;
const TARGET = { chainId: 31_337, genesisHash: HASH, contract: `0x${"5c".repeat(20)}` };

/**
 * Writes the state of an audited part that covers all files. The state has random users, and needs no files and no
 * chain.
 */
export async function writePartState(path: string, users: number): Promise<void> {
  using state = await AuditState.open(path, TARGET);
  const events: Parameters<AuditState["recordHistory"]>[1][number][] = [];
  for (let left = users; left > 0; left -= USERS_PER_FILE) {
    const [root, addedCount] = [randomBytes(32).toString("hex"), Math.min(left, USERS_PER_FILE)];
    const blockNumber = events.length + 1;
    events.push({ root, addedCount, blockNumber, blockHash: HASH, logIndex: 0, timestamp: blockNumber });
    state.recordFile(root, root, randomBytes(addedCount * USER_BYTES));
    if (events.length % FILES_PER_TRANSACTION === 0) state.save();
  }
  const block = { number: events.length, hash: HASH, timestamp: events.length };
  state.recordHistory(block, events);
  state.save();
  state.savePartResult({
    ...{ part: { number: 1, count: 1 }, filesFrom: "none", endedAt: 0, rootCount: events.length, filesKnown: 0 },
    ...{ evidence: { source: "pinned-block", storageProof: false, block }, userCount: users, usersInFiles: users },
    ...{
      deploymentBlock: 1,
      codeHash: undefined,
      straysSearched: false,
      findings: [],
      count: { damage: 0, notice: 0 },
    },
  });
}
