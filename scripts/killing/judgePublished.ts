import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { KeyRecord } from "keyroot/identity";
import { fetchRootAddedLogs } from "keyroot/registry";
import { type Deployment, type VerifiedDeployment, verifyDeployment } from "../../fixtures/publisher/deployment.ts";
import type { PlainFile } from "../../fixtures/plainFile.ts";

/** What became of keys that were to be published, each once. */
export interface Judged {
  /** The root that each user has; nobody's where a finding says what is wrong. */
  rootOf: VerifiedDeployment["rootOf"];
  /** How many roots were added. */
  roots: number;
  /** How many files no root was added for. */
  filesWithoutRoot: number;
  /** What is lost, there twice, or otherwise wrong. There must be nothing. */
  findings: string[];
}

/** Holds the chain and the files against the keys that were to be published, and by nobody but those who are judged. */
export async function judgePublished(field: Deployment, records: readonly KeyRecord[]): Promise<Judged> {
  const { call, contract, merkleDir } = field;
  const findings: string[] = [];
  const toBlock = Number(await call("eth_blockNumber", []));
  const added = await fetchRootAddedLogs(call, contract, { fromBlock: 0, toBlock });
  // Each root once, for every user of its file: so nobody is in the files of two roots.
  for (const [root, events] of Map.groupBy(added, ({ root }) => root)) {
    const users = await countUsers(join(merkleDir, `${root}.json`));
    const counts = events.map(({ addedCount }) => addedCount);
    if (counts.length !== 1 || counts[0] !== users)
      findings.push(`root ${root}: ${users ?? "no"} users in its file, added for ${counts.join(" and ")}`);
  }
  const count = added.reduce((sum, { addedCount }) => sum + addedCount, 0);
  if (count !== records.length)
    findings.push(`${count} users have a root, ${records.length} keys were to be published`);
  let judged: VerifiedDeployment = { rootOf: new Map(), unusedRoots: [] };
  try {
    judged = await verifyDeployment(field, records);
  } catch (error) {
    findings.push((error as Error).message);
  }
  return { rootOf: judged.rootOf, roots: added.length, filesWithoutRoot: judged.unusedRoots.length, findings };
}

async function countUsers(path: string): Promise<number | undefined> {
  try {
    return (JSON.parse(await readFile(path, "utf8")) as PlainFile).values.length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
