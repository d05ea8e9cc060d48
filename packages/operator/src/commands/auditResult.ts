import { type AuditReport, verdictOf } from "../audit/audit.ts";
import type { Finding, Severity } from "../audit/finding.ts";
import { printable } from "keyroot/internal/input";
import type { DatedRootLog } from "../follow/index.ts";
import { formatCount, plural } from "../plural.ts";
import { describeSource } from "./describeSource.ts";
import { style } from "./output.ts";

interface Place {
  contract: string;
  chainId: number;
}

/** The maximum number of findings per severity in the text. `--json` prints more. */
const SHOWN = 20;
const CHART_ROWS = 12;
const CHART_COLUMNS = 24;
const BLOCK = "█";

/** Formats an audit report as an object. */
export function auditJson(report: AuditReport, place: Place): object {
  const { findings, events, unavailableFiles, evidence, userCount, rootCount, filesRead, usersInFiles } = report;
  return {
    passed: verdictOf(report) === "passed",
    ...place,
    evidence,
    userCount,
    usersInFiles,
    roots: rootCount,
    filesRead,
    filesKnown: report.filesKnown,
    ...report.accounts,
    straysSearched: report.straysSearched,
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

/** Formats an audit report as text, with the verdict, the findings by severity, and the figures. */
export function describeAudit(report: AuditReport, { contract, chainId }: Place): string {
  const { events, unavailableFiles, evidence, userCount, rootCount, straysSearched } = report;
  const { number, hash, timestamp } = evidence.block;
  return [
    sentenceOf(report),
    ...listOf(report, "damage", style("failure", "Damage")),
    ...listOf(report, "notice", style("notice", "Notices")),
    ...unavailableFiles.map(
      ({ root, code, message }) => `${style("notice", "Unavailable")}  ${root}: ${code}: ${printable(message)}`,
    ),
    ...(straysSearched
      ? []
      : ["Stray files were not searched for. To search for them, set the folder with --files DIR."]),
    "",
    style("heading", `Audit of ${contract} on chain ${chainId}`),
    `  block      ${formatCount(number)}, ${dateOf(timestamp)}`,
    `  hash       ${hash}`,
    `  evidence   ${describeSource(evidence)}${evidence.storageProof ? ", and a storage proof of the number of users under it" : ""}`,
    `  users      ${formatCount(userCount)} in ${plural(rootCount, "file")}`,
    ...(report.accounts
      ? [
          `  accounts   ${report.accounts.accounts}, with ${plural(report.accounts.changes, "key")} after their first ones`,
        ]
      : []),
    ...chart(events),
  ].join("\n");
}

function sentenceOf(report: AuditReport): string {
  switch (verdictOf(report)) {
    case "passed": {
      const passed = style("success", "Audit passed");
      return report.filesKnown === 0
        ? `${passed}: every event, every file and every user is correct.`
        : `${passed}: every event and every user is correct. It did not read ${formatCount(report.filesKnown)} of ${plural(report.rootCount, "file")}, which an earlier audit found valid.`;
    }
    case "incomplete":
      return `${style("notice", "No verdict")}: this run could read ${formatCount(report.filesRead)} of ${plural(report.rootCount, "file")}. Run the audit again.`;
    case "damage":
      return `${style("failure", "Audit failed")}: ${plural(report.findings.count.damage, "finding")}. docs/auditing.md explains each code.`;
  }
}

/** Lists the findings of one severity. The first line contains the numbers of findings and affected users. */
function listOf({ findings, events }: AuditReport, severity: Severity, title: string): string[] {
  const count = findings.count[severity];
  if (count === 0) return [];
  const found = findings.list.filter((one) => one.severity === severity);
  const users = usersOf(found, events);
  const atLeast = count > found.length ? "at least " : "";
  const lines = found.slice(0, SHOWN).map(({ code, detail, message }) => {
    return `  ${code}${detail === undefined ? "" : ` (${detail})`}: ${printable(message)}`;
  });
  const more = count > lines.length ? [`  and ${count - lines.length} more. Use --json to list more.`] : [];
  return ["", `${title}: ${plural(count, "finding")} about ${atLeast}${plural(users, "user")}`, ...lines, ...more];
}

/** Counts the users in the findings, and the users of the roots in the findings. */
function usersOf(findings: readonly Finding[], events: readonly DatedRootLog[]): number {
  const roots = new Set(findings.flatMap(({ root, userID }) => (userID === undefined ? [root] : [])));
  const users = new Set(findings.flatMap(({ root, userID }) => (roots.has(root) ? [] : [userID])));
  const ofRoots = events.reduce((sum, { root, addedCount }) => sum + (roots.has(root) ? addedCount : 0), 0);
  return users.size + ofRoots;
}

/** Draws a chart of the users added over time, in equal periods from the first batch to the last. */
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
      return `  from ${dateOf(from)}  ${bar}  ${plural(users, "user")} in ${plural(batches, "batch", "batches")}`;
    }),
  ];
}

function dateOf(timestamp: number): string {
  // The endpoint may return a timestamp that is too large for JavaScript's `Date`.
  const date = new Date(timestamp * 1000);
  return Number.isNaN(date.getTime()) ? `second ${timestamp}` : date.toISOString().replace(".000Z", "Z");
}
