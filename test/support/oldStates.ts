/** Writes states as version 0.1.0 did: JSON with the SHA-256 of its content, and the users of an audit in a second file. */
import { hash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { USER_BYTES } from "../../packages/operator/src/audit/auditFile.ts";
import type { AuditStateContent } from "../../packages/operator/src/audit/auditState.ts";
import type { AuditTarget } from "../../packages/operator/src/audit/stateFile.ts";
import type { WatchStateContent } from "../../packages/operator/src/audit/watchState.ts";

/** @param finishedRun 0 for an interrupted run, 1 for one that read every file */
export async function writeOldAuditState(
  path: string,
  target: AuditTarget,
  state: AuditStateContent,
  finishedRun: 0 | 1,
): Promise<void> {
  const users = Buffer.concat(state.files.map(({ users }) => users));
  await writeFile(`${path}.users`, users);
  await writeSealed(path, {
    ...headOf("keyroot-audit-v1", target),
    run: 1,
    finishedRun,
    cursor: state.cursor === undefined ? [] : [state.cursor],
    events: state.events,
    files: state.files.map((file) => ({ ...file, users: file.users.length / USER_BYTES, run: 1 })),
    users: { bytes: users.length, sha256: hash("sha256", users) },
  });
}

export async function writeOldWatchState(
  path: string,
  target: AuditTarget,
  { cursors, roots, suspects }: Omit<WatchStateContent, "unavailable">,
): Promise<void> {
  const listed = Array.from(roots, ([userID, root]) => ({ userID, root }));
  await writeSealed(path, { ...headOf("keyroot-watch-v1", target), cursors, roots: listed, suspects });
}

function headOf(format: string, { chainId, genesisHash, contract }: AuditTarget) {
  return { format, chainId, genesis: genesisHash, contract };
}

async function writeSealed(path: string, content: object): Promise<void> {
  await writeFile(path, JSON.stringify({ content, seal: hash("sha256", JSON.stringify(content)) }));
}
