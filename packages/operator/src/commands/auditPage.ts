import { type AuditReport, verdictOf } from "../audit/audit.ts";
import type { Finding } from "../audit/finding.ts";
import { printable } from "keyroot/input";
import type { DatedRootLog } from "../audit/history.ts";

interface Place {
  contract: string;
  chainId: number;
}

/** How many findings the page shows; `--json` has more. */
const SHOWN = 20;
const CHART_ROWS = 12;
const CHART_COLUMNS = 40;
const BLOCK = "█";

/** What an audit says, as one object. */
export function auditJson(report: AuditReport, place: Place): object {
  const { findings, events, unavailableFiles, evidence, userCount, rootCount, usersInFiles, straysSearched } = report;
  return {
    passed: verdictOf(report) === "passed",
    ...place,
    evidence,
    userCount,
    usersInFiles,
    roots: rootCount,
    straysSearched,
    damage: findings.count.damage,
    notices: findings.count.notice,
    findings: findings.list,
    findingsOmitted: findings.omitted,
    unavailableFiles,
    batches: events.map(({ root, addedCount, blockNumber, timestamp }) => ({
      root,
      addedCount,
      blockNumber,
      timestamp,
    })),
  };
}

/** What an audit says, for people. */
export function auditPage(report: AuditReport, { contract, chainId }: Place): string {
  const { findings, events, unavailableFiles, evidence, userCount, rootCount, straysSearched } = report;
  const { number, hash, timestamp } = evidence.block;
  return [
    `Audit of ${contract} on chain ${chainId}`,
    `  as of block  ${number}, ${hash}, ${dateOf(timestamp)}`,
    `  rests on     ${evidence.anchor === "pinned" ? "the hash that you named" : "the word of one endpoint"}${evidence.storageProof ? ", and a storage proof of the number of users under it" : ""}`,
    `  users        ${userCount} in ${rootCount} ${rootCount === 1 ? "file" : "files"}`,
    ...chart(events),
    "",
    ...listOf("Damage", findings.list.filter(isDamage), findings.count.damage),
    ...listOf(
      "Notice",
      findings.list.filter((one) => !isDamage(one)),
      findings.count.notice,
    ),
    ...unavailableFiles.map(({ root, code, message }) => `Unavailable  ${root}: ${code}: ${printable(message)}`),
    ...(straysSearched
      ? []
      : ["Files that belong to no root were not looked for: that takes the folder, --files DIR."]),
    sentenceOf(report),
  ].join("\n");
}

function sentenceOf(report: AuditReport): string {
  switch (verdictOf(report)) {
    case "passed":
      return "All is as it should be: every event, every file, every user.";
    case "incomplete":
      return "NO VERDICT: not all files could be had. Run it again: it goes on from here.";
    case "damage":
      return `NOT AS IT SHOULD BE: ${report.findings.count.damage} findings. docs/auditing.md says what each means.`;
  }
}

function isDamage({ severity }: Finding): boolean {
  return severity === "damage";
}

function listOf(kind: string, findings: readonly Finding[], count: number): string[] {
  const lines = findings.slice(0, SHOWN).map(({ code, detail, message }) => {
    return `${kind}  ${code}${detail === undefined ? "" : ` (${detail})`}: ${printable(message)}`;
  });
  return count > lines.length ? [...lines, `${kind}  and ${count - lines.length} more; --json shows more`] : lines;
}

/** Batches over time: the time from the first to the last one in equal parts, and how many users came in each. */
function chart(events: readonly DatedRootLog[]): string[] {
  const [first, last] = [events[0], events.at(-1)];
  if (first === undefined || last === undefined) return [];
  const rows = Math.min(CHART_ROWS, events.length);
  const step = Math.max(1, Math.ceil((last.timestamp - first.timestamp + 1) / rows));
  const parts = Array.from({ length: rows }, (_, i) => ({ from: first.timestamp + i * step, users: 0, batches: 0 }));
  for (const { timestamp, addedCount } of events) {
    const part = parts[Math.max(0, Math.floor((timestamp - first.timestamp) / step))];
    if (part === undefined) continue;
    part.users += addedCount;
    part.batches++;
  }
  const most = Math.max(...parts.map(({ users }) => users));
  const used = parts.filter(({ from }) => from <= last.timestamp);
  return [
    "",
    ...used.map(({ from, users, batches }) => {
      const bar = BLOCK.repeat(Math.ceil((users / most) * CHART_COLUMNS)).padEnd(CHART_COLUMNS);
      return `  from ${dateOf(from)}  ${bar}  ${users} users in ${batches} ${batches === 1 ? "batch" : "batches"}`;
    }),
  ];
}

function dateOf(timestamp: number): string {
  // Later than any date that can be written: an endpoint may say so.
  const date = new Date(timestamp * 1000);
  return Number.isNaN(date.getTime()) ? `second ${timestamp}` : date.toISOString().replace(".000Z", "Z");
}
