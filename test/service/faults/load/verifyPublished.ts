import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { KeyRecord } from "keyroot/internal/identity";
import { fetchRootAddedLogs } from "keyroot/internal/registry";
import type { PlainFile } from "../../../support/data/plainFile.ts";
import { type Deployment, type VerifiedDeployment, verifyDeployment } from "../../../support/publisher/deployment.ts";

/** The state of the chain and the files. */
export interface PublishedState {
  /** The root of each user. Empty if a finding gives the reason. */
  rootOf: VerifiedDeployment["rootOf"];
  roots: number;
  filesWithoutRoot: number;
  /** Everything that is missing, duplicated or wrong. */
  findings: string[];
}

/**
 * Verifies that every key has exactly one root, and every root has its file. It shares no code with the publisher.
 * @param records exactly the keys that should be published
 */
export async function verifyPublished(deployment: Deployment, records: readonly KeyRecord[]): Promise<PublishedState> {
  const { call, contract, filesDir } = deployment;
  const findings: string[] = [];
  const toBlock = Number(await call("eth_blockNumber", []));
  const added = await fetchRootAddedLogs(call, contract, { fromBlock: 0, toBlock });
  // If every root was added once for all users of its file, no user is in two roots' files.
  for (const [root, events] of Map.groupBy(added, ({ root }) => root)) {
    const users = await countUsers(join(filesDir, `${root}.json`));
    const counts = events.map(({ addedCount }) => addedCount);
    if (counts.length !== 1 || counts[0] !== users)
      findings.push(`root ${root}: ${users ?? "no"} users in its file, added for ${counts.join(" and ")}`);
  }
  const count = added.reduce((sum, { addedCount }) => sum + addedCount, 0);
  if (count !== records.length)
    findings.push(`${count} users have a root, ${records.length} keys were to be published`);
  let verified: VerifiedDeployment = { rootOf: new Map(), unusedRoots: [] };
  try {
    verified = await verifyDeployment(deployment, records);
  } catch (error) {
    findings.push((error as Error).message);
  }
  return { rootOf: verified.rootOf, roots: added.length, filesWithoutRoot: verified.unusedRoots.length, findings };
}

async function countUsers(path: string): Promise<number | undefined> {
  try {
    return (JSON.parse(await readFile(path, "utf8")) as PlainFile).values.length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
